import { writeFile } from 'node:fs/promises';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
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
