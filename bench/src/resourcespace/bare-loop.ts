import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
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

export interface BareLoop {
  seconds: number;
  processorSeconds: number;
  rendered: number;
}

/** The reference: hashes each file and renders each distinct picture, as many files at once as there are cores. */
export async function bareLoop(files: readonly string[]): Promise<BareLoop> {
  const out = await mkdtemp(join(cacheDir, 'bare-'));
  const known = new Set<string>();
  const queue = files.values();
  let rendered = 0;
  const before = process.cpuUsage();
  const began = performance.now();
  const lane = async () => {
    for (const path of queue) {
      const bytes = await readFile(path);
      const hash = createHash('sha256').update(bytes).digest('hex');
      if (bytes.length === 0 || known.has(hash)) continue;
      known.add(hash);
      if (await render(bytes, join(out, hash))) rendered += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  await rm(out, { recursive: true });
  return { seconds, processorSeconds: (user + system) / 1e6, rendered };
}
