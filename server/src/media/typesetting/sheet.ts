import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shape } from '../ladder.ts';
import { sharp } from '../tuned-sharp.ts';

/** A sheet of this colour with paths on it. */
export interface Sheet extends Shape {
  background: string;
  paths: readonly { data: string; fill: string }[];
}

/**
 * Draws a sheet to a PNG in `outDir` as the picture of a still. Colours come from our code, so nothing needs
 * escaping.
 */
export async function drawSheet({ width, height, background, paths }: Sheet, outDir: string) {
  const shapes = paths
    .filter(({ data }) => data !== '')
    .map(({ data, fill }) => `<path fill="${fill}" d="${data}"/>`);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${background}"/>${shapes.join('')}</svg>`;
  const path = join(outDir, 'sheet.png');
  await writeFile(
    path,
    // The sheet is opaque. With an alpha channel, each size would take half as long again.
    await sharp(Buffer.from(svg), { unlimited: true }).removeAlpha().png({ compressionLevel: 1 }).toBuffer(),
  );
  return { path, mime: 'image/png' };
}
