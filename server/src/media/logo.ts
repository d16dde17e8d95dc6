import { sharp, strictnessOf } from './tuned-sharp.ts';

/** APPEARANCE-4: the limits of a logo. */
const MOST_BYTES = 2 * 1024 * 1024;
const LEAST_EDGE = 16;
const MOST_EDGE = 1024;
const types: Record<string, string> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

export interface LogoPicture {
  contentType: string;
  width: number;
  height: number;
}

/** Decodes a file and returns its type and size, regardless of its name, or a string with the rule that it breaks. */
export async function readLogo(bytes: Buffer): Promise<LogoPicture | string> {
  if (bytes.length === 0) return 'the body is empty';
  if (bytes.length > MOST_BYTES) return 'a logo has at most 2 MiB';
  try {
    // Reads the header first, so that nothing larger than the limit is decoded.
    const { format, pages = 1, autoOrient } = await sharp(bytes, { limitInputPixels: false }).metadata();
    // Uses the size that browsers show, after EXIF rotation.
    const { width, height } = autoOrient;
    const contentType = types[format];
    if (contentType === undefined) return 'a logo is a PNG, JPEG, GIF or WebP picture';
    if (pages > 1 || (format === 'png' && isAnimatedPng(bytes))) return 'a logo must not be animated';
    if (Math.min(width, height) < LEAST_EDGE || Math.max(width, height) > MOST_EDGE) {
      return `each edge of a logo has ${LEAST_EDGE} to ${MOST_EDGE} pixels, not ${width} x ${height}`;
    }
    await sharp(bytes, strictnessOf(contentType)).raw().toBuffer();
    return { contentType, width, height };
  } catch {
    return 'the bytes cannot be read as a picture';
  }
}

/** libvips reads only the first frame of an animated PNG; browsers animate it if `acTL` precedes the pixels. */
function isAnimatedPng(bytes: Buffer): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const kind = bytes.toString('latin1', at + 4, at + 8);
    if (kind === 'acTL') return true;
    if (kind === 'IDAT') return false;
  }
  return false;
}
