import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { DecodingStopped } from '../../src/media/decoding/process.ts';
import { defaultLadder } from '../../src/media/ladder.ts';
import { sniff } from '../../src/media/sniff.ts';
import { seeded } from '../corpus/mutations.ts';
import { jpeg } from '../support/pictures.ts';
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

let directory: string;
let decoders: Decoders;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-stills-'));
  decoders = openDecoders();
});
afterAll(async () => {
  await decoders.close();
  await rm(directory, { recursive: true, force: true });
});

/** Returns what a decoder makes of these bytes, with the type it recognises. */
async function attempt(bytes: Uint8Array) {
  count += 1;
  const path = join(directory, `${count}`);
  const outDir = join(directory, `${count}-out`);
  await writeFile(path, bytes);
  await mkdir(outDir);
  const { mime } = await sniff(path);
  const input = { path, mime, rungs: defaultLadder, outDir };
  return { mime, ...(await decoders.run('picture', 'owner', 'ladder', input)) };
}

/** Returns type and size of the preview, and its colours in the middle of the left and right halves. */
async function shown(bytes: Uint8Array, y = 0.5) {
  const { mime, ladder, facts } = await attempt(bytes);
  if (ladder.outcome !== 'rendered') throw new Error(`${mime} is ${ladder.outcome}: ${ladder.reason}`);
  const preview = ladder.renditions.find(({ key }) => key === 'preview');
  const { data, info } = await sharp(preview?.path).raw().toBuffer({ resolveWithObject: true });
  const colourAt = (x: number) => {
    const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return [...data.subarray(at, at + info.channels)];
  };
  return { mime, shape: [ladder.width, ladder.height], left: colourAt(0.25), right: colourAt(0.75), facts };
}

function expectColour(found: readonly number[], due: readonly number[], tolerance = 8) {
  const off = due.map((level, index) => Math.abs(level - (found[index] ?? Number.NaN)));
  expect(Math.max(...off), `${found} instead of ${due}`).toBeLessThanOrEqual(tolerance);
}

async function expectHalves(bytes: Uint8Array, mime: string, shape: [number, number], tolerance?: number) {
  const picture = await shown(bytes);
  expect([picture.mime, picture.shape]).toEqual([mime, shape]);
  expectColour(picture.left, RED, tolerance);
  expectColour(picture.right, BLUE, tolerance);
}

describe('HEIC', () => {
  test('is drawn in its colours', async () => {
    await expectHalves(await stored('halves.heic'), 'image/heic', [128, 96]);
  });

  test('in Display P3 is converted to sRGB', async () => {
    await expectHalves(await stored('display-p3.heic'), 'image/heic', [128, 96]);
  });

  test('that contains AV1 is AVIF, regardless of its first brand', async () => {
    const bytes = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#dc0a0a' } })
      .avif()
      .toBuffer();
    bytes.write('mif1', 8, 'latin1');
    expect(await shown(bytes)).toMatchObject({ mime: 'image/avif', shape: [60, 40] });
  });
});

describe('BMP', () => {
  test.each([
    ['24 bits', {}],
    ['1 bit', { bits: 1 }],
    ['4 bits', { bits: 4 }],
    ['8 bits', { bits: 8 }],
    ['16 bits', { bits: 16 }],
    ['32 bits', { bits: 32 }],
    ['rows from top to bottom', { topDown: true }],
    ['run-length encoded bytes', { bits: 8, runs: true }],
    ['run-length encoded halves of bytes', { bits: 4, runs: true }],
    ['the header of OS/2', { bits: 8, core: true }],
  ] as const)('with %s is drawn', async (_, options) => {
    await expectHalves(bmp(100, 60, options), 'image/bmp', [100, 60]);
  });

  test('with an alpha channel has transparent pixels', async () => {
    const { left, right } = await shown(bmp(100, 60, { bits: 32, alpha: true }));
    expectColour(left, [...RED, 255]);
    expect(right[3]).toBe(0);
  });

  test('is distinguished from a text that begins with the same letters', async () => {
    expect(await attempt(Buffer.from('BMW makes cars, and this is a text about them.\n'))).toMatchObject({
      mime: 'text/plain',
    });
  });
});

describe('ICO', () => {
  test('shows its largest picture, transparent where the mask hides it', async () => {
    const icon = ico(64);
    const { mime, shape, left } = await shown(icon, 0.75);
    expect([mime, shape]).toEqual(['image/x-icon', [64, 64]]);
    expectColour(left, [...RED, 255]);
    expect((await shown(icon, 0.25)).left[3]).toBe(0);
  });
});

describe('PSD', () => {
  const mime = 'image/vnd.adobe.photoshop';

  test('shows its composite', async () => {
    await expectHalves(psd(100, 60), mime, [100, 60]);
  });

  test('with layers and packed rows shows its composite', async () => {
    await expectHalves(layeredPsd(100, 60), mime, [100, 60]);
  });

  test('of 16 bits and of the large kind shows its composite', async () => {
    await expectHalves(psd(100, 60, { bits: 16 }), mime, [100, 60]);
    await expectHalves(psd(100, 60, { psb: true }), mime, [100, 60]);
  });

  test('in CMYK is drawn in the colours of its inks', async () => {
    // 255 means no ink.
    const halves: [number[], number[]] = [
      [255, 0, 0, 255],
      [0, 0, 255, 255],
    ];
    const { left, right } = await shown(psd(100, 60, { mode: 'cmyk', halves }));
    const [red = 0, green = 255, blue = 255] = left;
    expect([red > 180, green < 80, blue < 80]).toEqual([true, true, true]);
    const [otherRed = 255, , otherBlue = 0] = right;
    expect([otherRed < 90, otherBlue > 100]).toEqual([true, true]);
  });

  test('in Lab is drawn in the colours that it measures', async () => {
    // CIE L*a*b* (D50) of sRGB red and white.
    const halves: [number[], number[]] = [
      [Math.round(54.3 * 2.55), 128 + 81, 128 + 70],
      [255, 128, 128],
    ];
    for (const bits of [8, 16] as const) {
      const { left, right } = await shown(psd(100, 60, { mode: 'lab', bits, halves }));
      expectColour(left, [255, 0, 0], 16);
      expectColour(right, [255, 255, 255], 4);
    }
  });

  test('with a wide gamut is converted to sRGB', async () => {
    const wide = sharp({ create: { width: 2, height: 2, channels: 3, background: 'rgb(220,10,10)' } });
    const png = await wide.withIccProfile('p3').png().toBuffer();
    const { icc } = await sharp(png).metadata();
    const [red = 0, green = 0, blue = 0] = await sharp(png).keepIccProfile().raw().toBuffer();
    expect(green).toBeGreaterThan(30);
    const colour = [red, green, blue];
    const { left } = await shown(psd(100, 60, { halves: [colour, colour], profile: icc ?? Buffer.alloc(0) }));
    expectColour(left, RED);
  });

  test('that was saved without its composite shows the thumbnail that it has', async () => {
    const thumbnail = await sharp(Buffer.from(psdSvg)).jpeg().toBuffer();
    const made = await shown(psd(100, 60, { halves: [BLUE, RED], thumbnail }));
    expect(made.shape).toEqual([100, 60]);
    expectColour(made.left, RED, 20);
  });
});

const psdSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="30"><rect width="25" height="30" fill="rgb(220,10,10)"/><rect x="25" width="25" height="30" fill="rgb(10,10,220)"/></svg>';

/** Converts a level of sRGB to linear light. */
const linear = (level: number) => ((level / 255 + 0.055) / 1.055) ** 2.4;

describe('EXR', () => {
  test('made for a screen is shown unchanged', async () => {
    const halves: [number[], number[]] = [RED.map(linear), BLUE.map(linear)];
    await expectHalves(exr(100, 60, { halves }), 'image/x-exr', [100, 60]);
    expect((await shown(exr(100, 60, { halves }))).facts).toEqual({ hdr: true });
  });

  test('keeps differences among highlights, and their hue', async () => {
    const halves: [number[], number[]] = [
      [1.6, 0.4, 0.4],
      [4, 4, 4],
    ];
    const { left, right } = await shown(exr(100, 60, { halves: halves }));
    const [red = 0, green = 255] = left;
    expect(red - green).toBeGreaterThan(40);
    expect(right[1]).toBeGreaterThan(green);
  });

  test('in units of its own is exposed', async () => {
    const halves: [number[], number[]] = [
      [0.00002, 0.00002, 0.00002],
      [0.00008, 0.00008, 0.00008],
    ];
    const { left, right } = await shown(exr(100, 60, { halves }));
    expect(left[0]).toBeGreaterThan(60);
    expect(right[0]).toBeGreaterThan((left[0] ?? 0) + 40);
  });
});

describe('Radiance', () => {
  test.each([false, true])('made for a screen is shown unchanged (run-length encoded: %s)', async (runs) => {
    const halves: [number[], number[]] = [RED.map(linear), BLUE.map(linear)];
    await expectHalves(radiance(100, 60, { halves, runs }), 'image/vnd.radiance', [100, 60], 10);
  });
});

describe('JPEG 2000', () => {
  test('is drawn from a bare codestream and from a file around it', async () => {
    const codestream = Buffer.from(await j2k(100, 60));
    await expectHalves(codestream, 'image/j2c', [100, 60]);
    const box = (type: string, body: Buffer) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(body.length + 8);
      head.write(type, 4, 'latin1');
      return Buffer.concat([head, body]);
    };
    const file = Buffer.concat([
      box('jP  ', Buffer.from('\r\n\x87\n', 'latin1')),
      box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
      box(
        'jp2h',
        Buffer.concat([
          box('ihdr', Buffer.from([0, 0, 0, 60, 0, 0, 0, 100, 0, 3, 7, 7, 0, 0])),
          box('colr', Buffer.from([1, 0, 0, 0, 0, 0, 16])),
        ]),
      ),
      box('jp2c', codestream),
    ]);
    await expectHalves(file, 'image/jp2', [100, 60]);
  });

  test('of 16 bits is drawn', async () => {
    // The encoder is lossy.
    await expectHalves(await stored('halves-16.jp2'), 'image/jp2', [128, 96], 16);
  });
});

describe('JPEG XL', () => {
  test('is drawn in its colours', async () => {
    await expectHalves(await stored('halves.jxl'), 'image/jxl', [128, 96]);
  });

  test('that declares more pixels than are rendered is refused by its header', async () => {
    const bytes = Buffer.from(await stored('halves.jxl'));
    // Not small; both edges take 30 bits, all of them set.
    bytes.fill(0xff, 2, 12);
    bytes[2] = 0b11111110;
    const { ladder } = await attempt(bytes);
    expect(ladder).toMatchObject({ outcome: 'unsupported' });
  });
});

describe('a raw file of a camera', () => {
  const small = () => jpeg(160, 120, { seed: 5 });

  // MEDIA-22
  test('shows the largest preview that the camera embedded, turned as the camera was', async () => {
    const raw = cameraRaw(6, [await small(), await jpeg(1200, 800), await small()]);
    const { mime, ladder } = await attempt(raw);
    expect(mime).toBe('image/x-dcraw');
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 800, height: 1200 });
  });

  test('is rotated only once if its preview has its own orientation', async () => {
    const { ladder } = await attempt(cameraRaw(6, [await jpeg(1200, 800, { orientation: 3 })]));
    expect(ladder).toMatchObject({ outcome: 'rendered', width: 1200, height: 800 });
  });

  test('shows its thumbnail when it has nothing better, and nothing when it has none', async () => {
    expect((await attempt(cameraRaw(1, [await small()]))).ladder).toMatchObject({
      outcome: 'rendered',
      width: 160,
    });
    expect((await attempt(cameraRaw(1, []))).ladder).toMatchObject({ outcome: 'unsupported' });
  });

  test('whose only preview is cut off shows nothing', async () => {
    const cut = (await jpeg(1200, 800)).slice(0, 4000);
    expect((await attempt(cameraRaw(1, [cut]))).ladder).toMatchObject({ outcome: 'unsupported' });
  });
});

describe('files that cannot be drawn', () => {
  test.each([
    ['a BMP', bmpBomb],
    ['a PSD', () => psd(4, 4, { declared: { width: 30_000, height: 30_000 } })],
    ['an EXR', () => exr(4, 4, { halves: [RED, BLUE], declared: { width: 2 ** 30, height: 2 ** 30 } })],
    [
      'a Radiance picture',
      () => radiance(4, 4, { halves: [RED, BLUE], declared: { width: 900_000, height: 900_000 } }),
    ],
    [
      'a JPEG 2000',
      async () => {
        const bytes = Buffer.from(await j2k(32, 32));
        bytes.writeUInt32BE(2 ** 31, 8);
        bytes.writeUInt32BE(2 ** 31, 12);
        return bytes;
      },
    ],
  ])('%s that declares more pixels than are rendered is refused by its header', async (_, make) => {
    const { ladder } = await attempt(await make());
    expect(ladder).toMatchObject({
      outcome: 'unsupported',
      reason: expect.stringContaining('more than are rendered'),
    });
  });

  test.each([
    ['a HEIC', () => stored('halves.heic')],
    ['a BMP', async () => bmp(100, 60)],
    ['a PSD', async () => psd(100, 60)],
    ['a packed PSD', async () => layeredPsd(100, 60)],
    ['an EXR', async () => exr(100, 60, { halves: [RED, BLUE] })],
    ['an ICO', async () => ico(64)],
    ['a Radiance picture', async () => radiance(100, 60, { halves: [RED, BLUE], runs: true })],
  ])('%s whose end never arrived is broken', async (_, make) => {
    const whole = await make();
    for (const share of [0.3, 0.7]) {
      const { ladder } = await attempt(whole.slice(0, Math.floor(whole.length * share)));
      expect(ladder.outcome).toBe('broken');
    }
  });
});

/** The number of mutations of each file; `npm run mutate` tries thousands. */
const ROUNDS = 8;

test('mutated files are rendered, refused with a reason or stopped at a limit', async () => {
  const originals = [
    await stored('halves.heic'),
    await stored('halves.jxl'),
    bmp(40, 30),
    bmp(40, 30, { bits: 8, runs: true }),
    psd(40, 30),
    layeredPsd(40, 30),
    psd(40, 30, { mode: 'lab', bits: 16 }),
    exr(40, 30, { halves: [RED, BLUE] }),
    ico(32),
    radiance(40, 30, { halves: [RED, BLUE], runs: true }),
    await j2k(40, 30),
    cameraRaw(6, [await jpeg(80, 60)]),
  ];
  const random = seeded(1);
  const outcomes = new Map<string, number>();
  for (const original of originals) {
    for (let round = 0; round < ROUNDS; round += 1) {
      const mutated = Uint8Array.from(original);
      // The first bytes determine the type; in files this small, most others are numbers of a header.
      for (let change = 0; change <= round % 8; change += 1) {
        mutated[12 + random(mutated.length - 12)] = random(256);
      }
      // A changed size in a header may ask for more memory than a decoder gets.
      const outcome = await attempt(mutated).then(
        ({ ladder }) => ladder.outcome,
        (error: unknown) => (error instanceof DecodingStopped ? 'stopped' : String(error)),
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  }
  expect([...outcomes.values()].reduce((sum, one) => sum + one)).toBe(originals.length * ROUNDS);
  for (const outcome of outcomes.keys())
    expect(['rendered', 'unsupported', 'broken', 'stopped']).toContain(outcome);
});
