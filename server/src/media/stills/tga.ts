import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { checkShape, readAll, type Source, withSource } from '../source.ts';
import { BrokenFile, type StillMaker, unreadablePixels } from '../still.ts';
import { rowsOfRgba } from './rgba.ts';
import { writeTiff } from './tiff-writer.ts';

const MOST_BYTES = 512 * 1024 ** 2;
const HEADER_BYTES = 18;

/** The header of a Targa picture. */
interface Header {
  idLength: number;
  palette: { first: number; count: number; bits: number };
  kind: 'palette' | 'rgb' | 'grey';
  isPacked: boolean;
  width: number;
  height: number;
  bits: number;
  alphaBits: number;
  fromRight: boolean;
  fromTop: boolean;
}

const kinds = ['palette', 'rgb', 'grey'] as const;
const bitsOf = { palette: [8, 16], rgb: [15, 16, 24, 32], grey: [8, 16] } as const;

/** Returns the header of a Targa picture, or null if the bytes are none. There is no signature at the start. */
export function readTgaHeader(head: Buffer): Header | null {
  if (head.length < HEADER_BYTES) return null;
  const [idLength = 0, hasPalette = 0, type = 0] = head;
  const kind = kinds[(type & 7) - 1];
  if (kind === undefined || (type & ~0b1011) !== 0 || hasPalette > 1) return null;
  const palette = { first: head.readUInt16LE(3), count: head.readUInt16LE(5), bits: head[7] ?? 0 };
  const isPaletteSane =
    hasPalette === 1
      ? [15, 16, 24, 32].includes(palette.bits) && palette.count > 0
      : kind !== 'palette' && palette.count === 0;
  const [width, height] = [head.readUInt16LE(12), head.readUInt16LE(14)];
  const [bits = 0, descriptor = 0] = head.subarray(16);
  const isKnown = (bitsOf[kind] as readonly number[]).includes(bits);
  // The two highest bits interleave rows, which nobody does.
  if (!isPaletteSane || !isKnown || width === 0 || height === 0 || descriptor >= 64) return null;
  const alphaBits = descriptor & 15;
  if (![0, 8, bits === 16 ? 1 : 0].includes(alphaBits)) return null;
  const [fromRight, fromTop] = [(descriptor & 16) !== 0, (descriptor & 32) !== 0];
  return { idLength, palette, kind, isPacked: type >= 9, width, height, bits, alphaBits, fromRight, fromTop };
}

/** Returns whether packed pixels that are all in `head` fill the picture. */
function isFilled(head: Buffer, header: Header): boolean {
  const pixelBytes = Math.ceil(header.bits / 8);
  let left = header.width * header.height;
  let at = pixelsAt(header);
  for (; left > 0 && at < head.length; ) {
    const packet = head[at] ?? 0;
    const length = (packet & 127) + 1;
    left -= length;
    at += 1 + pixelBytes * (packet & 128 ? 1 : length);
  }
  return left <= 0 && at <= head.length;
}

/** Most bytes of extensions after the pixels. */
const MOST_EXTENSION = 4096;

/**
 * Returns whether a file is a Targa picture: it has a plausible header and as many pixels as that states, which for a packed
 * one is only checked in its head.
 */
export function isTga(head: Buffer, fileSize: number): boolean {
  const header = readTgaHeader(head);
  if (header === null) return false;
  const { width, height, bits, isPacked } = header;
  if (isPacked) return head.length < fileSize || isFilled(head, header);
  const extra = fileSize - pixelsAt(header) - width * height * Math.ceil(bits / 8);
  return extra >= 0 && extra <= MOST_EXTENSION;
}

function pixelsAt({ idLength, palette }: Header): number {
  return HEADER_BYTES + idLength + palette.count * Math.ceil(palette.bits / 8);
}

/** Unpacks runs of pixels. Throws BrokenFile if some are missing. */
function unpack(packed: Buffer, pixelBytes: number, count: number): Buffer {
  const pixels = Buffer.alloc(count * pixelBytes);
  let at = 0;
  for (let end = 0; end < pixels.length; ) {
    const packet = packed[at];
    if (packet === undefined) throw new BrokenFile(sentence('it ends too early'));
    const length = Math.min(((packet & 127) + 1) * pixelBytes, pixels.length - end);
    const stored = packet & 128 ? pixelBytes : length;
    if (at + 1 + stored > packed.length) throw new BrokenFile(sentence('it ends too early'));
    pixels.fill(packed.subarray(at + 1, at + 1 + stored), end, end + length);
    end += length;
    at += 1 + stored;
  }
  return pixels;
}

/** Writes a colour of 15, 16, 24 or 32 bits as RGBA. */
function writeColour(from: Buffer, at: number, bits: number, to: Uint8Array, into: number): void {
  if (bits <= 16) {
    const value = from.readUInt16LE(at);
    for (let sample = 0; sample < 3; sample += 1) {
      const five = (value >> (10 - sample * 5)) & 31;
      to[into + sample] = (five << 3) | (five >> 2);
    }
    to[into + 3] = value & 0x8000 ? 255 : 0;
    return;
  }
  to[into] = from[at + 2] ?? 0;
  to[into + 1] = from[at + 1] ?? 0;
  to[into + 2] = from[at] ?? 0;
  to[into + 3] = bits === 32 ? (from[at + 3] ?? 0) : 255;
}

/** Returns the pixels from top to bottom as RGBA. */
function pixelsOf(source: Source, header: Header): Uint8ClampedArray {
  const { kind, palette, width, height, bits, isPacked, fromRight, fromTop } = header;
  const bytes = readAll(source, MOST_BYTES);
  const pixelBytes = Math.ceil(bits / 8);
  const stored = bytes.subarray(pixelsAt(header));
  const count = width * height;
  const pixels = isPacked ? unpack(stored, pixelBytes, count) : stored;
  if (pixels.length < count * pixelBytes) throw new BrokenFile(sentence('it ends too early'));
  const paletteAt = HEADER_BYTES + header.idLength;
  const entryBytes = Math.ceil(palette.bits / 8);
  const to = new Uint8ClampedArray(count * 4);
  const view = new Uint8Array(to.buffer);
  for (let index = 0; index < count; index += 1) {
    const [x, y] = [index % width, Math.floor(index / width)];
    const into = ((fromTop ? y : height - 1 - y) * width + (fromRight ? width - 1 - x : x)) * 4;
    const at = index * pixelBytes;
    if (kind === 'palette') {
      const entry = pixels.readUIntLE(at, pixelBytes) - palette.first;
      if (entry >= 0 && entry < palette.count)
        writeColour(bytes, paletteAt + entry * entryBytes, palette.bits, view, into);
    } else if (kind === 'grey') {
      view.fill(pixels[at] ?? 0, into, into + 3);
      view[into + 3] = pixelBytes === 2 ? (pixels[at + 1] ?? 0) : 255;
    } else {
      writeColour(pixels, at, bits, view, into);
    }
  }
  return to;
}

/** Returns whether alpha means transparency: writers leave it at zero when they have none. */
function hasAlpha({ alphaBits }: Header, pixels: Uint8ClampedArray): boolean {
  let isSeen = false;
  let isTransparent = false;
  for (let at = 3; at < pixels.length && !(isSeen && isTransparent); at += 4) {
    if (pixels[at] !== 0) isSeen = true;
    if (pixels[at] !== 255) isTransparent = true;
  }
  return alphaBits > 0 && isSeen && isTransparent;
}

/** Makes a picture of a Targa file. */
export const tga: StillMaker = ({ path }, outDir) =>
  withSource(path, (source) => {
    const header = readTgaHeader(source.readUpTo(0, HEADER_BYTES));
    if (header === null) throw unreadablePixels('no known Targa header');
    const { width, height } = header;
    checkShape(width, height);
    const pixels = pixelsOf(source, header);
    const alpha = hasAlpha(header, pixels);
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    writeTiff(picture.path, { width, height, model: 'rgb', alpha }, rowsOfRgba(pixels, width, height, alpha));
    return { picture };
  });
