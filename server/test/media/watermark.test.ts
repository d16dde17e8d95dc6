import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { drawWatermark } from '../../src/media/watermark.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const directory = await temporaryDirectory();
const plain = join(directory, 'plain.webp');
await writeFile(
  plain,
  await sharp({ create: { width: 400, height: 300, channels: 3, background: 'grey' } })
    .webp()
    .toBuffer(),
);

/** Returns how strongly a watermark changes a plain picture. */
async function inkOf(text: string): Promise<number> {
  const marked = join(directory, `${encodeURIComponent(text)}.webp`);
  await drawWatermark(plain, text, marked);
  const { channels } = await sharp(marked).stats();
  return channels[0]?.stdev ?? 0;
}

// MEDIA-63
test('a watermark has the characters of its text, Chinese and Korean ones too', async () => {
  // Boxes in place of characters all have about the same ink.
  expect((await inkOf('龘龘龘龘')) / (await inkOf('一一一一'))).toBeGreaterThan(1.5);
  expect((await inkOf('뷁뷁뷁뷁')) / (await inkOf('ㅡㅡㅡㅡ'))).toBeGreaterThan(1.5);
  expect(await inkOf('Entwurf für ІванАгапηΩ')).toBeGreaterThan(1);
});
