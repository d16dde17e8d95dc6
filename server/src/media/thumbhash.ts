import { rgbaToThumbHash } from 'thumbhash';

/** Rows of pixels with 8 bits for each of 1 to 4 channels: grey or colour, with or without alpha. */
export interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
  channels: number;
}

/** The longest edge that thumbhashes can be made of. */
const MOST_EDGE = 50;
/** Pixels that one point consists of, in each direction. Averaging all of them takes five times as long and looks the same. */
const SAMPLES = 3;

/** Writes the mean of pixels of a cell, weighted by their opacity, as one point of RGBA. */
function writePoint(
  { data, width, height, channels }: Pixels,
  cell: { left: number; top: number; width: number; height: number },
  point: Uint8Array,
): void {
  const hasAlpha = channels % 2 === 0;
  const [green, blue] = channels > 2 ? [1, 2] : [0, 0];
  const step = { x: cell.width / SAMPLES, y: cell.height / SAMPLES };
  let [r, g, b, opacity] = [0, 0, 0, 0];
  for (let row = 0; row < SAMPLES; row += 1) {
    for (let column = 0; column < SAMPLES; column += 1) {
      // Every other sample is shifted by a pixel, because the steps may agree with a pattern of the picture.
      const x = Math.min(width - 1, Math.floor(cell.left + (column + 0.5) * step.x) + (row % 2));
      const y = Math.min(height - 1, Math.floor(cell.top + (row + 0.5) * step.y) + (column % 2));
      const at = (y * width + x) * channels;
      const weight = hasAlpha ? (data[at + channels - 1] ?? 0) : 255;
      r += (data[at] ?? 0) * weight;
      g += (data[at + green] ?? 0) * weight;
      b += (data[at + blue] ?? 0) * weight;
      opacity += weight;
    }
  }
  if (opacity === 0) return;
  point[0] = r / opacity;
  point[1] = g / opacity;
  point[2] = b / opacity;
  point[3] = opacity / SAMPLES ** 2;
}

/** Returns the base64 thumbhash of a picture (MEDIA-11), about 30 bytes that describe a blurred preview. */
export function thumbhashOf(picture: Pixels): string {
  const scale = Math.min(1, MOST_EDGE / Math.max(picture.width, picture.height));
  const width = Math.max(1, Math.round(picture.width * scale));
  const height = Math.max(1, Math.round(picture.height * scale));
  const cell = { left: 0, top: 0, width: picture.width / width, height: picture.height / height };
  const points = new Uint8Array(width * height * 4);
  for (let place = 0; place < width * height; place += 1) {
    cell.left = (place % width) * cell.width;
    cell.top = Math.floor(place / width) * cell.height;
    writePoint(picture, cell, points.subarray(place * 4, place * 4 + 4));
  }
  return Buffer.from(rgbaToThumbHash(width, height, points)).toString('base64');
}
