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

/** The rule that a file breaks, as an error code with its parameters. */
export type LogoFault =
  | {
      readonly fault:
        | 'logo-animated'
        | 'logo-empty'
        | 'logo-of-other-type'
        | 'logo-too-large'
        | 'logo-undecodable';
    }
  | {
      readonly fault: 'logo-edge-out-of-range';
      readonly params: { min: number; max: number; width: number; height: number };
    };

/** Decodes a file and returns its type and size, regardless of its name, or the rule that it breaks. */
export async function readLogo(bytes: Buffer): Promise<LogoPicture | LogoFault> {
  if (bytes.length === 0) return { fault: 'logo-empty' };
  if (bytes.length > MOST_BYTES) return { fault: 'logo-too-large' };
  try {
    // Reads the header first, so that nothing larger than the limit is decoded.
    const { format, pages = 1, autoOrient } = await sharp(bytes, { limitInputPixels: false }).metadata();
    // Uses the size that browsers show, after EXIF rotation.
    const { width, height } = autoOrient;
    const contentType = types[format];
    if (contentType === undefined) return { fault: 'logo-of-other-type' };
    if (pages > 1 || (format === 'png' && isAnimatedPng(bytes))) return { fault: 'logo-animated' };
    if (Math.min(width, height) < LEAST_EDGE || Math.max(width, height) > MOST_EDGE) {
      return {
        fault: 'logo-edge-out-of-range',
        params: { min: LEAST_EDGE, max: MOST_EDGE, width, height },
      };
    }
    await sharp(bytes, strictnessOf(contentType)).raw().toBuffer();
    return { contentType, width, height };
  } catch {
    return { fault: 'logo-undecodable' };
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
