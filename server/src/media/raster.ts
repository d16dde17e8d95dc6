import { access, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp, WebpOptions } from 'sharp';
import { isFaultOfTheMachine } from './faults.ts';
import { contain, type Rung, type Shape, type Step, stepsOf } from './ladder.ts';
import { isPicture } from './renderable.ts';
import type { MadeFile } from './stills/still.ts';
import { thumbhashOf } from './thumbhash.ts';
import { sharp } from './tuned-sharp.ts';

/** More pixels than this are a bomb, not a picture; libvips' own limit (16,383 squared). */
const MAX_PIXELS = 268_402_689;

/** The limit of formats that libvips reads from top to bottom, holding a few rows in memory at a time. */
const MAX_STREAMED_PIXELS = 1_500_000_000;

const streamed = new Set(['image/jpeg', 'image/png', 'image/tiff']);

/** The most pixels of a picture of this type that are rendered. */
export function mostPixels(mime: string): number {
  return streamed.has(mime) ? MAX_STREAMED_PIXELS : MAX_PIXELS;
}

/** A drawing with more text than this is not drawn: all of it is held in memory. */
const MAX_SVG_BYTES = 32 * 1024 * 1024;

/** Effort 2 takes half the time of the default 4 for files as small (within 3 %) that look as good (within 0.1 dB). */
export const webp: WebpOptions = { quality: 80, effort: 2 };

/** One size of the ladder. Rungs that come out at the very same pixels share one file. */
export interface RenderedFile extends MadeFile {
  width: number;
  height: number;
}

/**
 * `rendered`: the ladder, with the picture's shape (upright, before any shrinking).
 * `unsupported`: nothing can be drawn of it, and that is no fault. `broken`: it should have been possible; `detail` is for the log,
 * where a mistake in a parser must not pass for a damaged file.
 */
export type RenderOutcome =
  | { outcome: 'rendered'; width: number; height: number; thumbhash: string; renditions: RenderedFile[] }
  | { outcome: 'unsupported'; reason: string }
  | { outcome: 'broken'; reason: string; detail?: string };

/** A picture that can be decoded any number of times. */
interface Source {
  bytes: string | Buffer;
  maxPixels: number;
}

/** SVG is given as bytes without a place: told its path, librsvg would draw the files beside it into the picture. */
async function sourceOf(path: string, mime: string, maxPixels: number): Promise<Source> {
  if (mime !== 'image/svg+xml') return { bytes: path, maxPixels };
  return { bytes: await readFile(path), maxPixels };
}

/** One decode: the first frame, upright, in sRGB, without metadata, shrunk while loading. */
function decodeTo({ bytes, maxPixels }: Source, { width, height }: Shape, fit: 'fill' | 'cover'): Sharp {
  return sharp(bytes, { failOn: 'warning', limitInputPixels: maxPixels, sequentialRead: true })
    .autoOrient()
    .resize(width, height, { fit })
    .toColourspace('srgb');
}

/** AVIF at effort 2 takes twice the time of WebP; the default of 4 takes twenty times as long for 5 % fewer bytes. */
function encode(picture: Sharp, { format, quality }: Pick<Step, 'format' | 'quality'>): Sharp {
  if (format === 'avif') return picture.avif({ quality, effort: 2 });
  // JPEG has no transparency; what shines through is white, as on paper.
  if (format === 'jpeg') return picture.flatten({ background: 'white' }).jpeg({ quality, progressive: true });
  return picture.webp({ ...webp, quality });
}

/** Writes are ours and not libvips', so that a full disk is told by its code. */
async function writeStep(picture: Sharp, step: Step, outDir: string): Promise<RenderedFile[]> {
  const { keys, format } = step;
  const path = join(outDir, `${keys[0]}.${format}`);
  const { data, info } = await encode(picture, step).toBuffer({ resolveWithObject: true });
  await writeFile(path, data);
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
  const thumbhash = thumbhashOf(open());
  const files = stepsOf(rungs, original).map((step) => {
    const { shape, cropped } = step;
    // The square of a long strip has more pixels than the strip shrunk to the ladder: it is cut from the original.
    const picture =
      cropped && shape.width > Math.min(width, height)
        ? decodeTo(source, shape, 'cover')
        : open().resize(shape.width, shape.height, { fit: cropped ? 'cover' : 'fill' });
    return writeStep(picture, step, outDir);
  });
  // Nothing may be left at work when this rejects: the caller then removes the directory.
  await Promise.allSettled([thumbhash, ...files]);
  return { thumbhash: await thumbhash, renditions: (await Promise.all(files)).flat() };
}

/** Where a decoder looked for its place in vain. It names the file, and our directories are nobody's business. */
const badSeek = /(?:source|\/\S.*): bad seek to \d+$/;

/** What libvips says, in one line, without the noise of a decoder that looks for its place. */
function messageOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error))
    .split('\n')
    .map((line) => line.replace(badSeek, '').trim());
  return lines.find((line) => line !== '' && !line.endsWith(':')) ?? 'cannot be decoded';
}

/** What our decoders were never built for, as libvips and its loaders say it; a broken header is not that. */
const undecodableKind =
  /not configured|not implemented|not supported|unsupported (?!image format)|omitted at compile time|no known route|exceeds pixel limit/i;

function refused(error: unknown): RenderOutcome {
  const reason = messageOf(error);
  return { outcome: undecodableKind.test(reason) ? 'unsupported' : 'broken', reason };
}

/** Why a picture cannot be drawn, by the error of libvips. Throws the error when the machine is at fault. */
export function refusalOf(error: unknown): string {
  if (isFaultOfTheMachine(error)) throw error;
  return messageOf(error);
}

/**
 * Writes a picture to `to` as one WebP whose longer edge has at most `edge` pixels, under the limits of the ladder. Returns
 * false for what cannot be drawn. Rejects only for faults of the machine.
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
 * Makes the ladder of a picture in `outDir`, decoding it once. Rejects only for faults of the machine, which may pass.
 */
export async function renderLadder(
  { path, mime }: { path: string; mime: string },
  rungs: readonly Rung[],
  { outDir, maxPixels = mostPixels(mime) }: { outDir: string; maxPixels?: number },
): Promise<RenderOutcome> {
  if (!isPicture(mime)) return { outcome: 'unsupported', reason: `${mime} is not rendered` };
  const { size } = await stat(path);
  if (mime === 'image/svg+xml' && size > MAX_SVG_BYTES) {
    return { outcome: 'unsupported', reason: `a drawing of ${size} bytes is more than is rendered` };
  }
  try {
    const source = await sourceOf(path, mime, maxPixels);
    // The header alone: a bomb is recognised before a single row is decoded.
    const header = await sharp(source.bytes, { limitInputPixels: false, failOn: 'warning' }).metadata();
    const { width, height } = header.autoOrient;
    if (width * height > maxPixels) {
      return { outcome: 'unsupported', reason: `${width} x ${height} pixels are more than are rendered` };
    }
    const made = await render(source, { width, height }, rungs, outDir);
    return { outcome: 'rendered', width, height, ...made };
  } catch (error) {
    if (isFaultOfTheMachine(error)) throw error;
    // libvips says of a file that vanished that it is no picture.
    await access(path);
    return refused(error);
  }
}
