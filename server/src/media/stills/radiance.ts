import { join } from 'node:path';
import { sentence } from '../../platform/language/sentence.ts';
import { checkShape, readAll, withSource } from '../source.ts';
import { BrokenFile, damagedHeader, damagedPixels, type StillMaker, unreadablePixels } from '../still.ts';
import { writeTiff } from './tiff-writer.ts';
import { toneMap, toneOf } from './tone.ts';

/** Size limit: the file and four bytes per pixel are held in memory. */
const MOST_BYTES = 512 * 1024 ** 2;
const MOST_PIXELS = 200_000_000;

/** Larger than any header. */
const HEADER_BYTES = 64 * 1024;

interface Header {
  width: number;
  height: number;
  /** Whether rows run from bottom to top, and pixels from right to left. */
  upward: boolean;
  leftward: boolean;
  pixelsAt: number;
}

function readHeader(file: Buffer): Header {
  const text = file.toString('latin1', 0, HEADER_BYTES);
  const found = /\n\n([-+])Y (\d{1,9}) ([-+])X (\d{1,9})\n/.exec(text);
  if (found === null) {
    if (/\n\n[-+]X \d+ [-+]Y \d+\n/.test(text)) throw unreadablePixels('by column');
    throw damagedHeader('it does not end');
  }
  const [whole, y, height, x, width] = found;
  if (/^FORMAT=(?!32-bit_rle_rgbe\s*$)/m.test(text.slice(0, found.index))) {
    throw unreadablePixels('unknown colours');
  }
  const shape = { width: Number(width), height: Number(height) };
  checkShape(shape.width, shape.height, MOST_PIXELS);
  return { ...shape, upward: y === '+', leftward: x === '-', pixelsAt: found.index + whole.length };
}

/** Returns the pixels as red, green, blue and their common exponent, in file order. */
function readPixels(file: Buffer, { width, height, pixelsAt }: Header): Buffer {
  const pixels = Buffer.alloc(width * height * 4);
  let at = pixelsAt;
  const next = () => {
    const byte = file[at];
    if (byte === undefined) throw new BrokenFile(sentence('it ends too early'));
    at += 1;
    return byte;
  };
  /** Decodes a row whose four components are stored one after another with run-length encoding. */
  const readPlanes = (row: number) => {
    for (let component = 0; component < 4; component += 1) {
      for (let x = 0; x < width; ) {
        const count = next();
        const isRun = count > 128;
        const length = isRun ? count - 128 : count;
        if (length === 0 || x + length > width) throw damagedPixels('a row is too long');
        const value = isRun ? next() : 0;
        for (let index = 0; index < length; index += 1) {
          pixels[row + (x + index) * 4 + component] = isRun ? value : next();
        }
        x += length;
      }
    }
  };
  /** Decodes a row of pixels in which 1, 1, 1 repeats the previous pixel. */
  const readFlat = (row: number) => {
    let shift = 0;
    for (let x = 0; x < width; ) {
      const to = row + x * 4;
      for (let component = 0; component < 4; component += 1) pixels[to + component] = next();
      const repeats = pixels[to] === 1 && pixels[to + 1] === 1 && pixels[to + 2] === 1;
      if (!repeats || to < 4) {
        shift = 0;
        x += 1;
        continue;
      }
      const length = (pixels[to + 3] ?? 0) * 2 ** shift;
      if (x + length > width) throw damagedPixels('a row is too long');
      for (let index = 0; index < length; index += 1) pixels.copy(pixels, to + index * 4, to - 4, to);
      x += length;
      shift += 8;
      if (shift > 24) throw damagedPixels('a row is too long');
    }
  };
  for (let y = 0; y < height; y += 1) {
    const isPlanes =
      width >= 8 &&
      width < 32_768 &&
      file[at] === 2 &&
      file[at + 1] === 2 &&
      ((file[at + 2] ?? 0) << 8) + (file[at + 3] ?? 0) === width;
    if (!isPlanes) {
      readFlat(y * width * 4);
      continue;
    }
    at += 4;
    readPlanes(y * width * 4);
  }
  return pixels;
}

/** Makes a tone-mapped picture of a Radiance file (`.hdr`). */
export const radiance: StillMaker = ({ path }, outDir) =>
  withSource(path, (source) => {
    readHeader(source.readUpTo(0, HEADER_BYTES));
    const file = readAll(source, MOST_BYTES);
    const header = readHeader(file);
    const { width, height, upward, leftward } = header;
    const pixels = readPixels(file, header);
    const light = (pixel: number): [number, number, number] => {
      const at = pixel * 4;
      const exponent = pixels[at + 3] ?? 0;
      const scale = exponent === 0 ? 0 : 2 ** (exponent - 136);
      return [(pixels[at] ?? 0) * scale, (pixels[at + 1] ?? 0) * scale, (pixels[at + 2] ?? 0) * scale];
    };
    const tone = toneOf(width * height, light);
    const rows = function* () {
      for (let y = 0; y < height; y += 1) {
        const row = (upward ? height - 1 - y : y) * width;
        const band = new Uint8Array(width * 3);
        for (let x = 0; x < width; x += 1) {
          toneMap(tone, light(row + (leftward ? width - 1 - x : x)), band, x * 3);
        }
        yield band;
      }
    };
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    writeTiff(picture.path, { width, height, model: 'rgb' }, rows());
    return { picture, facts: { hdr: true } };
  });
