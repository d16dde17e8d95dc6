import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initializeCanvas, writePsdBuffer } from 'ag-psd';
import { type Bytes, fileOf, numbers, tiffOf } from './binary.ts';

/** Files of formats that sharp does not write. In all, the left half is red and the right half blue. */

type Colour = readonly number[];

export const RED: Colour = [220, 10, 10];
export const BLUE: Colour = [10, 10, 220];

/** A file of this repository; its README names the source. */
export async function stored(name: string): Promise<Bytes> {
  return Uint8Array.from(await readFile(join(import.meta.dirname, 'files', name)));
}

export interface BmpOptions {
  bits?: 1 | 4 | 8 | 16 | 24 | 32;
  topDown?: boolean;
  /** Run-length encoding of 8 or 4 bits. */
  runs?: boolean;
  /** Uses the header of OS/2. */
  core?: boolean;
  /** Bit fields with alpha, with the right half transparent. */
  alpha?: boolean;
}

/** The rows of a bitmap: blue, green, red, padded to words. */
function bmpRow(width: number, bits: number, alpha: boolean): Buffer {
  const row = Buffer.alloc(Math.ceil((width * bits) / 32) * 4);
  for (let x = 0; x < width; x += 1) {
    const left = x < width / 2;
    const [red = 0, green = 0, blue = 0] = left ? RED : BLUE;
    if (bits <= 8) {
      const at = (x * bits) >> 3;
      row[at] = (row[at] ?? 0) | ((left ? 1 : 0) << (8 - bits - ((x * bits) & 7)));
    } else if (bits === 16) {
      row.writeUInt16LE(((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3), x * 2);
    } else {
      row.set([blue, green, red], x * (bits / 8));
      if (bits === 32) row[x * 4 + 3] = alpha && !left ? 0 : 255;
    }
  }
  return row;
}

/** The header, palette and pixels, as in BMP and ICO files. */
function dib(width: number, height: number, options: BmpOptions & { declaredHeight?: number } = {}): Buffer {
  const { bits = 24, topDown = false, runs = false, core = false, alpha = false } = options;
  const colours = [BLUE, RED].flatMap((colour) => [...colour.toReversed(), ...(core ? [] : [0])]);
  const palette = bits > 8 ? Buffer.alloc(0) : Buffer.alloc((core ? 3 : 4) * 2 ** bits);
  palette.set(bits > 8 ? [] : colours);
  const compression = alpha ? 6 : runs ? (bits === 8 ? 1 : 2) : 0;
  const declared = options.declaredHeight ?? (topDown ? -height : height);
  const header = core
    ? numbers('ihhhh', 12, width, declared, 1, bits)
    : numbers('iiihhiiiiii', 40, width, declared, 1, bits, compression, 0, 0, 0, 0, 0);
  const masks = alpha ? numbers('iiii', 0xff0000, 0xff00, 0xff, 0xff000000) : Buffer.alloc(0);
  const half = width / 2;
  const packedRow = bits === 8 ? [half, 1, half, 0, 0, 0] : [half, 0x11, half, 0x00, 0, 0];
  const row = runs ? Buffer.from(packedRow) : bmpRow(width, bits, alpha);
  const rows = Array.from({ length: height }, () => row);
  return Buffer.concat([header, masks, palette, ...rows, ...(runs ? [Buffer.from([0, 1])] : [])]);
}

export function bmp(width: number, height: number, options: BmpOptions = {}): Bytes {
  const body = dib(width, height, options);
  const { bits = 24, core = false, alpha = false } = options;
  const paletteBytes = bits > 8 ? 0 : (core ? 3 : 4) * 2 ** bits;
  const pixelsAt = 14 + (core ? 12 : 40) + (alpha ? 16 : 0) + paletteBytes;
  return fileOf('BM', numbers('ihhi', 14 + body.length, 0, 0, pixelsAt), body);
}

/** A BMP of a few bytes that claims this many pixels. */
export function bmpBomb(): Bytes {
  const body = dib(60_000, 1, { declaredHeight: 60_000, bits: 1 });
  return fileOf('BM', numbers('ihhi', 100, 0, 0, 54), body.subarray(0, 80));
}

/** An icon with a bitmap whose mask hides its upper half, and a smaller one. */
export function ico(side: number): Bytes {
  const mask = Buffer.concat(
    Array.from({ length: side }, (_, row) =>
      Buffer.alloc(Math.ceil(side / 32) * 4, row < side / 2 ? 0 : 255),
    ),
  );
  const body = Buffer.concat([dib(side, side, { declaredHeight: side * 2 }), mask]);
  const entry = (edge: number) => numbers('BBBBhhii', edge, edge, 0, 0, 1, 24, body.length, 6 + 32);
  return fileOf(numbers('hhh', 0, 1, 2), entry(16), entry(side), body);
}

const psdModes = { grey: 1, rgb: 3, cmyk: 4, lab: 9 } as const;

export interface PsdOptions {
  mode?: keyof typeof psdModes;
  bits?: 8 | 16;
  psb?: boolean;
  /** The left and the right half, as many numbers from 0 to 255 as the mode has channels. */
  halves?: [Colour, Colour];
  /** The size that the header claims; the data does not have it. */
  declared?: { width: number; height: number };
  /** The JPEG of a document that was saved without its composite. */
  thumbnail?: Buffer;
  profile?: Buffer;
}

function resource(id: number, data: Uint8Array): Bytes {
  return fileOf('8BIM', numbers('HHI', id, 0, data.length), data, Buffer.alloc(data.length & 1));
}

/** A Photoshop document with an uncompressed composite. */
export function psd(width: number, height: number, options: PsdOptions = {}): Bytes {
  const { mode = 'rgb', bits = 8, psb = false, halves = [RED, BLUE], declared = { width, height } } = options;
  const channels = halves[0].length;
  const planes = Array.from({ length: channels }, (_, channel) => {
    const row = Buffer.alloc((width * bits) / 8);
    for (let x = 0; x < width; x += 1) {
      const value = halves[x < width / 2 ? 0 : 1][channel] ?? 0;
      if (bits === 8) row[x] = value;
      else row.writeUInt16BE(value * 257, x * 2);
    }
    return Buffer.concat(Array.from({ length: height }, () => row));
  });
  const { thumbnail, profile } = options;
  const extras: Bytes[] = [];
  if (profile !== undefined) extras.push(resource(1039, profile));
  if (thumbnail !== undefined) {
    const head = numbers('IIIIIIHH', 1, 8, 8, 24, 192, thumbnail.length, 24, 1);
    extras.push(resource(1057, numbers('IBIII', 1, 0, 0, 0, 1)), resource(1036, fileOf(head, thumbnail)));
  }
  const resources = fileOf(...extras);
  return fileOf(
    '8BPS',
    numbers('HIHHIIHH', psb ? 2 : 1, 0, 0, channels, declared.height, declared.width, bits, psdModes[mode]),
    numbers('I', 0),
    numbers('I', resources.length),
    resources,
    numbers(psb ? 'Q' : 'I', 0),
    numbers('H', 0),
    ...planes,
  );
}

/** A document with a layer and run-length encoded rows, written by another library. */
export function layeredPsd(width: number, height: number): Bytes {
  const createData = (columns: number, rows: number) => ({
    width: columns,
    height: rows,
    data: new Uint8ClampedArray(columns * rows * 4),
    colorSpace: 'srgb' as const,
  });
  const noCanvas = () => {
    throw new Error('there is no canvas in Node');
  };
  initializeCanvas(noCanvas, createData);
  const imageData = createData(width, height);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    imageData.data.set([...(pixel % width < width / 2 ? RED : BLUE), 255], pixel * 4);
  }
  const layer = { name: 'layer', imageData };
  return Uint8Array.from(writePsdBuffer({ width, height, imageData, children: [layer] }));
}

/** Converts a number from 0 to 65,504 to a half float, truncated. */
function half(value: number): number {
  if (value < 2 ** -14) return Math.floor(value * 2 ** 24);
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | Math.floor((value / 2 ** exponent - 1) * 1024);
}

function attribute(name: string, type: string, value: Uint8Array): Bytes {
  return fileOf(`${name}\0${type}\0`, numbers('i', value.length), value);
}

interface LightOptions {
  halves: [Colour, Colour];
  /** The size that the header claims. */
  declared?: { width: number; height: number };
}

/** Uncompressed OpenEXR of half floats: linear light, scaled by this multiple of a screen's white. */
export function exr(
  width: number,
  height: number,
  { halves, declared = { width, height } }: LightOptions,
): Bytes {
  const window = numbers('iiii', 0, 0, declared.width - 1, declared.height - 1);
  const channel = (name: string) => fileOf(`${name}\0`, numbers('iiii', 1, 0, 1, 1));
  const float = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
  const head = fileOf(
    numbers('ii', 20_000_630, 2),
    attribute('channels', 'chlist', fileOf(...['B', 'G', 'R'].map(channel), '\0')),
    attribute('compression', 'compression', Buffer.from([0])),
    attribute('dataWindow', 'box2i', window),
    attribute('displayWindow', 'box2i', window),
    attribute('lineOrder', 'lineOrder', Buffer.from([0])),
    attribute('pixelAspectRatio', 'float', float(1)),
    attribute('screenWindowCenter', 'v2f', float(0, 0)),
    attribute('screenWindowWidth', 'float', float(1)),
    '\0',
  );
  const row = Buffer.alloc(width * 6);
  for (let x = 0; x < width; x += 1) {
    const light = halves[x < width / 2 ? 0 : 1];
    for (const [plane, sample] of [2, 1, 0].entries()) {
      row.writeUInt16LE(half(light[sample] ?? 0), (plane * width + x) * 2);
    }
  }
  const offsets = Buffer.alloc(height * 8);
  const chunks = Array.from({ length: height }, (_, y) => {
    offsets.writeBigUInt64LE(BigInt(head.length + offsets.length + y * (8 + row.length)), y * 8);
    return Buffer.concat([numbers('ii', y, row.length), row]);
  });
  return fileOf(head, offsets, ...chunks);
}

/** Radiance pictures of linear light, with plain or run-length encoded rows. */
export function radiance(
  width: number,
  height: number,
  { halves, runs = false, declared = { width, height } }: LightOptions & { runs?: boolean },
): Bytes {
  const pixel = (light: Colour) => {
    const exponent = Math.ceil(Math.log2(Math.max(...light) * (1 + 1 / 256)));
    return [
      ...light.map((level) => Math.min(255, Math.floor((level * 256) / 2 ** exponent))),
      exponent + 128,
    ];
  };
  const [left, right] = [pixel(halves[0]), pixel(halves[1])];
  const half = width / 2;
  const plain = Buffer.from(Array.from({ length: width }, (_, x) => (x < half ? left : right)).flat());
  const planes = Buffer.from([
    ...[2, 2, width >> 8, width & 255],
    ...left.flatMap((value, component) => [128 + half, value, 128 + half, right[component] ?? 0]),
  ]);
  const rows = Array.from({ length: height }, () => (runs ? planes : plain));
  return fileOf(
    `#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y ${declared.height} +X ${declared.width}\n`,
    ...rows,
  );
}

interface J2kEncoder {
  getDecodedBuffer(info: object): Uint8Array;
  setDecompositions(count: number): void;
  encode(): void;
  getEncodedBuffer(): Uint8Array;
}

/** A codestream of JPEG 2000. */
export async function j2k(width: number, height: number): Promise<Bytes> {
  const load = createRequire(import.meta.url)('@cornerstonejs/codec-openjpeg');
  const { J2KEncoder }: { J2KEncoder: new () => J2kEncoder } = await load({ print() {} });
  const encoder = new J2KEncoder();
  const info = { width, height, bitsPerSample: 8, componentCount: 3, isSigned: false };
  const samples = Array.from({ length: width * height }, (_, pixel) =>
    pixel % width < width / 2 ? RED : BLUE,
  ).flat();
  encoder.getDecodedBuffer(info).set(Uint8Array.from(samples));
  // A small picture cannot be halved as often as the encoder does by default.
  encoder.setDecompositions(2);
  encoder.encode();
  return Uint8Array.from(encoder.getEncodedBuffer());
}

/** A raw file like those of cameras: a TIFF that declares sensor data, followed by JPEGs that its tags do not name. */
export function cameraRaw(orientation: number, jpegs: readonly Uint8Array[]): Bytes {
  const sensor = tiffOf({ 256: 6000, 257: 4000, 262: 32_803, 274: orientation });
  const previews = jpegs.flatMap((jpeg) => [jpeg, Buffer.alloc(64)]);
  return fileOf(sensor, Buffer.alloc(5000, 0xff), ...previews);
}
