import { inflateSync, zstdDecompressSync } from 'node:zlib';
import { sentence } from '../../platform/language/sentence.ts';
import { checkShape, type Source } from '../source.ts';
import { damagedHeader, damagedPixels, NotDrawable, unreadablePixels } from '../still.ts';
import { unpackBits, unpackLzw } from './tiff-compression.ts';

/** The tags of a directory that describe samples, with their values. */
type Tags = ReadonlyMap<number, readonly number[]>;

/** Bytes of the values of each type of a tag. */
const typeBytes: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];
/** More values than the offsets of any picture that is rendered. */
const MOST_VALUES = 4_000_000;
const MOST_TAGS = 4096;
/** Most bytes of samples of a band. */
const MOST_BAND_BYTES = 512 * 1024 ** 2;

/** Numbers of a TIFF, in its byte order. */
interface Numbers {
  little: boolean;
  isBig: boolean;
}

function readNumber(bytes: Buffer, at: number, size: number, { little }: Numbers): number {
  if (size === 8) return Number(little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  return little ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
}

function readTags(source: Source): { tags: Tags; numbers: Numbers } {
  const head = source.read(0, 16);
  const little = head.toString('latin1', 0, 2) === 'II';
  const isBig = readNumber(head, 2, 2, { little, isBig: false }) === 43;
  const numbers = { little, isBig };
  const [countBytes, entryBytes, room] = isBig ? [8, 20, 8] : [2, 12, 4];
  const directory = readNumber(head, isBig ? 8 : 4, room, numbers);
  const count = readNumber(source.read(directory, countBytes), 0, countBytes, numbers);
  if (count > MOST_TAGS) throw damagedHeader('too many tags');
  const entries = source.read(directory + countBytes, count * entryBytes);
  const tags = new Map<number, number[]>();
  for (let at = 0; at < entries.length; at += entryBytes) {
    const size = typeBytes[readNumber(entries, at + 2, 2, numbers)] ?? 0;
    const length = readNumber(entries, at + 4, room, numbers);
    if (size === 0 || length > MOST_VALUES) continue;
    const valuesAt = at + 4 + room;
    const bytes =
      size * length <= room
        ? entries.subarray(valuesAt, valuesAt + room)
        : source.readUpTo(readNumber(entries, valuesAt, room, numbers), size * length);
    if (bytes.length < size * length) continue;
    const values = Array.from({ length }, (_, index) => readNumber(bytes, index * size, size, numbers));
    tags.set(readNumber(entries, at, 2, numbers), values);
  }
  return { tags, numbers };
}

export const photometrics = {
  whiteIsZero: 0,
  blackIsZero: 1,
  rgb: 2,
  palette: 3,
  cmyk: 5,
  lab: 8,
  iccLab: 9,
};

/** What a TIFF contains, and its samples. */
export interface TiffSamples {
  width: number;
  height: number;
  photometric: number;
  samples: number;
  bits: number;
  format: 'unsigned' | 'signed' | 'float';
  orientation: number;
  /** Whether the sample after the colours is alpha. */
  alpha: boolean;
  profile: Buffer | null;
  palette: readonly number[];
  /** Yields the samples of consecutive rows, interleaved. Throws BrokenFile or NotDrawable. */
  bands(): AsyncGenerator<Float32Array>;
}

const formats = new Map([
  [1, 'unsigned'],
  [2, 'signed'],
  [3, 'float'],
  [4, 'unsigned'],
] as const);

async function unpack(packed: Buffer, compression: number, due: number): Promise<Buffer> {
  const most = { maxOutputLength: due + 65_536 };
  switch (compression) {
    case 1:
      return packed;
    case 5:
      return unpackLzw(packed, due);
    case 8:
    case 32_946:
      return inflateSync(packed, most);
    case 32_773:
      return unpackBits(packed, due);
    case 50_000:
      return zstdDecompressSync(packed, most);
    case 50_001: {
      const { sharp } = await import('../tuned-sharp.ts');
      return sharp(packed).raw().toBuffer();
    }
    default:
      throw unreadablePixels(`compression ${compression}`);
  }
}

/** Converts a half float to a number. */
function halfFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(half >> 10) & 31, half & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** Converts the 24 bits of a float (7 of them exponent) to a number. */
function shortFloat(bits: number): number {
  const sign = bits & 0x800000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 16) & 127, bits & 0xffff];
  if (exponent === 127) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -78 : (1 + fraction / 65_536) * 2 ** (exponent - 63));
}

type ReadSample = (row: Buffer, index: number) => number;

/** Returns the function that reads one sample of a row. */
function sampleReader(bits: number, format: TiffSamples['format'], little: boolean): ReadSample {
  if (format === 'float') {
    if (bits === 16)
      return (row, index) => halfFloat(little ? row.readUInt16LE(index * 2) : row.readUInt16BE(index * 2));
    if (bits === 24)
      return (row, index) => shortFloat(little ? row.readUIntLE(index * 3, 3) : row.readUIntBE(index * 3, 3));
    if (bits === 32)
      return (row, index) => (little ? row.readFloatLE(index * 4) : row.readFloatBE(index * 4));
    if (bits === 64)
      return (row, index) => (little ? row.readDoubleLE(index * 8) : row.readDoubleBE(index * 8));
    throw unreadablePixels(`floats of ${bits} bits`);
  }
  const isSigned = format === 'signed';
  if (bits === 64) {
    if (isSigned)
      return (row, index) => Number(little ? row.readBigInt64LE(index * 8) : row.readBigInt64BE(index * 8));
    return (row, index) => Number(little ? row.readBigUInt64LE(index * 8) : row.readBigUInt64BE(index * 8));
  }
  if (bits % 8 === 0 && bits <= 32) {
    const bytes = bits / 8;
    if (isSigned)
      return (row, index) =>
        little ? row.readIntLE(index * bytes, bytes) : row.readIntBE(index * bytes, bytes);
    return (row, index) =>
      little ? row.readUIntLE(index * bytes, bytes) : row.readUIntBE(index * bytes, bytes);
  }
  if (bits < 1 || bits > 31) throw unreadablePixels(`samples of ${bits} bits`);
  return (row, index) => {
    let value = 0;
    for (let bit = index * bits; bit < (index + 1) * bits; bit += 1) {
      value = value * 2 + (((row[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    }
    return isSigned && value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
  };
}

/** Undoes the prediction of a row of `samples` interleaved samples, in place. */
function unpredict(
  row: Buffer,
  predictor: number,
  layout: { bits: number; samples: number; little: boolean },
): void {
  const { bits, samples, little } = layout;
  const bytes = bits / 8;
  if (predictor === 3) {
    for (let at = samples; at < row.length; at += 1)
      row[at] = ((row[at] ?? 0) + (row[at - samples] ?? 0)) & 255;
    const planes = Buffer.from(row);
    const count = row.length / bytes;
    for (let index = 0; index < count; index += 1) {
      for (let byte = 0; byte < bytes; byte += 1) {
        row[index * bytes + (little ? bytes - 1 - byte : byte)] = planes[byte * count + index] ?? 0;
      }
    }
  } else if (predictor === 2 && [8, 16, 32].includes(bits)) {
    for (let at = samples * bytes; at < row.length; at += bytes) {
      const before = at - samples * bytes;
      const read = (from: number) => (little ? row.readUIntLE(from, bytes) : row.readUIntBE(from, bytes));
      const sum = (read(at) + read(before)) % 2 ** bits;
      if (little) row.writeUIntLE(sum, at, bytes);
      else row.writeUIntBE(sum, at, bytes);
    }
  } else if (predictor !== 1) {
    throw unreadablePixels(`predictor ${predictor}`);
  }
}

/** Reads the first picture of a TIFF, also if its samples or their compression are unknown to libvips. */
export function readTiff(source: Source): TiffSamples {
  const { tags, numbers } = readTags(source);
  const { little } = numbers;
  const firstOf = (tag: number, otherwise: number) => tags.get(tag)?.[0] ?? otherwise;
  const [width, height] = [firstOf(256, 0), firstOf(257, 0)];
  checkShape(width, height);
  const samples = firstOf(277, tags.get(258)?.length ?? 1);
  if (samples < 1 || samples > 64) throw unreadablePixels(`${samples} samples a pixel`);
  const bits = firstOf(258, 1);
  if (tags.get(258)?.some((other) => other !== bits)) throw unreadablePixels('samples of different sizes');
  const format = formats.get(firstOf(339, 1) as 1 | 2 | 3 | 4);
  if (format === undefined) throw unreadablePixels('unknown format of samples');
  const photometric = firstOf(262, samples >= 3 ? photometrics.rgb : photometrics.blackIsZero);
  const isTiled = tags.has(322);
  const [across, down] = isTiled
    ? [firstOf(322, width), firstOf(323, height)]
    : [width, Math.min(height, firstOf(278, height))];
  checkShape(across, down);
  const planes = firstOf(284, 1) === 2 ? samples : 1;
  const inPlane = samples / planes;
  const columns = Math.ceil(width / across);
  const bandCount = Math.ceil(height / down);
  const offsets = tags.get(isTiled ? 324 : 273) ?? [];
  const lengths = tags.get(isTiled ? 325 : 279) ?? [];
  if (offsets.every((offset) => offset === 0)) throw new NotDrawable(sentence('it has no pixels'));
  const compression = firstOf(259, 1);
  const rowBytes = Math.ceil((across * inPlane * bits) / 8);
  if (down * width * samples * 4 > MOST_BAND_BYTES || down * rowBytes > MOST_BAND_BYTES)
    throw unreadablePixels('parts that are too large');
  const read = sampleReader(bits, format, little);
  const colours = photometric === photometrics.cmyk ? 4 : photometric < 2 || photometric === 3 ? 1 : 3;

  async function part(index: number, rows: number): Promise<Buffer> {
    const at = offsets[index];
    if (at === undefined) throw damagedPixels('a part is missing');
    const due = rows * rowBytes;
    // A sparse file leaves out parts without content.
    if (at === 0 && (lengths[index] ?? 0) === 0) return Buffer.alloc(due);
    // Without a length, the part ends with the file.
    const declared = lengths[index] || (compression === 1 ? due : source.size - at);
    const packed = source.read(at, Math.min(declared, compression === 1 ? due : declared));
    const pixels = Buffer.from(await unpack(packed, compression, due));
    if (pixels.length < due) throw damagedPixels('a part ends too early');
    return pixels;
  }

  async function* bands(): AsyncGenerator<Float32Array> {
    const predictor = firstOf(317, 1);
    for (let band = 0; band < bandCount; band += 1) {
      const rows = Math.min(down, height - band * down);
      const to = new Float32Array(rows * width * samples);
      for (let plane = 0; plane < planes; plane += 1) {
        for (let column = 0; column < columns; column += 1) {
          const pixels = await part((plane * bandCount + band) * columns + column, isTiled ? down : rows);
          const shown = Math.min(across, width - column * across);
          for (let y = 0; y < rows; y += 1) {
            const row = pixels.subarray(y * rowBytes, (y + 1) * rowBytes);
            if (compression !== 50_001) unpredict(row, predictor, { bits, samples: inPlane, little });
            let at = (y * width + column * across) * samples + plane;
            for (let x = 0; x < shown; x += 1, at += samples) {
              for (let sample = 0; sample < inPlane; sample += 1) {
                to[at + sample] = read(row, x * inPlane + sample);
              }
            }
          }
        }
      }
      yield to;
    }
  }

  const profile = tags.get(34_675);
  return {
    width,
    height,
    photometric,
    samples,
    bits,
    format,
    orientation: firstOf(274, 1),
    alpha: samples > colours && [1, 2].includes(firstOf(338, 0)),
    profile: profile === undefined ? null : Buffer.from(profile),
    palette: tags.get(320) ?? [],
    bands,
  };
}
