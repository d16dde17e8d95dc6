import { sharp } from '../tuned-sharp.ts';

/** A DOS EPS starts with these bytes, followed by the offsets of its parts (EPS specification 5). */
const BINARY_MAGIC = 0xc6d3d0c5;
/** Maximum offset of a text preview. */
const MOST_BEFORE = 64 * 1024;
const MOST_PIXELS = 16_000_000;

/** Returns the TIFF preview of a DOS EPS, or null if it has none. */
export function tiffPreview(bytes: Buffer): Buffer | null {
  if (bytes.length < 30 || bytes.readUInt32LE(0) !== BINARY_MAGIC) return null;
  const start = bytes.readUInt32LE(20);
  const length = bytes.readUInt32LE(24);
  return length > 0 && start + length <= bytes.length ? bytes.subarray(start, start + length) : null;
}

/**
 * Returns the preview that an EPSI file contains as hexadecimal comments, as PNG; null if it has none. Larger samples
 * are darker.
 */
export async function commentPreview(bytes: Buffer): Promise<Buffer | null> {
  const found = /^%%BeginPreview: *(\d{1,5}) +(\d{1,5}) +([1248]) +\d+[^\r\n]*/m.exec(
    bytes.toString('latin1', 0, MOST_BEFORE),
  );
  if (found === null) return null;
  const [width, height, depth] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const rowBytes = Math.ceil((width * depth) / 8);
  if (width * height === 0 || width * height > MOST_PIXELS) return null;
  const start = found.index + found[0].length;
  // Each byte takes two characters; lines add a percent sign, spaces and a line break.
  const comments = bytes.toString('latin1', start, start + rowBytes * height * 4 + MOST_BEFORE);
  const end = comments.indexOf('%%EndPreview');
  const samples = Buffer.from(comments.slice(0, end < 0 ? 0 : end).replace(/[^\dA-Fa-f]/g, ''), 'hex');
  if (samples.length < rowBytes * height) return null;
  const darkest = 2 ** depth - 1;
  const pixels = Buffer.alloc(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const bit = x * depth;
      const byte = samples[y * rowBytes + (bit >> 3)] ?? 0;
      const sample = (byte >> (8 - depth - (bit & 7))) & darkest;
      pixels[y * width + x] = 255 - Math.round((sample * 255) / darkest);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}
