import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadLibrary } from '../faults.ts';
import { checkShape, readAll, withSource } from '../source.ts';
import { damagedHeader, type StillMaker } from '../still.ts';
import { hasTransparency, rowsOfRgba } from './rgba.ts';
import { writeTiff } from './tiff-writer.ts';

/** Size limit: the decoder holds the file and sixteen bytes per pixel in memory. */
const MOST_BYTES = 256 * 1024 ** 2;
const MOST_PIXELS = 80_000_000;

/** Returns the offset of the codestream: 0, or in the first box that contains a part of it. */
function codestreamAt(file: Buffer): number {
  if (file.length >= 2 && file.readUInt16BE(0) === 0xff0a) return 0;
  for (let at = 0; at + 16 <= file.length; ) {
    const size = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const header = size === 1 ? 16 : 8;
    if (type === 'jxlc') return at + header;
    // A part starts with its number.
    if (type === 'jxlp') return at + header + 4;
    const length = size === 1 ? Number(file.readBigUInt64BE(at + 8)) : size;
    if (length < 8) break;
    at += length;
  }
  throw damagedHeader('no codestream');
}

/** Aspect ratios that a header may refer to by number. */
const ratios = [1, 12 / 10, 4 / 3, 3 / 2, 16 / 9, 5 / 4, 2];

/**
 * Checks the size that the header declares against the limit, before the decoder allocates it (ISO/IEC 18181-1,
 * SizeHeader).
 */
function checkHeader(file: Buffer): void {
  const head = file.subarray(codestreamAt(file));
  if (head.length < 12 || head.readUInt16BE(0) !== 0xff0a) throw damagedHeader('no codestream');
  let bit = 16;
  const read = (bits: number) => {
    let value = 0;
    for (let index = 0; index < bits; index += 1, bit += 1) {
      value += (((head[bit >> 3] ?? 0) >> (bit & 7)) & 1) * 2 ** index;
    }
    return value;
  };
  const small = read(1) === 1;
  const edge = () => (small ? (read(5) + 1) * 8 : read([9, 13, 18, 30][read(2)] ?? 30) + 1);
  const height = edge();
  const ratio = read(3);
  checkShape(ratio === 0 ? edge() : Math.floor(height * (ratios[ratio - 1] ?? 1)), height, MOST_PIXELS);
}

interface Decoded {
  width: number;
  height: number;
  data: Uint8ClampedArray;
}

/** The browser class that the decoder constructs and Node lacks. */
class ImageData implements Decoded {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}

async function decode(file: Buffer): Promise<Decoded> {
  const decoder = await loadLibrary('the JPEG XL decoder', async () => {
    const loaded = await import('@jsquash/jxl/decode.js');
    const wasm = fileURLToPath(import.meta.resolve('@jsquash/jxl/codec/dec/jxl_dec.wasm'));
    Object.assign(globalThis, { ImageData });
    await loaded.init(new WebAssembly.Module(await readFile(wasm)));
    return loaded.default;
  });
  return decoder(Uint8Array.from(file).buffer);
}

/** Makes a picture of the first frame of a JPEG XL file, converted to sRGB by the decoder. */
export const jxl: StillMaker = ({ path }, outDir) =>
  withSource(path, async (source) => {
    const file = readAll(source, MOST_BYTES);
    checkHeader(file);
    const { width, height, data } = await decode(file);
    checkShape(width, height, MOST_PIXELS);
    const alpha = hasTransparency(data);
    const picture = { path: join(outDir, 'still.tiff'), mime: 'image/tiff' };
    writeTiff(picture.path, { width, height, model: 'rgb', alpha }, rowsOfRgba(data, width, height, alpha));
    return { picture };
  });
