import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { type ColourSpace, type Primaries, rowConverter, spaceOfGamma } from '../colour/space.ts';
import { checkShape, type Source, withSource } from '../source.ts';
import { BrokenFile, type StillMaker } from '../still.ts';
import { hasAlpha, type Read, readBitmap, rowsOfBitmap } from './bitmap.ts';
import { writeTiff } from './tiff-writer.ts';

/** Length of the header that describes colours, and of the one that may have a profile. */
const [DESCRIBED, PROFILED] = [108, 124];
const MOST_PROFILE = 4 * 1024 * 1024;

/** Returns the primaries of the end points of a header, in XYZ; null if there are none. */
function primariesOf(header: Buffer): Primaries | null {
  const numbers = Array.from({ length: 9 }, (_, index) => header.readInt32LE(60 + index * 4) / 2 ** 30);
  const point = (from: number): [number, number] => {
    const [x = 0, y = 0, z = 0] = numbers.slice(from, from + 3);
    return [x / (x + y + z), y / (x + y + z)];
  };
  const sums = [0, 1, 2].map(
    (index) => (numbers[index] ?? 0) + (numbers[index + 3] ?? 0) + (numbers[index + 6] ?? 0),
  );
  const [x = 0, y = 0, z = 0] = sums;
  const made = {
    red: point(0),
    green: point(3),
    blue: point(6),
    white: [x / (x + y + z), y / (x + y + z)] as const,
  };
  return Object.values(made).flat().every(Number.isFinite) ? made : null;
}

/** Returns the colours that the header of a bitmap describes: end points and gamma, or a profile. */
function colourOf(source: Source): { space: ColourSpace | null; profile: Buffer | null } {
  const length = source.read(14, 4).readUInt32LE();
  if (length < DESCRIBED) return { space: null, profile: null };
  const header = source.read(14, length);
  const kind = header.readUInt32LE(56);
  if (length >= PROFILED && header.toString('latin1', 56, 60) === 'DEBM') {
    const [at, size] = [header.readUInt32LE(112), header.readUInt32LE(116)];
    const profile = size <= MOST_PROFILE ? source.readUpTo(14 + at, size) : null;
    const isProfile = profile?.toString('latin1', 36, 40) === 'acsp';
    return { space: null, profile: isProfile ? profile : null };
  }
  const primaries = kind === 0 ? primariesOf(header) : null;
  // One exponent; the three colours have the same in practice.
  const gamma = header.readUInt32LE(100) / 65_536;
  return { space: primaries === null ? null : spaceOfGamma(gamma, primaries), profile: null };
}

/** Makes a picture of a Windows or OS/2 bitmap. */
export const bmp: StillMaker = ({ path }, outDir) =>
  withSource(path, (source) => {
    const pixelsAt = source.read(0, 14).readUInt32LE(10);
    const bitmap = readBitmap(source.read, 14);
    const { width, height } = bitmap;
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    const alpha = hasAlpha(bitmap);
    const { space, profile } = colourOf(source);
    const convert = space === null ? null : rowConverter(space, 255);
    const rows = function* () {
      for (const row of rowsOfBitmap(source.read, bitmap, pixelsAt, source.size))
        yield convert?.(row, alpha ? 4 : 3) ?? row;
    };
    writeTiff(picture.path, { width, height, model: 'rgb', alpha, profile }, rows());
    return { picture };
  });

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** More pictures than any icon has. */
const MOST_ICONS = 256;

interface IconEntry {
  pixels: number;
  bits: number;
  at: number;
  length: number;
}

/** Returns whether the mask, which follows the picture with one bit per pixel, makes a pixel transparent. */
function* withMask(read: Read, rows: Iterable<Uint8Array>, maskAt: number, width: number, height: number) {
  const maskBytes = Math.ceil(width / 32) * 4;
  let row = 0;
  for (const band of rows) {
    const mask = read(maskAt + (height - 1 - row) * maskBytes, maskBytes);
    const masked = new Uint8Array(width * 4);
    for (let x = 0; x < width; x += 1) {
      masked.set(band.subarray(x * 3, x * 3 + 3), x * 4);
      masked[x * 4 + 3] = ((mask[x >> 3] ?? 0) >> (7 - (x & 7))) & 1 ? 0 : 255;
    }
    yield masked;
    row += 1;
  }
}

/** Makes a picture of the largest image in a Windows icon or cursor. */
export const ico: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    const count = Math.min(source.read(0, 6).readUInt16LE(4), MOST_ICONS);
    const directory = source.read(6, count * 16);
    const entries = Array.from({ length: count }, (_, index): IconEntry => {
      const entry = directory.subarray(index * 16, index * 16 + 16);
      return {
        // An edge of 0 means 256.
        pixels: ((entry[0] || 256) as number) * ((entry[1] || 256) as number),
        bits: entry.readUInt16LE(6),
        length: entry.readUInt32LE(8),
        at: entry.readUInt32LE(12),
      };
    });
    const best = entries.sort((a, b) => b.pixels - a.pixels || b.bits - a.bits)[0];
    if (best === undefined) throw new BrokenFile(sentence('it has no picture that can be decoded'));
    const { at, length } = best;
    if (source.read(at, 8).equals(PNG_SIGNATURE)) {
      const { writeFile } = await import('node:fs/promises');
      const png = join(outDir, 'still.png');
      await writeFile(png, source.read(at, length));
      return { picture: { path: png, mime: 'image/png' } };
    }
    const bitmap = readBitmap(source.read, at, { icon: true });
    const { width, height, bits, pixelsAt } = bitmap;
    checkShape(width, height);
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    // In an icon, the fourth byte of 32-bit pixels is alpha regardless of the header.
    const opaque = { ...bitmap, topDown: false };
    const withAlpha = { ...opaque, masks: { ...bitmap.masks, alpha: 0xff000000 } };
    const rows = () => rowsOfBitmap(source.read, bits === 32 ? withAlpha : opaque, pixelsAt, at + length);
    const maskAt = pixelsAt + Math.ceil((width * bits) / 32) * 4 * height;
    const masked = bits === 32 ? rows() : withMask(source.read, rows(), maskAt, width, height);
    writeTiff(picture.path, { width, height, model: 'rgb', alpha: true }, masked);
    return { picture };
  });
