import sharp from 'sharp';

/** choices, appearance: what a logo may be. */
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

/** What these bytes are by decoding them, whatever they were called; a text says which rule they break. */
export async function readLogo(bytes: Buffer): Promise<LogoPicture | string> {
  if (bytes.length === 0) return 'the body is empty';
  if (bytes.length > MOST_BYTES) return 'a logo has at most 2 MiB';
  try {
    // The header first: nothing larger than a logo may be is ever decoded.
    const { format, width, height, pages = 1 } = await sharp(bytes, { limitInputPixels: false }).metadata();
    const contentType = types[format];
    if (contentType === undefined) return 'a logo is a PNG, JPEG, GIF or WebP picture';
    if (pages > 1) return 'a logo does not move';
    if (Math.min(width, height) < LEAST_EDGE || Math.max(width, height) > MOST_EDGE) {
      return `each edge of a logo has ${LEAST_EDGE} to ${MOST_EDGE} pixels, not ${width} x ${height}`;
    }
    await sharp(bytes, { failOn: 'error' }).raw().toBuffer();
    return { contentType, width, height };
  } catch {
    return 'the bytes cannot be read as a picture';
  }
}
