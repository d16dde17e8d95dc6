import { statSync, writeFileSync } from 'node:fs';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { type Sentence, sentence } from '../platform/language/sentence.ts';
import { isFaultOfTheMachine, withoutPaths } from './faults.ts';
import { contain, type Rung, type Shape, type Step, stepsOf } from './ladder.ts';
import { isPicture } from './renderable.ts';
import { FileFault, type MadeFile, tooLarge, tooManyPixels, undecodable } from './still.ts';
import { drawableSvg } from './svg.ts';
import { thumbhashOf } from './thumbhash.ts';
import { sharp, strictnessOf, webp } from './tuned-sharp.ts';

/** Pixel limit against decompression bombs; libvips' own limit (16,383 squared). */
const MAX_PIXELS = 268_402_689;

/** Pixel limit of formats that libvips streams from top to bottom, with only a few rows in memory. */
const MAX_STREAMED_PIXELS = 1_500_000_000;

const streamed = new Set(['image/jpeg', 'image/png', 'image/tiff']);

/** Returns the maximum number of pixels of a picture of this type that is rendered. */
export function mostPixels(mime: string): number {
  return streamed.has(mime) ? MAX_STREAMED_PIXELS : MAX_PIXELS;
}

/** Size limit of an SVG, because librsvg holds all of it in memory. */
const MAX_SVG_BYTES = 32 * 1024 * 1024;

/** One size of the ladder. Rungs with identical pixels share one file. */
interface RenderedFile extends MadeFile {
  width: number;
  height: number;
}

/**
 * `rendered`: the ladder and the picture's upright, full-size dimensions. `unsupported`: the file cannot be drawn,
 * which is not an error. `broken`: drawing failed; `detail` is for the log, so that a parser bug is not mistaken for
 * a damaged file.
 */
export type RenderOutcome =
  | { outcome: 'rendered'; width: number; height: number; thumbhash: string; renditions: RenderedFile[] }
  | { outcome: 'unsupported'; reason: Sentence }
  | { outcome: 'broken'; reason: Sentence; detail?: string };

/** A picture that can be decoded repeatedly. */
interface Source {
  bytes: string | Buffer;
  maxPixels: number;
  failOn: 'truncated' | 'error';
}

/** Passes SVG as bytes, because librsvg would draw neighbouring files into the picture if it knew the path. */
async function sourceOf(path: string, mime: string, maxPixels: number): Promise<Source> {
  const { failOn } = strictnessOf(mime);
  return { bytes: mime === 'image/svg+xml' ? drawableSvg(await readFile(path)) : path, maxPixels, failOn };
}

/** Decodes the first frame upright, in sRGB, without metadata, shrunk on load. */
function decodeTo(
  { bytes, maxPixels, failOn }: Source,
  { width, height }: Shape,
  fit: 'fill' | 'cover',
): Sharp {
  return sharp(bytes, { failOn, limitInputPixels: maxPixels, sequentialRead: true })
    .autoOrient()
    .resize(width, height, { fit })
    .toColourspace('srgb');
}

/** AVIF at effort 2 takes twice as long as WebP; the default of 4 takes twenty times as long for 5 % fewer bytes. */
function encode(picture: Sharp, { format, quality }: Pick<Step, 'format' | 'quality'>): Sharp {
  if (format === 'avif') return picture.avif({ quality, effort: 2 });
  // JPEG has no transparency; uses a white background, as on paper.
  if (format === 'jpeg') return picture.flatten({ background: 'white' }).jpeg({ quality, progressive: true });
  return picture.webp({ ...webp, quality });
}

/**
 * Writes files with Node rather than libvips, so that a full disk is reported by its error code. Synchronously, because a decoder
 * process has nothing else to do.
 */
async function writeStep(picture: Sharp, step: Step, outDir: string): Promise<RenderedFile[]> {
  const { keys, format } = step;
  const path = join(outDir, `${keys[0]}.${format}`);
  const { data, info } = await encode(picture, step).toBuffer({ resolveWithObject: true });
  writeFileSync(path, data);
  const made = {
    path,
    contentType: `image/${format}`,
    width: info.width,
    height: info.height,
    sizeBytes: data.length,
  };
  return keys.map((key) => ({ key, ...made }));
}

async function render(source: Source, original: Shape, rungs: readonly Rung[], outDir: string) {
  const largest = contain(Math.max(...rungs.map((rung) => rung.maxDim)), original);
  const { data, info } = await decodeTo(source, largest, 'fill').raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const open = () => sharp(data, { raw: { width, height, channels }, limitInputPixels: false });
  const thumbhash = thumbhashOf({ data, width, height, channels });
  const files = stepsOf(rungs, original).map((step) => {
    const { shape, cropped } = step;
    // The square of a long strip is larger than the shrunk strip, so it is cut from the original.
    const picture =
      cropped && shape.width > Math.min(width, height)
        ? decodeTo(source, shape, 'cover')
        : open().resize(shape.width, shape.height, { fit: cropped ? 'cover' : 'fill' });
    return writeStep(picture, step, outDir);
  });
  // Waits for all work to settle before rejecting, because the caller then removes the directory.
  await Promise.allSettled(files);
  return { thumbhash, renditions: (await Promise.all(files)).flat() };
}

/** Matches seek errors of decoders; they contain internal paths, which must not be disclosed. */
const badSeek = /(?:source|\/\S.*): bad seek to \d+$/;

/** Returns the message of libvips on one line, without seek errors. */
function messageOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error))
    .split('\n')
    .map((line) => line.replace(badSeek, '').trim());
  return withoutPaths(lines.find((line) => line !== '' && !line.endsWith(':')) ?? '');
}

/** Matches messages of libvips and its loaders about features that the build lacks, as opposed to broken files. */
const undecodableKind =
  /not configured|not implemented|not supported|unsupported (?!image format)|omitted at compile time|no known route|exceeds pixel limit/i;

function refused(error: unknown): RenderOutcome {
  const message = messageOf(error);
  return {
    outcome: undecodableKind.test(message) ? 'unsupported' : 'broken',
    reason: undecodable(message),
  };
}

/** Returns the reason why a picture cannot be drawn. Throws the error if the machine is at fault. */
export function refusalOf(error: unknown): Sentence {
  if (error instanceof FileFault) return error.sentence;
  if (isFaultOfTheMachine(error)) throw error;
  return undecodable(messageOf(error));
}

/**
 * Writes a picture to `to` as a WebP whose longest edge is at most `edge` pixels, within the limits of the ladder.
 * Returns false if it cannot be drawn. Rejects only on faults of the machine.
 */
export async function renderPreview(
  { path, mime }: { path: string; mime: string },
  edge: number,
  to: string,
): Promise<boolean> {
  if (!isPicture(mime)) return false;
  try {
    const source = await sourceOf(path, mime, MAX_PIXELS);
    const { autoOrient } = await sharp(source.bytes, { limitInputPixels: MAX_PIXELS }).metadata();
    await writeFile(to, await decodeTo(source, contain(edge, autoOrient), 'fill').webp(webp).toBuffer());
    return true;
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    return false;
  }
}

/**
 * Makes the ladder of a picture in `outDir`, decoding it once. Rejects only on faults of the machine, which are
 * retryable.
 */
export async function renderLadder(
  { path, mime }: { path: string; mime: string },
  rungs: readonly Rung[],
  { outDir, maxPixels = mostPixels(mime) }: { outDir: string; maxPixels?: number },
): Promise<RenderOutcome> {
  if (!isPicture(mime))
    return { outcome: 'unsupported', reason: sentence('{mime} is not rendered', { mime }) };
  const drawingBytes = mime === 'image/svg+xml' ? statSync(path).size : 0;
  if (drawingBytes > MAX_SVG_BYTES) {
    return { outcome: 'unsupported', reason: tooLarge(drawingBytes).sentence };
  }
  try {
    const source = await sourceOf(path, mime, maxPixels);
    // Reads only the header, so that a decompression bomb is refused before any row is decoded.
    const header = await sharp(source.bytes, { failOn: source.failOn, limitInputPixels: false }).metadata();
    const { width, height } = header.autoOrient;
    if (width * height > maxPixels) {
      return { outcome: 'unsupported', reason: tooManyPixels({ width, height }).sentence };
    }
    const made = await render(source, { width, height }, rungs, outDir);
    return { outcome: 'rendered', width, height, ...made };
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    // Rejects if the file has vanished, which libvips reports as an invalid picture.
    await access(path);
    return refused(error);
  }
}
