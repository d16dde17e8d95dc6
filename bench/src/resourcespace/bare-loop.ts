import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defaultLadder, stepsOf } from '@vitrine/server/ladder';
import { webp } from '@vitrine/server/tuned-sharp';
import sharp from 'sharp';
import { cacheDir } from '../library.ts';

/** Renders a picture into each distinct size of the ladder. Returns false if the bytes are no picture. */
async function render(bytes: Buffer, out: string): Promise<boolean> {
  const shape = await sharp(bytes)
    .metadata()
    .catch(() => null);
  if (shape === null) return false;
  const sizes = stepsOf(defaultLadder, shape.autoOrient).map(({ shape: { width, height }, cropped, keys }) =>
    sharp(bytes)
      .rotate()
      .resize(width, height, { fit: cropped ? 'cover' : 'fill' })
      .webp(webp)
      .toFile(`${out}-${keys[0]}.webp`),
  );
  return Promise.all(sizes).then(
    () => true,
    () => false,
  );
}

/** The text in place of the file of a resource that has none, and the shape in which the import draws it. */
const standIn = (ref: number) => `ResourceSpace resource ${ref}: it has no file\n`;
const sheet = { width: 800, height: 600 };

/** Draws a text into each distinct size of the ladder as plainly as sharp allows: as SVG, in a font of the system. */
async function renderText(text: string, out: string): Promise<void> {
  const svg =
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${sheet.width}" height="${sheet.height}">
    <rect width="100%" height="100%" fill="white"/><text x="80" y="100" font-family="monospace" font-size="21">${text}</text></svg>`);
  const sizes = stepsOf(defaultLadder, sheet).map(({ shape: { width, height }, cropped, keys }) =>
    sharp(svg)
      .resize(width, height, { fit: cropped ? 'cover' : 'fill' })
      .removeAlpha()
      .webp(webp)
      .toFile(`${out}-${keys[0]}.webp`),
  );
  await Promise.all(sizes);
}

export interface BareLoop {
  seconds: number;
  processorSeconds: number;
}

/** Does work on all items, as many at once as there are cores, with a directory for what it makes. */
async function measured<T>(
  items: Iterable<T>,
  work: (item: T, out: string) => Promise<void>,
): Promise<BareLoop> {
  const out = await mkdtemp(join(cacheDir, 'bare-'));
  const queue = items[Symbol.iterator]();
  const before = process.cpuUsage();
  const began = performance.now();
  const lane = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await work(next.value, out);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  await rm(out, { recursive: true });
  return { seconds, processorSeconds: (user + system) / 1e6 };
}

const hashOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** The reference: hashes each file and renders each distinct picture. */
export async function bareLoop(files: readonly string[]): Promise<BareLoop & { rendered: number }> {
  const known = new Set<string>();
  let rendered = 0;
  const used = await measured(files, async (path, out) => {
    const bytes = await readFile(path);
    const hash = hashOf(bytes);
    if (bytes.length === 0 || known.has(hash)) return;
    known.add(hash);
    if (await render(bytes, join(out, hash))) rendered += 1;
  });
  return { ...used, rendered };
}

/** The same for the texts in place of missing files, which the import stores, hashes and renders like files. */
export function bareLoopOfTexts(texts: number): Promise<BareLoop> {
  return measured(
    Array.from({ length: texts }, (_, at) => standIn(at)),
    async (text, out) => {
      const path = join(out, hashOf(text));
      await writeFile(path, text);
      await renderText(await readFile(path, 'utf8'), path);
    },
  );
}
