import { sharp } from '../tuned-sharp.ts';
import { type Drawn, overlay } from './overlay.ts';

/** What is drawn on where there is no picture. */
const blank = { width: 1280, height: 720, channels: 3, background: '#26262b' } as const;

/** A picture with what was drawn on it, as JPEG. */
export interface DrawnPicture {
  bytes: Buffer;
  width: number;
  height: number;
}

/** Draws over a picture of at most `edge` pixels, or over a dark surface where there is none. */
export async function drawOver(
  rendition: Buffer | null,
  drawn: readonly Drawn[],
  edge: number,
): Promise<DrawnPicture> {
  const picture =
    rendition === null
      ? sharp({ create: blank })
      : sharp(rendition).resize(edge, edge, { fit: 'inside', withoutEnlargement: true });
  const { data, info } = await picture
    .flatten({ background: '#fff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const composed = sharp(data, { raw: { width, height, channels } }).composite([
    { input: overlay(drawn, { width, height }) },
  ]);
  const bytes = await composed.jpeg({ quality: 85 }).toBuffer();
  return { bytes, width, height };
}
