import { deflateSync, zstdCompressSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { fileOf, numbers } from './binary.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

interface TiffOptions {
  bits: number;
  samples?: number;
  photometric?: number;
  /** 1 unsigned, 2 signed, 3 float. */
  format?: number;
  compression?: number;
  predictor?: number;
  planar?: boolean;
  orientation?: number;
  extra?: number;
  palette?: readonly number[];
  /** Strips or tiles, already packed. */
  parts: readonly Uint8Array[];
  /** Edge of the tiles; strips otherwise. */
  tile?: number;
}

const WIDTH = 8;
const HEIGHT = 6;

/** A little-endian TIFF of 8 x 6 pixels. */
function tiffOf(options: TiffOptions): Uint8Array {
  const { bits, samples = 1, photometric = 1, format = 1, compression = 1, predictor = 1 } = options;
  const { parts, tile, planar = false, orientation = 1, extra, palette } = options;
  const dataAt = 1024 + (palette?.length ?? 0) * 2;
  const offsets = parts.map(
    (_, index) => dataAt + parts.slice(0, index).reduce((sum, one) => sum + one.length, 0),
  );
  const values = new Map<number, readonly number[]>([
    [256, [WIDTH]],
    [257, [HEIGHT]],
    [258, Array.from({ length: samples }, () => bits)],
    [259, [compression]],
    [262, [photometric]],
    [274, [orientation]],
    [277, [samples]],
    [284, [planar ? 2 : 1]],
    [317, [predictor]],
    [339, Array.from({ length: samples }, () => format)],
    ...(extra === undefined ? [] : [[338, [extra]] as const]),
    ...(palette === undefined ? [] : [[320, palette] as const]),
    ...(tile === undefined
      ? ([
          [273, offsets],
          [278, [HEIGHT]],
          [279, parts.map(({ length }) => length)],
        ] as const)
      : ([
          [322, [tile]],
          [323, [tile]],
          [324, offsets],
          [325, parts.map(({ length }) => length)],
        ] as const)),
  ]);
  const head = Buffer.alloc(dataAt);
  head.write('II*\0\x08\0\0\0', 'latin1');
  head.writeUInt16LE(values.size, 8);
  let outside = 512;
  for (const [index, [tag, list]] of [...values].sort(([a], [b]) => a - b).entries()) {
    const at = 10 + index * 12;
    const isLong = [273, 279, 324, 325].includes(tag);
    const bytes = Buffer.concat(list.map((value) => numbers(isLong ? 'i' : 'h', value)));
    head.set(numbers('hhi', tag, isLong ? 4 : 3, list.length), at);
    if (bytes.length <= 4) head.set(bytes, at + 8);
    else {
      head.writeUInt32LE(outside, at + 8);
      head.set(bytes, outside);
      outside += bytes.length;
    }
  }
  return fileOf(head, ...parts);
}

/** The samples of a pixel, repeated for a number of pixels. */
const pixels = (pixel: Uint8Array, count = WIDTH * HEIGHT) =>
  Buffer.concat(Array.from({ length: count }, () => pixel));

function floats(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
}

const shorts = (...values: number[]) => numbers('h'.repeat(values.length), ...values);
const shown = async (bytes: Uint8Array) => colourAt(pictureOf(await studio.render(bytes, 'image/tiff')).path);

/** Floats as prediction 3 stores them: the bytes of a row by significance, and then their differences. */
function predicted(values: readonly number[]): Buffer {
  const rows: Buffer[] = [];
  for (let y = 0; y < HEIGHT; y += 1) {
    const row = Buffer.alloc(WIDTH * 4);
    for (let x = 0; x < WIDTH; x += 1) {
      const float = floats(values[x] ?? 0);
      for (let byte = 0; byte < 4; byte += 1) row[byte * WIDTH + x] = float[3 - byte] ?? 0;
    }
    for (let at = row.length - 1; at > 0; at -= 1) row[at] = ((row[at] ?? 0) - (row[at - 1] ?? 0)) & 255;
    rows.push(row);
  }
  return Buffer.concat(rows);
}

const ramp = Array.from({ length: WIDTH }, (_, x) => (x === 4 ? 0.5 : x / 10));

const webp = await sharp(pixels(Buffer.from([60, 200, 90])), {
  raw: { width: WIDTH, height: HEIGHT, channels: 3 },
})
  .webp({ lossless: true })
  .toBuffer();

// MEDIA-35
describe('a TIFF that libvips does not draw', () => {
  const half = 188;
  test.each<[string, readonly number[], TiffOptions]>([
    ['grey floats', [half, half, half], { bits: 32, format: 3, parts: [pixels(floats(0.5))] }],
    [
      'grey doubles',
      [half, half, half],
      { bits: 64, format: 3, parts: [pixels(Buffer.from([0, 0, 0, 0, 0, 0, 0xe0, 0x3f]))] },
    ],
    ['half floats', [half, half, half], { bits: 16, format: 3, parts: [pixels(shorts(0x3800))] }],
    [
      'floats of 24 bits',
      [half, half, half],
      { bits: 24, format: 3, parts: [pixels(Buffer.from([0, 0, 0x3e]))] },
    ],
    [
      'floats in RGB',
      [half, 0, 255],
      { bits: 32, format: 3, samples: 3, photometric: 2, parts: [pixels(floats(0.5, 0, 1))] },
    ],
    [
      'floats in planes',
      [half, 0, 255],
      {
        bits: 32,
        format: 3,
        samples: 3,
        photometric: 2,
        planar: true,
        parts: [pixels(floats(0.5)), pixels(floats(0)), pixels(floats(1))],
      },
    ],
    [
      'floats with prediction',
      [half, half, half],
      { bits: 32, format: 3, compression: 8, predictor: 3, parts: [deflateSync(predicted(ramp))] },
    ],
    [
      'floats in tiles',
      [half, half, half],
      { bits: 32, format: 3, tile: 16, parts: [pixels(floats(0.5), 256)] },
    ],
    [
      'Lab of 8 bits',
      [60, 200, 90],
      { bits: 8, samples: 3, photometric: 8, parts: [pixels(Buffer.from([182, 200, 43]))] },
    ],
    [
      'ICC Lab',
      [60, 200, 90],
      { bits: 8, samples: 3, photometric: 9, parts: [pixels(Buffer.from([182, 72, 171]))] },
    ],
    [
      'ZSTD',
      [60, 200, 90],
      {
        bits: 8,
        samples: 3,
        photometric: 2,
        compression: 50_000,
        parts: [zstdCompressSync(pixels(Buffer.from([60, 200, 90])))],
      },
    ],
    [
      'WebP',
      [60, 200, 90],
      {
        bits: 8,
        samples: 3,
        photometric: 2,
        compression: 50_001,
        parts: [webp],
      },
    ],
    [
      'a wrong orientation',
      [60, 200, 90],
      { bits: 8, samples: 3, photometric: 2, orientation: 99, parts: [pixels(Buffer.from([60, 200, 90]))] },
    ],
  ])('is drawn: %s', async (_, due, options) => {
    expectColour(await shown(tiffOf(options)), due, 6);
  });

  test('shows the whole range of measurements', async () => {
    const heights = Array.from({ length: HEIGHT }, () => [-400, 100, 100, 100, 100, 100, 100, 600]).flat();
    const made = await studio.render(tiffOf({ bits: 32, format: 3, parts: [floats(...heights)] }));
    const { path } = pictureOf(made);
    const levels = await Promise.all([0.05, 0.5, 0.95].map(async (x) => (await colourAt(path, x))[0] ?? 0));
    expectColour(levels, [0, 128, 255], 12);
  });

  test('is ready without previews if it contains no pixels or a compression that is unknown', async () => {
    const parts = [pixels(shorts(7))];
    expect(await studio.outcomeOf(tiffOf({ bits: 16, compression: 34_887, parts }))).toMatch(
      /^unsupported: /,
    );
    const empty = Buffer.from(tiffOf({ bits: 16, compression: 50_001, parts: [new Uint8Array()] }));
    empty.writeUInt32LE(0, empty.indexOf(numbers('hhi', 273, 4, 1)) + 8);
    expect(await studio.outcomeOf(empty)).toBe('unsupported: it has no pixels');
  });

  test('is damaged if pixels are missing', async () => {
    const whole = tiffOf({ bits: 32, format: 3, parts: [pixels(floats(0.5))] });
    expect(await studio.outcomeOf(whole.slice(0, -40))).toMatch(/^broken: /);
  });
});
