import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLadder } from '../../src/media/ladder.ts';
import { renderFile } from '../../src/media/render-file.ts';
import { sniff } from '../../src/media/sniff.ts';

let directory: string;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-colours-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function render(bytes: Uint8Array) {
  count += 1;
  const path = join(directory, `${count}`);
  const outDir = join(directory, `${count}-out`);
  await writeFile(path, bytes);
  await mkdir(outDir);
  const { mime } = await sniff(path);
  return renderFile({ path, mime }, defaultLadder, outDir);
}

async function colourOf(path: string | undefined): Promise<number[]> {
  const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
  const at = (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2)) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

/** Returns the colour in the middle of the preview. */
async function shown(bytes: Uint8Array): Promise<number[]> {
  const { ladder } = await render(bytes);
  if (ladder.outcome !== 'rendered') throw new Error(ladder.reason);
  return colourOf(ladder.renditions.find(({ key }) => key === 'preview')?.path);
}

function expectColour(found: readonly number[], due: readonly number[], tolerance = 5) {
  const off = due.map((level, index) => Math.abs(level - (found[index] ?? Number.NaN)));
  expect(Math.max(...off), `${found} instead of ${due}`).toBeLessThanOrEqual(tolerance);
}

const plain = ([red = 0, green = 0, blue = 0]: readonly number[]) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: { r: red, g: green, b: blue } } });

/** An ICC profile of Adobe RGB (1998): its primaries under D50, and its curve. */
function adobeRgb(): Buffer {
  const fixed = (value: number) => Math.round(value * 65_536);
  const xyz = (values: readonly number[]) => {
    const bytes = Buffer.alloc(20);
    bytes.write('XYZ ', 'latin1');
    values.forEach((value, index) => {
      bytes.writeInt32BE(fixed(value), 8 + index * 4);
    });
    return bytes;
  };
  const curve = Buffer.from('curv\0\0\0\0\0\0\0\x01\x02\x33\0\0', 'latin1');
  const name = Buffer.alloc(100);
  name.write('desc', 'latin1');
  name.writeUInt32BE(6, 8);
  name.write('Adobe\0', 12, 'latin1');
  const text = Buffer.from('text\0\0\0\0none\0\0\0\0', 'latin1');
  const tags: [string, Buffer][] = [
    ['desc', name],
    ['cprt', text],
    ['wtpt', xyz([0.9642, 1, 0.8249])],
    ['rXYZ', xyz([0.60974, 0.31111, 0.01947])],
    ['gXYZ', xyz([0.20528, 0.62567, 0.06087])],
    ['bXYZ', xyz([0.14919, 0.06322, 0.74457])],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ];
  const head = Buffer.alloc(132 + tags.length * 12);
  head.writeUInt32BE(0x02100000, 8);
  head.write('mntrRGB XYZ ', 12, 'latin1');
  head.write('acsp', 36, 'latin1');
  xyz([0.9642, 1, 0.8249]).copy(head, 68, 8);
  head.writeUInt32BE(tags.length, 128);
  let end = head.length;
  tags.forEach(([tag, data], index) => {
    head.write(tag, 132 + index * 12, 'latin1');
    head.writeUInt32BE(end, 136 + index * 12);
    head.writeUInt32BE(data.length, 140 + index * 12);
    end += data.length;
  });
  head.writeUInt32BE(end, 0);
  return Buffer.concat([head, ...tags.map(([, data]) => data)]);
}

/** The path of a file with the profile, for sharp. */
async function profileFile(): Promise<string> {
  const path = join(directory, 'adobe-rgb.icc');
  await writeFile(path, adobeRgb());
  return path;
}

describe('colours of a preview', () => {
  test.each([
    [220, 10, 10],
    [30, 160, 90],
    [120, 100, 80],
  ])('are those of a picture in Display P3 (%i, %i, %i)', async (...colour) => {
    const wide = await plain(colour).withIccProfile('p3').png().toBuffer();
    const numbers = await sharp(wide).keepIccProfile().raw().toBuffer();
    expect([...numbers.subarray(0, 3)]).not.toEqual(colour);
    expectColour(await shown(wide), colour);
  });

  test.each([
    [150, 100, 80],
    [90, 140, 100],
  ])('are those of a picture in Adobe RGB (%i, %i, %i)', async (...colour) => {
    const wide = await plain(colour)
      .withIccProfile(await profileFile())
      .tiff({ compression: 'lzw' })
      .toBuffer();
    // Both have the same red and blue primaries; only the amount of green differs.
    const light = (level: number) =>
      level <= 10.31 ? level / 3294.6 : ((level / 255 + 0.055) / 1.055) ** 2.4;
    const [red, green, blue] = colour.map(light) as [number, number, number];
    const due = [0.71513 * red + 0.28487 * green, green, 0.04116 * green + 0.95884 * blue].map(
      (value) => 255 * value ** (1 / 2.199),
    );
    const numbers = await sharp(wide).keepIccProfile().raw().toBuffer();
    expectColour([...numbers.subarray(0, 3)], due, 3);
    expectColour(await shown(wide), colour);
  });

  test.each([
    ['PNG', (picture: Sharp) => picture.toColourspace('rgb16').png()],
    ['TIFF', (picture: Sharp) => picture.toColourspace('rgb16').tiff({ compression: 'lzw' })],
  ])('are those of 16 bits a sample in a %s', async (_, encode) => {
    const bytes = await encode(plain([200, 90, 40])).toBuffer();
    expect((await sharp(bytes).metadata()).depth).toBe('ushort');
    expectColour(await shown(bytes), [200, 90, 40]);
  });

  test.each([
    ['a JPEG with its profile', (picture: Sharp) => picture.withIccProfile('cmyk').jpeg({ quality: 95 })],
    ['a JPEG without a profile', (picture: Sharp) => picture.toColourspace('cmyk').jpeg({ quality: 95 })],
    ['a TIFF with its profile', (picture: Sharp) => picture.withIccProfile('cmyk').tiff()],
    ['a TIFF without a profile', (picture: Sharp) => picture.toColourspace('cmyk').tiff()],
  ])('are those of inks: %s', async (_, encode) => {
    const bytes = await encode(plain([180, 60, 50])).toBuffer();
    const { space } = await sharp(bytes).metadata();
    expect(space).toBe('cmyk');
    // The built-in profile of libvips does not restore exactly the same colour.
    expectColour(await shown(bytes), [180, 60, 50], 30);
  });
});

describe('a TIFF of several pages', () => {
  const pages = [
    [220, 10, 10],
    [10, 10, 220],
    [10, 160, 10],
  ];
  const document = async () => {
    const frames = await Promise.all(pages.map((colour) => plain(colour).png().toBuffer()));
    return sharp(frames, { join: { animated: true } })
      .tiff({ compression: 'lzw' })
      .toBuffer();
  };

  test('shows its first page, counts all, and has a rendition of each', async () => {
    const bytes = await document();
    expectColour(await shown(bytes), [220, 10, 10]);
    const { facts, extras, ladder } = await render(bytes);
    expect(facts).toEqual({ page_count: 3 });
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 64, height: 48 });
    expect(extras.map(({ key }) => key)).toEqual(['page-1', 'page-2', 'page-3']);
    for (const [index, colour] of pages.entries()) expectColour(await colourOf(extras[index]?.path), colour);
  });

  test('is not one with smaller copies of its picture', async () => {
    const pyramid = await plain([220, 10, 10])
      .resize(1024, 768)
      .tiff({ pyramid: true, tile: true, tileWidth: 128, tileHeight: 128 })
      .toBuffer();
    const { facts, extras } = await render(pyramid);
    expect([facts, extras]).toEqual([{}, []]);
  });
});
