import type { Source } from '../source.ts';
import { adobeRgb, type ColourSpace, type Primaries, spaceOfCurve, spaceOfGamma } from './space.ts';

/** Bytes that are read by offset. */
type Reads = Pick<Source, 'readUpTo'>;

/** The values of the tags of a TIFF directory. */
type Tags = ReadonlyMap<number, readonly number[]>;

const TAGS = {
  bits: 258,
  photometric: 262,
  transfer: 301,
  white: 318,
  primaries: 319,
  format: 339,
  profile: 34_675,
  exif: 34_665,
  space: 40_961,
  interoperability: 40_965,
  gamma: 42_240,
} as const;

/** Bytes of a value by its type: byte, text, short, long, rational, and undefined. */
const sizes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [7, 1],
]);
/** More than a transfer function of 16 bits for three colours. */
const MOST_VALUES = 200_000;
const MOST_ENTRIES = 1000;

interface Directory {
  bytes: Reads;
  /** Offset to which all others are relative. */
  base: number;
  isLittle: boolean;
}

function valuesAt({ bytes, isLittle }: Directory, at: number, type: number, count: number): number[] {
  const size = sizes.get(type) ?? 1;
  const data = bytes.readUpTo(at, size * count);
  const long = (place: number) => (isLittle ? data.readUInt32LE(place) : data.readUInt32BE(place));
  const short = (place: number) => (isLittle ? data.readUInt16LE(place) : data.readUInt16BE(place));
  return Array.from({ length: Math.floor(data.length / size) }, (_, index) => {
    const place = index * size;
    if (type === 5) return long(place) / long(place + 4);
    if (type === 4) return long(place);
    return type === 3 ? short(place) : (data[place] ?? 0);
  });
}

/** Returns the tags of the directory at this offset. */
function tagsAt(directory: Directory, offset: number): Tags {
  const { bytes, base, isLittle } = directory;
  const start = bytes.readUpTo(base + offset, 2);
  const tags = new Map<number, readonly number[]>();
  if (offset < 8 || start.length < 2) return tags;
  const count = Math.min(MOST_ENTRIES, isLittle ? start.readUInt16LE() : start.readUInt16BE());
  const entries = bytes.readUpTo(base + offset + 2, count * 12);
  for (let at = 0; at + 12 <= entries.length; at += 12) {
    const short = (place: number) => (isLittle ? entries.readUInt16LE(place) : entries.readUInt16BE(place));
    const long = (place: number) => (isLittle ? entries.readUInt32LE(place) : entries.readUInt32BE(place));
    const [tag, type, length] = [short(at), short(at + 2), long(at + 4)];
    const size = sizes.get(type);
    if (!Object.values<number>(TAGS).includes(tag) && tag !== 1) continue;
    if (size === undefined || length > MOST_VALUES) {
      // Only its presence counts.
      tags.set(tag, []);
      continue;
    }
    const place = size * length <= 4 ? base + offset + 2 + at + 8 : base + long(at + 8);
    tags.set(tag, valuesAt(directory, place, type, length));
  }
  return tags;
}

/** Opens the directories that begin here; null if there are none. */
function openAt(bytes: Reads, base: number): { directory: Directory; first: Tags } | null {
  const head = bytes.readUpTo(base, 8);
  const mark = head.toString('latin1', 0, 4);
  if (head.length < 8 || (mark !== 'II*\0' && mark !== 'MM\0*')) return null;
  const isLittle = mark.startsWith('II');
  const directory = { bytes, base, isLittle };
  return { directory, first: tagsAt(directory, isLittle ? head.readUInt32LE(4) : head.readUInt32BE(4)) };
}

function primariesIn(tags: Tags): Primaries | null {
  const [wx = 0.3127, wy = 0.329] = tags.get(TAGS.white) ?? [];
  const [rx = 0, ry = 0, gx = 0, gy = 0, bx = 0, by = 0] = tags.get(TAGS.primaries) ?? [];
  const all = [wx, wy, rx, ry, gx, gy, bx, by];
  if (!all.every((value) => value >= 0 && value <= 1) || wy === 0 || ry + gy + by === 0) return null;
  return { white: [wx, wy], red: [rx, ry], green: [gx, gy], blue: [bx, by] };
}

/** Returns the curve of a transfer function; null if there is none, or one for each colour. */
function curveIn(tags: Tags): ColourSpace['curve'] | null {
  const table = tags.get(TAGS.transfer) ?? [];
  const length = 2 ** (tags.get(TAGS.bits)?.[0] ?? 0);
  if (table.length !== length && table.length !== 3 * length) return null;
  const isOne = table.every((value, index) => value === table[index % length]);
  const most = table[length - 1] ?? 0;
  if (!isOne || most === 0) return null;
  return (sample) => (table[Math.round(sample * (length - 1))] ?? 0) / most;
}

/** Returns the colour space that the tags of a TIFF describe; null if it has a profile or describes none. */
export function spaceOfTiff(source: Source): ColourSpace | null {
  const { first: tags } = openAt(source, 0) ?? {};
  if (tags === undefined || tags.has(TAGS.profile)) return null;
  const isUnsigned = (tags.get(TAGS.format) ?? [1])[0] === 1;
  if (tags.get(TAGS.photometric)?.[0] !== 2 || !isUnsigned) return null;
  const [primaries, curve] = [primariesIn(tags), curveIn(tags)];
  if (curve !== null) return spaceOfCurve(curve, primaries);
  return primaries === null ? null : spaceOfGamma(2.2, primaries);
}

const SRGB = 1;
const UNCALIBRATED = 65_535;

/** Returns the colour space that the EXIF at this offset describes. */
function spaceOfExif(bytes: Reads, base: number): ColourSpace | null {
  const opened = openAt(bytes, base);
  if (opened === null) return null;
  const { directory, first } = opened;
  const exif = tagsAt(directory, first.get(TAGS.exif)?.[0] ?? 0);
  const space = exif.get(TAGS.space)?.[0];
  if (space === SRGB) return null;
  const rule = tagsAt(directory, exif.get(TAGS.interoperability)?.[0] ?? 0).get(1) ?? [];
  // DCF: R03 names the optional colour space, Adobe RGB. Some cameras write 2 instead.
  if (space === 2 || String.fromCharCode(...rule.slice(0, 3)) === 'R03') return adobeRgb;
  if (space !== UNCALIBRATED) return null;
  const primaries = primariesIn(first);
  return primaries === null ? null : spaceOfGamma(exif.get(TAGS.gamma)?.[0] ?? 2.2, primaries);
}

/** More segments than any JPEG has before its pixels. */
const MOST_SEGMENTS = 1000;

/** Returns the colour space that the EXIF of a JPEG describes; null if it has a profile or describes none. */
export function spaceOfJpeg(source: Source): ColourSpace | null {
  let exifAt: number | null = null;
  for (let at = 2, count = 0; count < MOST_SEGMENTS; count += 1) {
    const head = source.readUpTo(at, 20);
    if (head.length < 20 || head[0] !== 0xff) break;
    const marker = head[1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // The pixels begin.
    if (marker === 0xda) break;
    if (marker === 0xe2 && head.toString('latin1', 4, 15) === 'ICC_PROFILE') return null;
    if (marker === 0xe1 && exifAt === null && head.toString('latin1', 4, 8) === 'Exif') exifAt = at + 10;
    // Only pictures of three colours have these primaries.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame && head[9] !== 3) return null;
    at += 2 + head.readUInt16BE(2);
  }
  return exifAt === null ? null : spaceOfExif(source, exifAt);
}

/** Returns a reader that describes no colour where the description itself is damaged. */
export function orNone(read: (source: Source) => ColourSpace | null): (source: Source) => ColourSpace | null {
  return (source) => {
    try {
      return read(source);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  };
}
