import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { loadLibrary } from '../faults.ts';
import { checkShape, readAll, type Source, withSource } from '../source.ts';
import { BrokenFile, damagedHeader, type StillMaker, unreadablePixels } from '../still.ts';
import { writeTiff } from './tiff-writer.ts';
import { toneMap, toneOf } from './tone.ts';

/** Size limit: the parser holds the file and eight bytes per pixel in memory. */
const MOST_BYTES = 512 * 1024 ** 2;
const MOST_PIXELS = 100_000_000;

/** Larger than any header. */
const HEADER_BYTES = 64 * 1024;

const MULTIPART = 0x1000;
const DEEP = 0x0800;

/** Checks the header against the limits, because the parser allocates whatever size it declares. */
function checkHeader(source: Source): void {
  const head = source.readUpTo(0, HEADER_BYTES);
  if (head.length < 9 || head.readUInt32LE(0) !== 20_000_630) throw damagedHeader('no OpenEXR header');
  const flags = head.readUInt32LE(4);
  if ((flags & DEEP) !== 0) throw unreadablePixels('deep pixels');
  if ((flags & MULTIPART) !== 0) throw unreadablePixels('several parts');
  const endOfText = (from: number) => {
    const end = head.indexOf(0, from);
    if (end === -1) throw damagedHeader('it does not end');
    return end;
  };
  for (let at = 8; head[at] !== 0; ) {
    const nameEnd = endOfText(at);
    const typeEnd = endOfText(nameEnd + 1);
    if (typeEnd + 5 > head.length) throw damagedHeader('it does not end');
    const size = head.readUInt32LE(typeEnd + 1);
    const value = typeEnd + 5;
    if (head.toString('latin1', at, nameEnd) === 'dataWindow' && size === 16 && value + 16 <= head.length) {
      const edge = (index: number) => head.readInt32LE(value + index * 4);
      checkShape(edge(2) - edge(0) + 1, edge(3) - edge(1) + 1, MOST_PIXELS);
      return;
    }
    at = value + size;
  }
  throw new BrokenFile(sentence('it has no pixels'));
}

/** The value of every half-precision float. */
function halfFloats(): Float32Array {
  return Float32Array.from({ length: 65_536 }, (_, half) => {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
  });
}

const RGBA = 1023;
const HALF_FLOAT = 1016;

/** Makes a tone-mapped picture of the data window of an OpenEXR file. */
export const exr: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    checkHeader(source);
    const file = readAll(source, MOST_BYTES);
    const { default: parseExr } = await loadLibrary('parse-exr', () => import('parse-exr'));
    const { width, height, data, format } = parseExr(
      // Copies the bytes to their own buffer, because the parser reads from the start of the underlying buffer.
      Uint8Array.from(file).buffer,
      HALF_FLOAT,
    );
    checkShape(width, height, MOST_PIXELS);
    const channels = format === RGBA ? 4 : 1;
    if (data.length < width * height * channels) throw new BrokenFile(sentence('it ends too early'));
    const numbers = halfFloats();
    const sample = (index: number) => numbers[data[index] ?? 0] ?? 0;
    const light = (pixel: number): [number, number, number] => {
      const at = pixel * channels;
      return channels === 1
        ? [sample(at), sample(at), sample(at)]
        : [sample(at), sample(at + 1), sample(at + 2)];
    };
    const tone = toneOf(width * height, light);
    const rows = function* () {
      // The parser returns the bottom row first.
      for (let row = height - 1; row >= 0; row -= 1) {
        const band = new Uint8Array(width * 3);
        for (let x = 0; x < width; x += 1) toneMap(tone, light(row * width + x), band, x * 3);
        yield band;
      }
    };
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    writeTiff(picture.path, { width, height, model: 'rgb' }, rows());
    return { picture, facts: { hdr: true } };
  });
