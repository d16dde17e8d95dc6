import { checkShape } from '../source.ts';
import { damagedHeader, unreadablePixels } from '../still.ts';

/** Returns exactly `length` bytes; throws BrokenFile if the file ends earlier. */
export type Read = (at: number, length: number) => Buffer;

/** Masks of the colours in samples of 16 and 32 bits; a mask of 0 means that the colour is absent. */
interface Masks {
  red: number;
  green: number;
  blue: number;
  alpha: number;
}

/** A device-independent bitmap, as in BMP and ICO files. */
export interface Bitmap {
  width: number;
  height: number;
  topDown: boolean;
  bits: number;
  compression: 'none' | 'rle8' | 'rle4';
  masks: Masks;
  /** Palette with four bytes per colour, or three in the oldest files: blue, green, red. */
  palette: Buffer;
  paletteBytes: 3 | 4;
  /** Offset of the pixels if they directly follow the header and the palette. */
  pixelsAt: number;
}

const CORE_HEADER = 12;
const RGB = 0;
const RLE8 = 1;
const RLE4 = 2;
const BITFIELDS = 3;
const ALPHA_BITFIELDS = 6;

const masksOf16: Masks = { red: 0x7c00, green: 0x03e0, blue: 0x001f, alpha: 0 };
const masksOf32: Masks = { red: 0xff0000, green: 0xff00, blue: 0xff, alpha: 0 };

/** Known header lengths. */
export const bitmapHeaders: readonly number[] = [CORE_HEADER, 16, 40, 52, 56, 64, 108, 124];

function masksOf(read: Read, at: number, headerBytes: number, compression: number, bits: number): Masks {
  if (compression !== BITFIELDS && compression !== ALPHA_BITFIELDS)
    return bits === 16 ? masksOf16 : masksOf32;
  const hasAlpha = compression === ALPHA_BITFIELDS || headerBytes >= 56;
  const masks = read(at + 40, hasAlpha ? 16 : 12);
  return {
    red: masks.readUInt32LE(0),
    green: masks.readUInt32LE(4),
    blue: masks.readUInt32LE(8),
    alpha: hasAlpha ? masks.readUInt32LE(12) : 0,
  };
}

/** Returns the number of bytes of masks between a 40-byte header and the palette. */
function masksAfter(headerBytes: number, compression: number): number {
  if (headerBytes !== 40) return 0;
  return compression === BITFIELDS ? 12 : compression === ALPHA_BITFIELDS ? 16 : 0;
}

/** Reads the header and palette at `at`. The height in the header of an icon includes both picture and mask. */
export function readBitmap(read: Read, at: number, { icon = false } = {}): Bitmap {
  const headerBytes = read(at, 4).readUInt32LE();
  if (!bitmapHeaders.includes(headerBytes)) throw damagedHeader('no bitmap header');
  const header = read(at, headerBytes);
  const core = headerBytes === CORE_HEADER;
  const width = core ? header.readUInt16LE(4) : header.readInt32LE(4);
  const declared = core ? header.readUInt16LE(6) : header.readInt32LE(8);
  const height = Math.abs(declared) >> (icon ? 1 : 0);
  checkShape(width, height);
  const bits = header.readUInt16LE(core ? 10 : 14);
  if (![1, 2, 4, 8, 16, 24, 32].includes(bits)) throw unreadablePixels(`${bits} bits a pixel`);
  const compression = headerBytes >= 40 ? header.readUInt32LE(16) : RGB;
  const isKnown =
    compression === RGB ||
    (compression === RLE8 && bits === 8) ||
    (compression === RLE4 && bits === 4) ||
    ((compression === BITFIELDS || compression === ALPHA_BITFIELDS) && (bits === 16 || bits === 32));
  if (!isKnown) throw unreadablePixels(`compression ${compression}`);
  const used = headerBytes >= 40 ? header.readUInt32LE(32) : 0;
  const colours = bits > 8 ? 0 : Math.min(used === 0 ? 256 : used, 2 ** bits);
  const paletteBytes = core ? 3 : 4;
  const paletteAt = at + headerBytes + masksAfter(headerBytes, compression);
  return {
    width,
    height,
    topDown: declared < 0,
    bits,
    compression: compression === RLE8 ? 'rle8' : compression === RLE4 ? 'rle4' : 'none',
    masks: masksOf(read, at, headerBytes, compression, bits),
    palette: read(paletteAt, colours * paletteBytes),
    paletteBytes,
    pixelsAt: paletteAt + Math.max(colours, bits > 8 ? used : 0) * paletteBytes,
  };
}

/** Converts a masked sample to 8 bits. */
function sampleOf(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 255;
  let shift = 0;
  while (((mask >>> shift) & 1) === 0) shift += 1;
  const most = mask >>> shift;
  return (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / most);
}

/** Converts a stored row to RGB or RGBA. */
type Colour = (stored: Buffer, row: Uint8Array) => void;

function indexed({ width, bits, palette, paletteBytes }: Bitmap): Colour {
  return (stored, row) => {
    for (let x = 0; x < width; x += 1) {
      const byte = stored[(x * bits) >> 3] ?? 0;
      const index = (byte >> (8 - bits - ((x * bits) & 7))) & (2 ** bits - 1);
      for (let sample = 0; sample < 3; sample += 1) {
        row[x * 3 + sample] = palette[index * paletteBytes + 2 - sample] ?? 0;
      }
    }
  };
}

function masked({ width, bits, masks }: Bitmap): Colour {
  const samples = [masks.red, masks.green, masks.blue, ...(masks.alpha === 0 ? [] : [masks.alpha])].map(
    sampleOf,
  );
  return (stored, row) => {
    for (let x = 0; x < width; x += 1) {
      const pixel = bits === 16 ? stored.readUInt16LE(x * 2) : stored.readUInt32LE(x * 4);
      for (let sample = 0; sample < samples.length; sample += 1) {
        row[x * samples.length + sample] = samples[sample]?.(pixel) ?? 0;
      }
    }
  };
}

function direct({ width }: Bitmap): Colour {
  return (stored, row) => {
    for (let at = 0; at < width * 3; at += 3) {
      row[at] = stored[at + 2] ?? 0;
      row[at + 1] = stored[at + 1] ?? 0;
      row[at + 2] = stored[at] ?? 0;
    }
  };
}

/** Returns the number of bytes of a stored row, which is padded to whole words. */
function rowBytesOf({ width, bits }: Bitmap): number {
  return Math.ceil((width * bits) / 32) * 4;
}

/** Decodes run-length encoded pixels to one byte each, in file order. Skipped pixels have colour 0. */
function unpackRuns(packed: Buffer, { width, height, compression }: Bitmap): Buffer {
  const pixels = Buffer.alloc(width * height);
  const four = compression === 'rle4';
  const set = (x: number, y: number, index: number) => {
    if (x < width && y < height) pixels[y * width + x] = index;
  };
  /** Returns pixel number `index` of bytes that hold one or two pixels each. */
  const nibble = (byte: number, index: number) => (four ? (index & 1 ? byte & 15 : byte >> 4) : byte);
  let x = 0;
  let y = 0;
  for (let at = 0; at + 1 < packed.length && y < height; ) {
    const count = packed[at] ?? 0;
    const value = packed[at + 1] ?? 0;
    at += 2;
    if (count > 0) {
      for (let index = 0; index < count; index += 1) set(x + index, y, nibble(value, index));
      x += count;
    } else if (value === 0) {
      x = 0;
      y += 1;
    } else if (value === 1) {
      break;
    } else if (value === 2) {
      x += packed[at] ?? 0;
      y += packed[at + 1] ?? 0;
      at += 2;
    } else {
      for (let index = 0; index < value; index += 1) {
        set(x + index, y, nibble(packed[at + (four ? index >> 1 : index)] ?? 0, index));
      }
      x += value;
      // Runs of literal pixels are padded to whole words.
      at += (Math.ceil(four ? value / 2 : value) + 1) & ~1;
    }
  }
  return pixels;
}

/** Returns whether the rows of a bitmap have an alpha channel. */
export function hasAlpha({ masks, bits }: Bitmap): boolean {
  return masks.alpha !== 0 && bits > 8 && bits !== 24;
}

/**
 * Returns the rows of a bitmap from top to bottom, as RGB or RGBA. `end` is an upper bound for the end of the pixels.
 */
export function* rowsOfBitmap(
  read: Read,
  bitmap: Bitmap,
  pixelsAt: number,
  end: number,
): Generator<Uint8Array> {
  const { width, height, topDown, bits, compression } = bitmap;
  const samples = hasAlpha(bitmap) ? 4 : 3;
  const unpacked = compression === 'none' ? null : unpackRuns(read(pixelsAt, end - pixelsAt), bitmap);
  const plain = unpacked === null ? bitmap : { ...bitmap, bits: 8 };
  const rowBytes = unpacked === null ? rowBytesOf(bitmap) : width;
  const colour = plain.bits <= 8 ? indexed(plain) : bits === 24 ? direct(bitmap) : masked(bitmap);
  for (let row = 0; row < height; row += 1) {
    const from = (topDown ? row : height - 1 - row) * rowBytes;
    const stored =
      unpacked === null ? read(pixelsAt + from, rowBytes) : unpacked.subarray(from, from + rowBytes);
    const band = new Uint8Array(width * samples);
    colour(stored, band);
    yield band;
  }
}
