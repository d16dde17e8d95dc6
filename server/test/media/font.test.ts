import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { openStudio, pictureOf } from './still-kit.ts';
import { font as fontOfNames } from './tagged-files.ts';

const { resolve } = createRequire(import.meta.url);
const studio = openStudio();

let woff: Buffer;

beforeAll(async () => {
  woff = await readFile(resolve('@fontsource/jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff'));
});

/** Returns the fraction of pixels that are darker than paper. */
async function inkOf(path: string): Promise<number> {
  const { channels } = await sharp(path).greyscale().stats();
  return 1 - (channels[0]?.mean ?? 255) / 255;
}

describe('a font', () => {
  test.each([
    ['WOFF', 'font/woff', 'jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff'],
    ['WOFF2', 'font/woff2', 'inter/files/inter-latin-600-normal.woff2'],
    ['WOFF2 without Latin letters', 'font/woff2', 'inter/files/inter-greek-400-normal.woff2'],
  ])('is shown by a specimen: %s', async (_, mime, name) => {
    const { path, width, height } = pictureOf(
      await studio.render(await readFile(resolve(`@fontsource/${name}`)), mime),
    );
    expect([width, height > 1000]).toEqual([1600, true]);
    expect(await inkOf(path)).toBeGreaterThan(0.03);
  });

  test.each([
    ['it has no glyphs', () => fontOfNames('ttf', { 1: 'Hollow' }), 'font/ttf'],
    ['only its beginning is left', () => woff.subarray(0, 2000), 'font/woff'],
  ])('is a damaged file when %s', async (_, bytes, mime) => {
    const { ladder } = await studio.render(bytes(), mime);
    expect(ladder).toMatchObject({ outcome: 'broken', reason: expect.stringContaining('the font') });
  });
});
