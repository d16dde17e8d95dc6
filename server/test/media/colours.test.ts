import { readFile, writeFile } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { makeTiles } from '../../src/media/tiles/make.ts';
import { uint32 } from './binary.ts';
import { stored } from './picture-files.ts';
import { type Chunk, withChunks } from './png-chunks.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

/** Returns the colour in the middle of the preview. */
const shown = async (bytes: Uint8Array) => colourAt(pictureOf(await studio.render(bytes)).path);

const plain = ([red = 0, green = 0, blue = 0]: readonly number[]) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: { r: red, g: green, b: blue } } });

/** The path of an ICC profile of Adobe RGB (1998): its primaries under D50, and its curve. */
async function adobeRgb(): Promise<string> {
  const xyz = (...values: number[]) => {
    const bytes = Buffer.alloc(20);
    bytes.write('XYZ ', 'latin1');
    for (const [index, value] of values.entries())
      bytes.writeInt32BE(Math.round(value * 65_536), 8 + index * 4);
    return bytes;
  };
  const white = xyz(0.9642, 1, 0.8249);
  const curve = Buffer.from('curv\0\0\0\0\0\0\0\x01\x02\x33\0\0', 'latin1');
  const name = Buffer.alloc(100);
  name.write('desc\0\0\0\0\0\0\0\x06Adobe\0', 'latin1');
  const tags: [string, Buffer][] = [
    ['desc', name],
    ['cprt', Buffer.from('text\0\0\0\0none\0\0\0\0', 'latin1')],
    ['wtpt', white],
    ['rXYZ', xyz(0.60974, 0.31111, 0.01947)],
    ['gXYZ', xyz(0.20528, 0.62567, 0.06087)],
    ['bXYZ', xyz(0.14919, 0.06322, 0.74457)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const head = Buffer.alloc(132 + tags.length * 12);
  head.writeUInt32BE(0x02100000, 8);
  head.write('mntrRGB XYZ ', 12, 'latin1');
  head.write('acsp', 36, 'latin1');
  white.copy(head, 68, 8);
  head.writeUInt32BE(tags.length, 128);
  let end = head.length;
  for (const [index, [tag, data]] of tags.entries()) {
    head.write(tag, 132 + index * 12, 'latin1');
    head.writeUInt32BE(end, 136 + index * 12);
    head.writeUInt32BE(data.length, 140 + index * 12);
    end += data.length;
  }
  head.writeUInt32BE(end, 0);
  const { path } = await studio.place(Buffer.alloc(0));
  await writeFile(path, Buffer.concat([head, ...tags.map(([, data]) => data)]));
  return path;
}

// MEDIA-10
describe('colours of a preview', () => {
  test.each([[220, 10, 10]])('are those of a picture in Display P3 (%i, %i, %i)', async (...colour) => {
    const wide = await plain(colour).withIccProfile('p3').png().toBuffer();
    const numbers = await sharp(wide).keepIccProfile().raw().toBuffer();
    expect([...numbers.subarray(0, 3)]).not.toEqual(colour);
    expectColour(await shown(wide), colour, 5);
  });

  test('are those of a picture in Adobe RGB', async () => {
    const colour = [150, 100, 80];
    const wide = await plain(colour)
      .withIccProfile(await adobeRgb())
      .tiff({ compression: 'lzw' })
      .toBuffer();
    // Both have the same red and blue primaries; only the amount of green differs.
    const light = (level: number) => ((level / 255 + 0.055) / 1.055) ** 2.4;
    const [red, green, blue] = colour.map(light) as [number, number, number];
    const due = [0.71513 * red + 0.28487 * green, green, 0.04116 * green + 0.95884 * blue].map(
      (value) => 255 * value ** (1 / 2.199),
    );
    const numbers = await sharp(wide).keepIccProfile().raw().toBuffer();
    expectColour([...numbers.subarray(0, 3)], due, 3);
    expectColour(await shown(wide), colour, 5);
  });

  test.each([
    ['16 bits a sample in a PNG', 5, (picture: Sharp) => picture.toColourspace('rgb16').png()],
    [
      '16 bits a sample in a TIFF',
      5,
      (picture: Sharp) => picture.toColourspace('rgb16').tiff({ compression: 'lzw' }),
    ],
    // The built-in profile of libvips does not restore exactly the same colour.
    ['the inks of a JPEG with its profile', 30, (picture: Sharp) => picture.withIccProfile('cmyk').jpeg()],
    ['the inks of a JPEG without one', 30, (picture: Sharp) => picture.toColourspace('cmyk').jpeg()],
    ['the inks of a TIFF with its profile', 30, (picture: Sharp) => picture.withIccProfile('cmyk').tiff()],
  ])('are those of %s', async (_, tolerance, encode) => {
    const bytes = await encode(plain([180, 60, 50])).toBuffer();
    const { space, depth } = await sharp(bytes).metadata();
    expect(tolerance === 5 ? depth : space).toBe(tolerance === 5 ? 'ushort' : 'cmyk');
    expectColour(await shown(bytes), [180, 60, 50], tolerance);
  });
});

/** A PNG of one colour with these chunks. */
async function described(colour: readonly number[], ...chunks: Chunk[]): Promise<Uint8Array> {
  return withChunks(await plain(colour).png().toBuffer(), ...chunks);
}

/** An AVIF of one colour with these code points. */
async function named(colour: readonly number[], primaries: number, transfer: number): Promise<Uint8Array> {
  const bytes = await plain(colour).avif({ lossless: true, chromaSubsampling: '4:4:4' }).toBuffer();
  const at = bytes.indexOf('nclx') + 4;
  bytes.writeUInt16BE(primaries, at);
  bytes.writeUInt16BE(transfer, at + 2);
  return bytes;
}

const points = (primaries: number, transfer: number): Chunk => [
  'cICP',
  Uint8Array.of(primaries, transfer, 0, 1),
];
const p3 = uint32(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6000);
const green = [60, 200, 90];

// MEDIA-34. The colours due are those of Chromium 153.
describe('colours that are described otherwise than by a profile', () => {
  test.each<[string, readonly number[], Chunk[]]>([
    ['Display P3', [0, 203, 73], [points(12, 13)]],
    ['BT.2020', [0, 210, 67], [points(9, 13)]],
    ['BT.2020 with its own curve', [0, 208, 53], [points(9, 14)]],
    ['DCI P3', [0, 204, 52], [points(11, 17)]],
    ['BT.601', [68, 194, 80], [points(6, 6)]],
    ['linear light', [133, 229, 160], [points(1, 8)]],
    ['PQ', [11, 255, 33], [points(1, 16)]],
    ['HLG', [0, 208, 44], [points(9, 18)]],
    ['unknown code points', green, [points(3, 13)]],
    ['code points before a gamma', green, [points(1, 13), ['gAMA', uint32(100_000)]]],
    ['a gamma', [133, 229, 160], [['gAMA', uint32(100_000)]]],
    ['a gamma of 1.8', [77, 210, 109], [['gAMA', uint32(55_556)]]],
    ['the gamma of most PNGs', green, [['gAMA', uint32(45_455)]]],
    [
      'a gamma and chromaticities',
      [0, 205, 72],
      [
        ['cHRM', p3],
        ['gAMA', uint32(45_455)],
      ],
    ],
    ['chromaticities alone', green, [['cHRM', p3]]],
    [
      'sRGB before a gamma',
      green,
      [
        ['sRGB', Uint8Array.of(0)],
        ['gAMA', uint32(100_000)],
      ],
    ],
  ])('of a PNG are those that a browser shows: %s', async (_, due, chunks) => {
    expectColour(await shown(await described(green, ...chunks)), due, 3);
  });

  test('of a PNG keep its transparency and its depth', async () => {
    const deep = await plain(green).ensureAlpha(0.5).toColourspace('rgb16').png().toBuffer();
    expect((await sharp(deep).metadata()).depth).toBe('ushort');
    expectColour(await shown(withChunks(deep, points(12, 13))), [0, 203, 73, 128], 3);
    const grey = await plain([100, 100, 100]).toColourspace('b-w').png().toBuffer();
    expectColour(await shown(withChunks(grey, ['gAMA', uint32(100_000)])), [168, 168, 168], 3);
  });

  test.each<[string, readonly number[], number, number]>([
    ['Display P3', [0, 203, 74], 12, 13],
    ['Display P3 with the curve of films', [0, 203, 74], 12, 1],
    ['BT.2020', [0, 210, 68], 9, 14],
    ['PQ', [0, 255, 0], 9, 16],
    ['HLG', [0, 208, 44], 9, 18],
    ['unspecified', green, 2, 2],
  ])('of an AVIF are those that a browser shows: %s', async (_, due, primaries, transfer) => {
    expectColour(await shown(await named(green, primaries, transfer)), due, 4);
  });

  test('of high dynamic range keep diffuse white at half of the light, and all highlights below white', async () => {
    const grey = async (level: number) =>
      (await shown(await described([level, level, level], points(9, 16))))[0] ?? 0;
    const levels = [await grey(64), await grey(128), await grey(160), await grey(176), await grey(230)];
    expectColour(levels, [30, 132, 213, 237, 255], 3);
  });

  test('of a HEIC are converted', async () => {
    const { path } = pictureOf(await studio.render(await stored('code-points-p3.heic')));
    expectColour(await colourAt(path), [0, 203, 74], 4);
    expectColour(await colourAt(path, 0.1, 0.1), [219, 41, 23], 4);
  });

  test('are those of the tiles, too', async () => {
    const { path, outDir } = await studio.place(await described(green, points(12, 13)));
    const tiles = await makeTiles({ path, mime: 'image/png' }, outDir);
    if (typeof tiles === 'string') throw new Error(tiles);
    const pack = await readFile(tiles.path);
    expectColour(
      await colourAt(pack.subarray(pack.lastIndexOf(Buffer.from([0xff, 0xd8, 0xff])))),
      [0, 203, 73],
    );
  });
});

describe('a TIFF of several pages', () => {
  test('shows its first page, counts all, and has a rendition of each', async () => {
    const pages = [
      [220, 10, 10],
      [10, 10, 220],
      [10, 160, 10],
    ];
    const frames = await Promise.all(pages.map((colour) => plain(colour).png().toBuffer()));
    const document = sharp(frames, { join: { animated: true } }).tiff({ compression: 'lzw' });
    const made = await studio.render(await document.toBuffer());
    expect(made).toMatchObject({
      facts: { page_count: 3 },
      ladder: { outcome: 'rendered', width: 64, height: 48 },
      extras: [{ key: 'page-1' }, { key: 'page-2' }, { key: 'page-3' }],
    });
    expectColour(await colourAt(pictureOf(made).path), [220, 10, 10], 5);
    for (const [index, colour] of pages.entries())
      expectColour(await colourAt(made.extras[index]?.path), colour, 5);
  });

  test('is not one with smaller copies of its picture', async () => {
    const pyramid = plain([220, 10, 10])
      .resize(512, 384)
      .tiff({ pyramid: true, tile: true, tileWidth: 128, tileHeight: 128 });
    const { facts, extras } = await studio.render(await pyramid.toBuffer());
    expect([facts, extras]).toEqual([{}, []]);
  });
});
