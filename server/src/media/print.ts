import { sharp } from './tuned-sharp.ts';

/** How many pixels are compared in each direction. */
const SIDE = 8;

/** Pixels that differ by less count as equal, so that plain areas do not depend on noise. */
const NOISE = 2;

/** How far the brightest and the darkest of the pixels are apart at least in a picture that looks like something. */
const LEAST_RANGE = 12;

async function greys(path: string, width: number, height: number): Promise<Buffer> {
  return sharp(path)
    .flatten({ background: 'white' })
    .greyscale()
    .resize(width, height, { fit: 'fill' })
    .raw()
    .toBuffer();
}

/**
 * Returns what a picture looks like as 128 bits: whether each of 8 by 8 areas is brighter than the one to its right, and
 * than the one below it. Similar pictures differ in few bits, however large or bright they are. Returns null for a
 * picture that is plain.
 */
export async function printOf(path: string): Promise<string | null> {
  const across = await greys(path, SIDE + 1, SIDE);
  if (Math.max(...across) - Math.min(...across) < LEAST_RANGE) return null;
  const down = await greys(path, SIDE, SIDE + 1);
  const bits: boolean[] = [];
  for (let y = 0; y < SIDE; y += 1)
    for (let x = 0; x < SIDE; x += 1) {
      const at = y * (SIDE + 1) + x;
      bits.push((across[at] ?? 0) > (across[at + 1] ?? 0) + NOISE);
    }
  for (let at = 0; at < SIDE * SIDE; at += 1) bits.push((down[at] ?? 0) > (down[at + SIDE] ?? 0) + NOISE);
  return bits.map((bit) => (bit ? '1' : '0')).join('');
}
