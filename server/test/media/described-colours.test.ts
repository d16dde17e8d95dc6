import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { type Bytes, fileOf, numbers } from './binary.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();
const shown = async (bytes: Uint8Array) => colourAt(pictureOf(await studio.render(bytes)).path);

const due = [150, 100, 80];
/** Those of `due` in Adobe RGB: its red and blue are those of sRGB, its green differs. */
const adobe = (() => {
  const [red = 0, green = 0, blue = 0] = due.map((level) => ((level / 255 + 0.055) / 1.055) ** 2.4);
  const light = [0.71513 * red + 0.28487 * green, green, 0.04116 * green + 0.95884 * blue];
  return light.map((value) => Math.round(255 * value ** (256 / 563)));
})();

const plain = ([r = 0, g = 0, b = 0]: readonly number[]) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: { r, g, b } } });

interface Entry {
  tag: number;
  type: 2 | 3 | 4 | 5;
  values: readonly number[];
}

const width = { 2: 1, 3: 2, 4: 4, 5: 8 } as const;

/** A little-endian directory at this offset, with its values behind it. */
function directory(at: number, entries: readonly Entry[]): Buffer {
  let end = at + 2 + entries.length * 12 + 4;
  const later: Buffer[] = [];
  const lines = entries.map(({ tag, type, values }) => {
    const data = Buffer.concat(
      values.map((value) => {
        if (type === 5) return numbers('ii', Math.round(value * 100_000), 100_000);
        return type === 4 ? numbers('i', value) : type === 3 ? numbers('h', value) : numbers('B', value);
      }),
    );
    const count = data.length / width[type];
    const head = numbers('hhi', tag, type, count);
    if (data.length <= 4) return Buffer.concat([head, data, Buffer.alloc(4 - data.length)]);
    const place = numbers('i', end);
    later.push(data);
    end += data.length;
    return Buffer.concat([head, place]);
  });
  return Buffer.concat([numbers('h', entries.length), ...lines, Buffer.alloc(4), ...later]);
}

const ascii = (text: string) => [...Buffer.from(`${text}\0`)];

/** A JPEG with this colour space in its EXIF. */
async function tagged(
  colour: readonly number[],
  { space, rule, primaries }: { space?: number; rule?: string; primaries?: readonly number[] },
  profile?: string,
): Promise<Bytes> {
  const picture = plain(colour).jpeg({ quality: 100, chromaSubsampling: '4:4:4' });
  const jpeg = await (profile === undefined ? picture : picture.withIccProfile(profile)).toBuffer();
  const first: Entry[] = [
    ...(primaries === undefined ? [] : [{ tag: 319, type: 5 as const, values: primaries }]),
    { tag: 34_665, type: 4, values: [200] },
  ];
  const exif: Entry[] = [
    ...(space === undefined ? [] : [{ tag: 40_961, type: 3 as const, values: [space] }]),
    ...(rule === undefined ? [] : [{ tag: 40_965, type: 4 as const, values: [400] }]),
  ];
  const tiff = Buffer.alloc(450);
  Buffer.from('II*\0\x08\0\0\0', 'latin1').copy(tiff);
  directory(8, first).copy(tiff, 8);
  directory(200, exif).copy(tiff, 200);
  if (rule !== undefined) directory(400, [{ tag: 1, type: 2, values: ascii(rule) }]).copy(tiff, 400);
  const segment = numbers('HH', 0xffe1, tiff.length + 8);
  return fileOf(jpeg.subarray(0, 2), segment, 'Exif\0\0', tiff, jpeg.subarray(2));
}

const p3 = [0.68, 0.32, 0.265, 0.69, 0.15, 0.06];

// MEDIA-50
describe('the colours of a JPEG', () => {
  test.each([
    ['R03 in its EXIF', { space: 65_535, rule: 'R03' }],
    ['R03 only', { rule: 'R03' }],
    ['2 as its colour space', { space: 2 }],
  ])('with %s are Adobe RGB', async (_, described) => {
    expectColour(await shown(await tagged(adobe, described)), due, 3);
  });

  test.each([
    ['sRGB in its EXIF', { space: 1, rule: 'R98' }],
    ['sRGB that contradicts R03', { space: 1, rule: 'R03' }],
    ['no description', {}],
    ['an uncalibrated space', { space: 65_535 }],
  ])('with %s are kept', async (_, described) => {
    expectColour(await shown(await tagged(due, described)), due, 3);
  });

  test('with chromaticities are converted', async () => {
    const found = await shown(await tagged([60, 200, 90], { space: 65_535, primaries: p3 }));
    expectColour(found, [0, 205, 72], 4);
  });

  test('with a profile are those of the profile', async () => {
    expectColour(await shown(await tagged(due, { rule: 'R03' }, 'srgb')), due, 3);
  });

  test('survive a damaged description', async () => {
    const bytes = await tagged(due, { rule: 'R03' });
    bytes.fill(0xff, 24, 60);
    expectColour(await shown(bytes), due, 3);
  });
});

/** An uncompressed TIFF of 8 x 8 pixels with these tags. */
function tiff(colour: readonly number[], tags: readonly Entry[]): Bytes {
  const pixels = Buffer.concat(Array.from({ length: 64 }, () => Buffer.from(colour)));
  const at = 8 + pixels.length;
  const entries: Entry[] = [
    { tag: 256, type: 3, values: [8] },
    { tag: 257, type: 3, values: [8] },
    { tag: 258, type: 3, values: [8, 8, 8] },
    { tag: 259, type: 3, values: [1] },
    { tag: 262, type: 3, values: [2] },
    { tag: 273, type: 4, values: [8] },
    { tag: 277, type: 3, values: [3] },
    { tag: 278, type: 3, values: [8] },
    { tag: 279, type: 4, values: [pixels.length] },
    ...tags,
  ];
  return fileOf('II*\0', numbers('i', at), pixels, directory(at, entries));
}

// MEDIA-50
describe('the colours of a TIFF', () => {
  test.each<[string, readonly number[], readonly Entry[]]>([
    ['with chromaticities', [0, 205, 72], [{ tag: 319, type: 5, values: p3 }]],
    [
      'with those of sRGB',
      [60, 200, 90],
      [{ tag: 319, type: 5, values: [0.64, 0.33, 0.3, 0.6, 0.15, 0.06] }],
    ],
    [
      'with a transfer function of linear light',
      [133, 229, 160],
      [{ tag: 301, type: 3, values: Array.from({ length: 256 }, (_, level) => level * 257) }],
    ],
    ['without a description', [60, 200, 90], []],
  ])('%s are converted', async (_, colour, tags) => {
    expectColour(await shown(tiff([60, 200, 90], tags)), colour, 4);
  });
});

/** A bitmap of 8 x 8 pixels with a header of 108 bytes that describes these primaries and exponent. */
function described(colour: readonly number[], xyz: readonly number[], gamma: number): Bytes {
  const header = Buffer.alloc(108);
  header.writeUInt32LE(108);
  header.writeInt32LE(8, 4);
  header.writeInt32LE(8, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(24, 14);
  for (const [index, value] of xyz.entries())
    header.writeInt32LE(Math.round(value * 2 ** 30), 60 + index * 4);
  for (const at of [96, 100, 104]) header.writeUInt32LE(Math.round(gamma * 65_536), at);
  const pixels = Buffer.concat(Array.from({ length: 64 }, () => Buffer.from(colour.toReversed())));
  return fileOf('BM', numbers('ihhi', 122 + pixels.length, 0, 0, 122), header, pixels);
}

// MEDIA-50
test('the colours of a bitmap are those of its end points and exponent', async () => {
  const wide = [0.4866, 0.229, 0, 0.2657, 0.6917, 0.0451, 0.1982, 0.0793, 1.0439];
  expectColour(await shown(described([60, 200, 90], wide, 2.2)), [0, 205, 72], 4);
  expectColour(await shown(described([60, 200, 90], [0, 0, 0], 0)), [60, 200, 90], 1);
  expect(adobe).not.toEqual(due);
});
