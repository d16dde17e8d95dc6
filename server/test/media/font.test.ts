import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { openStudio, pictureOf } from './still-kit.ts';
import { font as fontOfNames } from './tagged-files.ts';

const { resolve } = createRequire(import.meta.url);
const fontAt = (name: string) => readFile(resolve(`@fontsource/${name}`));
const woff = 'jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff';
const studio = openStudio();

// MEDIA-19
describe('a font', () => {
  test.each([
    ['WOFF', 'font/woff', woff],
    ['WOFF2', 'font/woff2', 'inter/files/inter-latin-600-normal.woff2'],
    ['WOFF2 without Latin letters', 'font/woff2', 'inter/files/inter-greek-400-normal.woff2'],
  ])('is shown by a specimen: %s', async (_, mime, name) => {
    const { path, width, height } = pictureOf(await studio.render(await fontAt(name), mime));
    expect([width, height > 1000]).toEqual([1600, true]);
    const { channels } = await sharp(path).greyscale().stats();
    // The fraction of pixels that are darker than paper.
    expect(1 - (channels[0]?.mean ?? 255) / 255).toBeGreaterThan(0.03);
  });

  test.each([
    ['it has no glyphs', 'font/ttf', async () => fontOfNames('ttf', { 1: 'Hollow' })],
    ['only its beginning is left', 'font/woff', async () => (await fontAt(woff)).subarray(0, 2000)],
  ])('is a damaged file when %s', async (_, mime, make) => {
    const { ladder } = await studio.render(await make(), mime);
    expect(ladder).toMatchObject({
      outcome: 'broken',
      reason: { text: expect.stringContaining('the font') },
    });
  });
});
