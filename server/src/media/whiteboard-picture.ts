import { writeFile } from 'node:fs/promises';
import type { Stroke } from '@vitrine/contract/strokes';
import { drawnStrokes, svgOf } from './drawn-strokes.ts';
import { sharp } from './tuned-sharp.ts';

/** Pixels of a whiteboard, whose sides are 4 to 3. */
const board = { width: 1600, height: 1200 };

/** Writes a whiteboard on white to `to` (BOARD-11). */
export async function drawWhiteboard(
  strokes: readonly Stroke[],
  form: 'svg' | 'png',
  to: string,
): Promise<void> {
  const svg = svgOf(`<rect width="100%" height="100%" fill="#fff"/>${drawnStrokes(strokes, board)}`, board);
  await writeFile(to, form === 'svg' ? svg : await sharp(svg).png({ compressionLevel: 6 }).toBuffer());
}
