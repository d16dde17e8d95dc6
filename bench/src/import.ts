import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defaultLadder } from '@vitrine/server/ladder';
import { webp } from '@vitrine/server/tuned-sharp';
import sharp from 'sharp';
import { cacheDir, serverBin, spawnServer } from './library.ts';

const PICTURES = 24;

/** Creates distinct 24-megapixel JPEGs with the grain and size of camera pictures. */
async function pictures(): Promise<string> {
  const directory = join(cacheDir, 'pictures');
  await mkdir(directory, { recursive: true });
  for (let i = (await readdir(directory)).length; i < PICTURES; i += 1) {
    const sky = `<svg xmlns="http://www.w3.org/2000/svg" width="6000" height="4000"><defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="hsl(${i * 15},60%,70%)"/><stop offset="1" stop-color="hsl(${i * 31},70%,25%)"/></linearGradient></defs><rect width="6000" height="4000" fill="url(#g)"/><circle cx="${500 + i * 200}" cy="1500" r="700" fill="hsl(${i * 47},80%,60%)"/></svg>`;
    const noise = { type: 'gaussian', mean: 128, sigma: 14 } as const;
    const grain = sharp({ create: { width: 6000, height: 4000, channels: 3, background: '#808080', noise } });
    const input = await grain.png({ compressionLevel: 0 }).toBuffer();
    const picture = sharp(Buffer.from(sky))
      .composite([{ input, blend: 'soft-light' }])
      .jpeg({ quality: 90 });
    await writeFile(join(directory, `picture-${String(i).padStart(2, '0')}.jpg`), await picture.toBuffer());
  }
  return directory;
}

/** The reference: renders each picture into each size of the ladder, as many pictures at once as there are cores. */
async function bareLoop(directory: string): Promise<number> {
  const out = await mkdtemp(join(cacheDir, 'bare-'));
  sharp.cache(false);
  const queue = (await readdir(directory)).values();
  const began = performance.now();
  const lane = async () => {
    for (const name of queue) {
      const rungs = defaultLadder.map(({ key, fit, maxDim }) =>
        sharp(join(directory, name))
          .rotate()
          .resize(maxDim, maxDim, { fit: fit === 'cover' ? 'cover' : 'inside', withoutEnlargement: true })
          .webp(webp)
          .toFile(join(out, `${name}-${key}.webp`)),
      );
      await Promise.all(rungs);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  const seconds = (performance.now() - began) / 1000;
  await rm(out, { recursive: true });
  return PICTURES / seconds;
}

/** Runs `vitrine import` into an empty library that is already set up. Measures from start to end of the command. */
async function importCommand(directory: string): Promise<number> {
  const dataDir = join(cacheDir, 'import');
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true });
  const env = { VITRINE_DATA: dataDir, VITRINE_PORT: '0', VITRINE_LOG_LEVEL: 'warn' };
  const admin = { VITRINE_ADMIN_USERNAME: 'admin', VITRINE_ADMIN_PASSWORD: 'bench library' };
  const first = await spawnServer([serverBin, 'start'], { ...env, ...admin });
  await first.stop();
  const began = performance.now();
  const child = spawn(process.execPath, [serverBin, 'import', directory], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'inherit', 'ignore'],
    cwd: cacheDir,
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`the import ended with ${code}`);
  return PICTURES / ((performance.now() - began) / 1000);
}

/**
 * `bench import`: compares the pictures per second of the whole import with a bare sharp loop that makes the same
 * ladder.
 */
export async function benchImport(): Promise<void> {
  const directory = await pictures();
  const { size } = await stat(join(directory, 'picture-00.jpg'));
  console.log(`${PICTURES} pictures of 6000 x 4000 pixels, ${(size / 1e6).toFixed(1)} MB each`);
  const ratios: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const bare = await bareLoop(directory);
    const ours = await importCommand(directory);
    ratios.push(ours / bare);
    console.log(
      `import ${ours.toFixed(2)} a second, bare loop ${bare.toFixed(2)} a second, ratio ${(ours / bare).toFixed(2)}`,
    );
  }
}
