import { createHash, randomBytes } from 'node:crypto';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

/** Real files for tests. Each function returns bytes that a form accepts. */
type Bytes = Uint8Array<ArrayBuffer>;

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const own = (buffer: Buffer): Bytes => Uint8Array.from(buffer);
const encoded = async (picture: Sharp): Promise<Bytes> => own(await picture.toBuffer());

/** Left half red, right half blue, with noise from `seed`, so that rotations and crops are visible. */
function halves(width: number, height: number, seed = 1) {
  const channels = 3;
  const data = Buffer.alloc(width * height * channels);
  let state = seed;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      const noise = (state >>> 16) % 24;
      const at = (y * width + x) * channels;
      data[at] = x < width / 2 ? 210 + noise : noise;
      data[at + 1] = noise;
      data[at + 2] = x < width / 2 ? noise : 210 + noise;
    }
  }
  return sharp(data, { raw: { width, height, channels } });
}

export interface JpegOptions {
  /** EXIF orientation, 1 to 8. */
  orientation?: number;
  exif?: Record<string, string>;
  seed?: number;
}

export async function jpeg(width: number, height: number, options: JpegOptions = {}): Promise<Bytes> {
  let picture = halves(width, height, options.seed).jpeg({ quality: 90 });
  if (options.exif !== undefined) picture = picture.withExif({ IFD0: options.exif });
  if (options.orientation !== undefined) picture = picture.withMetadata({ orientation: options.orientation });
  return encoded(picture);
}

export const png = (width: number, height: number, seed = 1) => encoded(halves(width, height, seed).png());
export const webp = (width: number, height: number) => encoded(halves(width, height).webp());
export const tiff = (width: number, height: number) =>
  encoded(halves(width, height).tiff({ compression: 'lzw' }));
export const cmykJpeg = (width: number, height: number) =>
  encoded(halves(width, height).toColourspace('cmyk').jpeg());
export const gif = (width: number, height: number) => encoded(halves(width, height).gif());
export const avif = (width: number, height: number) => encoded(halves(width, height).avif({ effort: 0 }));

/** Random pixels, which no codec can compress. */
export function noise(width: number, height: number): Promise<Bytes> {
  const raw = { width, height, channels: 3 } as const;
  return encoded(sharp(randomBytes(width * height * 3), { raw }).jpeg({ quality: 90 }));
}

/** A JPEG whose colours are right only with its Display P3 profile. */
export const wideGamutJpeg = (width: number, height: number) =>
  encoded(halves(width, height).withIccProfile('p3').jpeg({ quality: 95 }));

/** A 16-bit greyscale TIFF, black at the left edge and white at the right. */
export async function grey16Tiff(width: number, height: number): Promise<Bytes> {
  const data = new Uint16Array(width * height);
  for (let at = 0; at < data.length; at += 1) data[at] = Math.round(((at % width) / (width - 1)) * 65_535);
  const picture = sharp(data, { raw: { width, height, channels: 1 } }).toColourspace('grey16');
  return encoded(picture.tiff({ compression: 'lzw' }));
}

/** A red disc on a transparent background. */
export async function transparentPng(width: number, height: number): Promise<Bytes> {
  const disc = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2" width="${width}" height="${height}"><circle cx="1" cy="1" r="1" fill="red"/></svg>`;
  return encoded(sharp(Buffer.from(disc)).png());
}

/** Two frames, red and then green. */
export async function animatedGif(): Promise<Bytes> {
  const frame = (background: string) =>
    sharp({ create: { width: 64, height: 48, channels: 3, background } })
      .png()
      .toBuffer();
  const frames = [await frame('#ff0000'), await frame('#00ff00')];
  return encoded(sharp(frames, { join: { animated: true } }).gif({ delay: [100, 100] }));
}

/** A small GIF with many frames of 65,535 x 65,535 pixels. */
export function gifBomb(frames = 20_000): Bytes {
  const size = Buffer.from([0xff, 0xff, 0xff, 0xff]);
  const head = Buffer.concat([
    Buffer.from('GIF89a'),
    size,
    Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
  ]);
  const frame = Buffer.concat([
    Buffer.from([0x21, 0xf9, 4, 0, 1, 0, 0, 0, 0x2c, 0, 0, 0, 0]),
    size,
    Buffer.from([0, 2, 2, 0x44, 1, 0]),
  ]);
  return own(Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]));
}

export function svg(width: number, height: number): Bytes {
  const text = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="teal"/><script>alert(1)</script></svg>`;
  return own(Buffer.from(text));
}

/** A JPEG without its second half. */
export async function truncatedJpeg(): Promise<Bytes> {
  const whole = await jpeg(800, 600);
  return whole.slice(0, Math.floor(whole.length / 2));
}

export function plainText(text = 'This is a text, whatever its name says.\n'): Bytes {
  return own(Buffer.from(text));
}

/** Bytes of an unknown type, different for every text: such a file is ready as soon as it is stored. */
export function plainFile(text = 'plain'): Bytes {
  return own(Buffer.from(`\0\u0001${text}`));
}

/** Bytes of an unknown type, which are not rendered. */
export function unknownBytes(seed = 1): Bytes {
  return new Uint8Array([0, 1, 2, seed, 0, 255, 254, 253]);
}

/** An empty file. */
export function emptyFile(): Bytes {
  return new Uint8Array(0);
}

/** The zlib stream of this many zeros: one compressed block, repeated, so that the zeros need no memory. */
function deflatedZeros(length: number): Buffer {
  const size = 1_000_000;
  const block = deflateRawSync(Buffer.alloc(size), { finishFlush: constants.Z_FULL_FLUSH });
  const blocks = Array.from({ length: Math.floor(length / size) }, () => block);
  const last = deflateRawSync(Buffer.alloc(length % size));
  const adler32 = Buffer.alloc(4);
  adler32.writeUInt16BE(length % 65_521, 0);
  adler32.writeUInt16BE(1, 2);
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, last, adler32]);
}

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** A valid PNG of 50,000 x 50,000 one-bit pixels: about 300 kB, decoded 2.5 GB. */
export function pngBomb(): Bytes {
  const side = 50_000;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = chunk('IDAT', deflatedZeros(side * (1 + side / 8)));
  return own(Buffer.concat([signature, chunk('IHDR', header), data, chunk('IEND', Buffer.alloc(0))]));
}
