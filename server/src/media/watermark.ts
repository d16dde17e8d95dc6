import { readFile, writeFile } from 'node:fs/promises';
import { escapeHtml } from '../platform/escape-html.ts';
import { sharp, webp } from './tuned-sharp.ts';
import { canDraw } from './typesetting/faces.ts';
import { measure, pathOf } from './typesetting/set-text.ts';

/** Letter size as a fraction of the picture's shorter edge, with a legible minimum. */
const LETTER_PART = 1 / 18;
const SMALLEST_LETTER = 11;

/**
 * Draws one line of text in one colour on a transparent background, with the bundled fonts, which have Arabic, Hebrew and
 * East Asian characters. Texts in other scripts are drawn with the fonts of the machine.
 */
async function line(text: string, size: number, colour: string): Promise<Buffer> {
  if (canDraw('bold', text)) {
    const width = Math.max(1, Math.ceil(measure('bold', text, size)));
    const height = Math.ceil(size * 1.4);
    const path = pathOf('bold', text, size, 0, Math.round(size * 1.1));
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><path fill="${colour}" d="${path}"/></svg>`;
    return sharp(Buffer.from(drawing)).png().toBuffer();
  }
  // Pango's markup. At 72 dpi a point is a pixel.
  const markup = `<span foreground="${colour}">${escapeHtml(text)}</span>`;
  return sharp({ text: { text: markup, font: `sans bold ${size}`, rgba: true, dpi: 72, wrap: 'none' } })
    .png()
    .toBuffer();
}

/** Draws the slanted text with a dark edge, so that it is visible on light and dark, with space around it. */
async function tileOf(text: string, shorterEdge: number): Promise<Buffer> {
  const size = Math.max(SMALLEST_LETTER, Math.round(shorterEdge * LETTER_PART));
  const [light, dark] = await Promise.all([line(text, size, 'white'), line(text, size, 'black')]);
  const { width, height } = await sharp(light).metadata();
  // A picture must never be sent without its watermark.
  const { channels } = await sharp(light).stats();
  if ((channels[3]?.max ?? 0) === 0) throw new Error('this machine has no font to draw a watermark with');
  const edge = Math.max(1, Math.round(size / 18));
  const canvas = { width: width + size * 2, height: height + size * 2, channels: 4 } as const;
  const words = await sharp({ create: { ...canvas, background: '#0000' } })
    .composite([
      { input: dark, left: size + edge, top: size + edge },
      { input: light, left: size, top: size },
    ])
    .png()
    .toBuffer();
  const faint = await sharp(words).linear([1, 1, 1, OPACITY], [0, 0, 0, 0]).png().toBuffer();
  return sharp(faint).rotate(-30, { background: '#0000' }).png().toBuffer();
}

/** Clearly visible, but transparent enough that the picture can be assessed. */
const OPACITY = 0.38;

/**
 * Writes a rendition to `to` with the text drawn all over it in slanted rows. The input is a picture made by this
 * service, never an upload.
 */
export async function drawWatermark(from: string, text: string, to: string): Promise<void> {
  const picture = sharp(await readFile(from));
  const { width, height } = await picture.metadata();
  const tile = await tileOf(text, Math.min(width, height));
  const { width: tileWidth, height: tileHeight } = await sharp(tile).metadata();
  // sharp refuses a tile larger than the picture, so only its centre is used.
  const cut = { width: Math.min(tileWidth, width), height: Math.min(tileHeight, height) };
  const fitting = await sharp(tile)
    .extract({
      left: Math.floor((tileWidth - cut.width) / 2),
      top: Math.floor((tileHeight - cut.height) / 2),
      ...cut,
    })
    .png()
    .toBuffer();
  await writeFile(
    to,
    await picture
      .composite([{ input: fitting, tile: true }])
      .webp(webp)
      .toBuffer(),
  );
}
