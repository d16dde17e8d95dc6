import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp, type WebpOptions } from 'sharp';
import type { Rung } from './ladder.ts';
import { thumbhashOf } from './thumbhash.ts';

/** Decided by what the bytes are, never by whether a decoder happens to open them. */
const renderable = new Set([
  'image/jpeg',
  'image/png',
  'image/apng',
  'image/webp',
  'image/gif',
  'image/tiff',
  'image/avif',
  'image/svg+xml',
]);

/** Whether renditions can be made of these bytes. */
export function isRenderable(mime: string): boolean {
  return renderable.has(mime);
}

/** More pixels than this are a bomb, not a picture; libvips' own limit (16,383 squared). */
const MAX_PIXELS = 268_402_689;

/** The quality that looks alike to the original at a tenth of its size, and an effort that a busy server can pay. */
const webp: WebpOptions = { quality: 80, effort: 3 };

/** Called by the process entry: no cache that grows, and a bound on threads. */
export function tuneSharp({ concurrency }: { concurrency: number }): void {
  sharp.cache(false);
  sharp.concurrency(concurrency);
}

export interface RenderedFile {
  key: string;
  /** Rungs that come out at the very same pixels share one file. */
  path: string;
  contentType: string;
  width: number;
  height: number;
  sizeBytes: number;
}

/**
 * `rendered`: the ladder, with the picture's shape (upright, before any shrinking).
 * `unsupported`: nothing can be drawn of it, and that is no fault. `broken`: it should have been possible.
 */
export type RenderOutcome =
  | { outcome: 'rendered'; width: number; height: number; thumbhash: string; renditions: RenderedFile[] }
  | { outcome: 'unsupported'; reason: string }
  | { outcome: 'broken'; reason: string };

interface Shape {
  width: number;
  height: number;
}

/** The pixels of a rung made from a picture of this shape. */
export function shapeOfRung(rung: Rung, { width, height }: Shape): Shape {
  if (rung.fit === 'cover') {
    const side = Math.min(rung.maxDim, width, height);
    return { width: side, height: side };
  }
  const scale = Math.min(1, rung.maxDim / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? error.message) : String(error);
}

/** Faults of the disk are the caller's to retry; the rest are faults of the picture. */
function isDiskFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    /ENOENT|ENOSPC|EACCES|EIO|EMFILE|unable to open for write|write error/i.test(`${error}`)
  );
}

/** The pipeline of one decode: upright, in sRGB, without metadata, shrunk while loading. */
function decodeTo(path: string, { width, height }: Shape, maxPixels: number): Sharp {
  return sharp(path, { failOn: 'warning', limitInputPixels: maxPixels, sequentialRead: true })
    .autoOrient()
    .resize(width, height, { fit: 'fill' })
    .toColourspace('srgb');
}

/** Rungs by the pixels they come out at, largest first. */
function groupByShape(rungs: readonly Rung[], original: Shape) {
  const groups = new Map<string, { shape: Shape; fit: Rung['fit']; keys: string[] }>();
  for (const rung of rungs) {
    const shape = shapeOfRung(rung, original);
    const id = `${rung.fit} ${shape.width} ${shape.height}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { shape, fit: rung.fit, keys: [rung.key] });
    else group.keys.push(rung.key);
  }
  return [...groups.values()].sort((a, b) => b.shape.width * b.shape.height - a.shape.width * a.shape.height);
}

async function render(
  path: string,
  original: Shape,
  rungs: readonly Rung[],
  outDir: string,
  maxPixels: number,
) {
  const groups = groupByShape(rungs, original);
  const scale = Math.min(
    1,
    Math.max(...rungs.map((rung) => rung.maxDim)) / Math.max(original.width, original.height),
  );
  // A crop of a long strip needs more of the picture than the largest rung shows; the decode covers both.
  const crop = Math.max(0, ...groups.filter((g) => g.fit === 'cover').map((g) => g.shape.width));
  const needed = Math.min(1, Math.max(scale, crop / Math.min(original.width, original.height)));
  const decoded = await decodeTo(
    path,
    {
      width: Math.max(1, Math.round(original.width * needed)),
      height: Math.max(1, Math.round(original.height * needed)),
    },
    maxPixels,
  )
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = decoded.info;
  const open = () => sharp(decoded.data, { raw: { width, height, channels }, limitInputPixels: false });
  const thumbhash = thumbhashOf(open());
  const files = groups.map(async ({ shape, fit, keys }): Promise<RenderedFile[]> => {
    const file = join(outDir, `${keys[0]}.webp`);
    const info = await open()
      .resize(shape.width, shape.height, { fit: fit === 'cover' ? 'cover' : 'fill' })
      .webp(webp)
      .toFile(file);
    const made = {
      path: file,
      contentType: 'image/webp',
      width: info.width,
      height: info.height,
      sizeBytes: info.size,
    };
    return keys.map((key) => ({ key, ...made }));
  });
  return { thumbhash: await thumbhash, renditions: (await Promise.all(files)).flat() };
}

/**
 * Makes the ladder of a picture in `outDir`, decoding it once. Rejects only for faults of the disk, which may pass.
 */
export async function renderLadder(
  source: { path: string; mime: string },
  rungs: readonly Rung[],
  options: { outDir: string; maxPixels?: number },
): Promise<RenderOutcome> {
  if (!isRenderable(source.mime)) return { outcome: 'unsupported', reason: `${source.mime} is not rendered` };
  await stat(source.path);
  const maxPixels = options.maxPixels ?? MAX_PIXELS;
  try {
    // The header alone: a bomb is recognised before a single row is decoded.
    const header = await sharp(source.path, { limitInputPixels: false, failOn: 'warning' }).metadata();
    const { width, height } = header.autoOrient;
    if (width * height > maxPixels) {
      return { outcome: 'unsupported', reason: `${width} x ${height} pixels are more than are rendered` };
    }
    const made = await render(source.path, { width, height }, rungs, options.outDir, maxPixels);
    return { outcome: 'rendered', width, height, ...made };
  } catch (error) {
    if (isDiskFault(error)) throw error;
    return { outcome: 'broken', reason: messageOf(error) };
  }
}
