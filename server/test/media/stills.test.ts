import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { jpeg } from '../support/pictures.ts';
import { box } from './binary.ts';
import {
  BLUE,
  bmp,
  bmpBomb,
  cameraRaw,
  exr,
  ico,
  j2k,
  layeredPsd,
  psd,
  RED,
  radiance,
  stored,
} from './picture-files.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

/** Returns type and size of a picture, and its colours in the middle of the left and right halves. */
async function shown(bytes: Uint8Array, y = 0.5) {
  const made = await studio.decode(bytes);
  const { path, width, height } = pictureOf(made);
  const [left, right] = [await colourAt(path, 0.25, y), await colourAt(path, 0.75, y)];
  return { mime: made.mime, shape: [width, height], left, right, facts: made.facts };
}

type Halves = [left: number[], right: number[]];
/** Converts a level of sRGB to linear light. */
const linear = (level: number) => ((level / 255 + 0.055) / 1.055) ** 2.4;
/** The halves as they are stored in formats of linear light. */
const lit: Halves = [RED.map(linear), BLUE.map(linear)];

/** JPEG 2000 in its container. */
function jp2(codestream: Uint8Array): Buffer {
  return Buffer.concat([
    box('jP  ', Buffer.from('\r\n\x87\n', 'latin1')),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box(
      'jp2h',
      box('ihdr', Buffer.from([0, 0, 0, 60, 0, 0, 0, 100, 0, 3, 7, 7, 0, 0])),
      box('colr', Buffer.from([1, 0, 0, 0, 0, 0, 16])),
    ),
    box('jp2c', codestream),
  ]);
}

const photoshop = 'image/vnd.adobe.photoshop';

// The left half of each is red and the right half blue.
test.each<[string, string, () => Uint8Array | Promise<Uint8Array>, number?]>([
  ['a HEIC', 'image/heic', () => stored('halves.heic')],
  ['a HEIC in Display P3', 'image/heic', () => stored('display-p3.heic')],
  ['a BMP of 24 bits', 'image/bmp', () => bmp(100, 60)],
  ['a BMP of 1 bit', 'image/bmp', () => bmp(100, 60, { bits: 1 })],
  ['a BMP of 4 bits', 'image/bmp', () => bmp(100, 60, { bits: 4 })],
  ['a BMP of 8 bits', 'image/bmp', () => bmp(100, 60, { bits: 8 })],
  ['a BMP of 16 bits', 'image/bmp', () => bmp(100, 60, { bits: 16 })],
  ['a BMP of 32 bits', 'image/bmp', () => bmp(100, 60, { bits: 32 })],
  ['a BMP with rows from top to bottom', 'image/bmp', () => bmp(100, 60, { topDown: true })],
  ['a BMP with runs of bytes', 'image/bmp', () => bmp(100, 60, { bits: 8, runs: true })],
  ['a BMP with runs of halves of bytes', 'image/bmp', () => bmp(100, 60, { bits: 4, runs: true })],
  ['a BMP with the header of OS/2', 'image/bmp', () => bmp(100, 60, { bits: 8, core: true })],
  ['a PSD', photoshop, () => psd(100, 60)],
  ['a PSD with layers and packed rows', photoshop, () => layeredPsd(100, 60)],
  ['a PSD of 16 bits', photoshop, () => psd(100, 60, { bits: 16 })],
  ['a PSD of the large kind', photoshop, () => psd(100, 60, { psb: true })],
  ['an EXR made for a screen', 'image/x-exr', () => exr(100, 60, { halves: lit })],
  ['a Radiance picture', 'image/vnd.radiance', () => radiance(100, 60, { halves: lit }), 10],
  ['one with packed rows', 'image/vnd.radiance', () => radiance(100, 60, { halves: lit, runs: true }), 10],
  ['a bare codestream of JPEG 2000', 'image/j2c', () => j2k(100, 60)],
  ['a JPEG 2000', 'image/jp2', async () => jp2(await j2k(100, 60))],
  // The encoder is lossy.
  ['a JPEG 2000 of 16 bits', 'image/jp2', () => stored('halves-16.jp2'), 16],
  ['a JPEG XL', 'image/jxl', () => stored('halves.jxl')],
])('%s is drawn in its colours', async (_, mime, make, tolerance) => {
  const picture = await shown(await make());
  // Stored files are larger than those made here.
  expect([`${mime} 100,60`, `${mime} 128,96`]).toContain(`${picture.mime} ${picture.shape}`);
  expectColour(picture.left, RED, tolerance);
  expectColour(picture.right, BLUE, tolerance);
});

test('a HEIC that contains AV1 is AVIF, regardless of its first brand', async () => {
  const picture = sharp({ create: { width: 60, height: 40, channels: 3, background: '#dc0a0a' } });
  const bytes = await picture.avif({ effort: 0 }).toBuffer();
  bytes.write('mif1', 8, 'latin1');
  expect(await shown(bytes)).toMatchObject({ mime: 'image/avif', shape: [60, 40] });
});

describe('BMP and ICO', () => {
  test('with an alpha channel has transparent pixels', async () => {
    const { left, right } = await shown(bmp(100, 60, { bits: 32, alpha: true }));
    expectColour(left, [...RED, 255]);
    expect(right[3]).toBe(0);
  });

  test('an icon shows its largest picture, transparent where the mask hides it', async () => {
    const { mime, shape, left } = await shown(ico(64), 0.75);
    expect([mime, shape]).toEqual(['image/x-icon', [64, 64]]);
    expectColour(left, [...RED, 255]);
    expect((await shown(ico(64), 0.25)).left[3]).toBe(0);
  });

  test('a text that begins with the same letters is a text', async () => {
    const { mime } = await studio.decode(Buffer.from('BMW makes cars, and this is a text about them.\n'));
    expect(mime).toBe('text/plain');
  });
});

describe('PSD', () => {
  test('in CMYK is drawn in the colours of its inks', async () => {
    // 255 means no ink.
    const halves: Halves = [
      [255, 0, 0, 255],
      [0, 0, 255, 255],
    ];
    const { left, right } = await shown(psd(100, 60, { mode: 'cmyk', halves }));
    expectColour(left, [255, 0, 0], 80);
    expectColour(right, [0, 0, 200], 100);
  });

  test.each([8, 16] as const)('in Lab of %i bits is drawn in the colours that it measures', async (bits) => {
    // CIE L*a*b* (D50) of sRGB red and white.
    const halves: Halves = [
      [Math.round(54.3 * 2.55), 128 + 81, 128 + 70],
      [255, 128, 128],
    ];
    const { left, right } = await shown(psd(100, 60, { mode: 'lab', bits, halves }));
    expectColour(left, [255, 0, 0], 16);
    expectColour(right, [255, 255, 255], 4);
  });

  test('with a wide gamut is converted to sRGB', async () => {
    const wide = sharp({ create: { width: 2, height: 2, channels: 3, background: 'rgb(220,10,10)' } });
    const png = await wide.withIccProfile('p3').png().toBuffer();
    const { icc: profile = Buffer.alloc(0) } = await sharp(png).metadata();
    const colour = [...(await sharp(png).keepIccProfile().raw().toBuffer()).subarray(0, 3)];
    expect(colour[1]).toBeGreaterThan(30);
    expectColour((await shown(psd(100, 60, { halves: [colour, colour], profile }))).left, RED);
  });

  test('that was saved without its composite shows the thumbnail that it has', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="30"><rect width="25" height="30" fill="rgb(220,10,10)"/></svg>';
    const thumbnail = await sharp(Buffer.from(svg)).jpeg().toBuffer();
    const made = await shown(psd(100, 60, { halves: [BLUE, RED], thumbnail }));
    expect(made.shape).toEqual([100, 60]);
    expectColour(made.left, RED, 20);
  });
});

describe('EXR', () => {
  test('is of high dynamic range: differences among highlights remain, and their hue', async () => {
    const halves: Halves = [
      [1.6, 0.4, 0.4],
      [4, 4, 4],
    ];
    const { left, right, facts } = await shown(exr(100, 60, { halves }));
    const [red = 0, green = 255] = left;
    expect(red - green).toBeGreaterThan(40);
    expect(right[1]).toBeGreaterThan(green);
    expect(facts).toEqual({ hdr: true });
  });

  test('in units of its own is exposed', async () => {
    const halves: Halves = [
      [0.00002, 0.00002, 0.00002],
      [0.00008, 0.00008, 0.00008],
    ];
    const { left, right } = await shown(exr(100, 60, { halves }));
    expect(left[0]).toBeGreaterThan(60);
    expect(right[0]).toBeGreaterThan((left[0] ?? 0) + 40);
  });
});

// MEDIA-22
describe('a raw file of a camera', () => {
  const small = () => jpeg(160, 120, { seed: 5 });
  const cut = async () => (await jpeg(600, 400)).slice(0, 4000);
  const nothing = { outcome: 'unsupported' };

  test.each([
    [
      'shows the largest preview that it has, turned as the camera was',
      6,
      async () => [await small(), await jpeg(600, 400), await small()],
      { width: 400, height: 600 },
    ],
    [
      'is rotated only once if its preview has its own orientation',
      6,
      async () => [await jpeg(600, 400, { orientation: 3 })],
      { width: 600, height: 400 },
    ],
    ['shows its thumbnail when it has nothing better', 1, async () => [await small()], { width: 160 }],
    ['shows nothing when it has no preview', 1, async () => [], nothing],
    ['shows nothing when its only preview is cut off', 1, async () => [await cut()], nothing],
  ])('%s', async (_, orientation, previews, due) => {
    const made = await studio.decode(cameraRaw(orientation, await previews()));
    expect(made).toMatchObject({ mime: 'image/x-dcraw', ladder: { outcome: 'rendered', ...due } });
  });
});

describe('files that cannot be drawn', () => {
  const halves: Halves = [[...RED], [...BLUE]];

  test.each<[string, () => Uint8Array | Promise<Uint8Array>]>([
    ['a BMP', bmpBomb],
    ['a PSD', () => psd(4, 4, { declared: { width: 30_000, height: 30_000 } })],
    ['an EXR', () => exr(4, 4, { halves, declared: { width: 2 ** 30, height: 2 ** 30 } })],
    ['a Radiance picture', () => radiance(4, 4, { halves, declared: { width: 900_000, height: 900_000 } })],
    [
      'a JPEG 2000',
      async () => {
        const bytes = Buffer.from(await j2k(32, 32));
        bytes.writeUInt32BE(2 ** 31, 8);
        bytes.writeUInt32BE(2 ** 31, 12);
        return bytes;
      },
    ],
    [
      'a JPEG XL',
      async () => {
        const bytes = Buffer.from(await stored('halves.jxl'));
        // Not small; both edges take 30 bits, all of them set.
        bytes.fill(0xff, 2, 12);
        bytes[2] = 0b11111110;
        return bytes;
      },
    ],
  ])('%s that declares more pixels than are rendered is refused by its header', async (_, make) => {
    expect(await studio.outcomeOf(await make())).toMatch(/^unsupported: .*more than are rendered/);
  });

  test.each<[string, () => Uint8Array | Promise<Uint8Array>]>([
    ['a HEIC', () => stored('halves.heic')],
    ['a BMP', () => bmp(100, 60)],
    ['a PSD', () => psd(100, 60)],
    ['a packed PSD', () => layeredPsd(100, 60)],
    ['an EXR', () => exr(100, 60, { halves })],
    ['an ICO', () => ico(64)],
    ['a Radiance picture', () => radiance(100, 60, { halves, runs: true })],
  ])('%s whose end never arrived is broken', async (_, make) => {
    const whole = await make();
    for (const share of [0.3, 0.7])
      expect(await studio.outcomeOf(whole.slice(0, Math.floor(whole.length * share)))).toMatch(/^broken: /);
  });
});
