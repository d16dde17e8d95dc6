import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio, thumbHashToAverageRGBA } from 'thumbhash';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLadder } from '../../src/media/ladder.ts';
import { renderLadder } from '../../src/media/raster.ts';
import { isRenderable } from '../../src/media/renderable.ts';
import {
  animatedGif,
  avif,
  cmykJpeg,
  gif,
  grey16Tiff,
  jpeg,
  noise,
  plainText,
  png,
  pngBomb,
  svg,
  tiff,
  transparentPng,
  truncatedJpeg,
  webp,
  wideGamutJpeg,
} from '../support/pictures.ts';

let directory: string;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-raster-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Writes the bytes to a file next to an empty directory. */
async function place(bytes: Uint8Array) {
  count += 1;
  const path = join(directory, `${count}`);
  const outDir = join(directory, `${count}-out`);
  await writeFile(path, bytes);
  await mkdir(outDir);
  return { path, outDir };
}

async function attempt(bytes: Uint8Array, mime: string, maxPixels?: number) {
  const { path, outDir } = await place(bytes);
  const options = maxPixels === undefined ? { outDir } : { outDir, maxPixels };
  return { outcome: await renderLadder({ path, mime }, defaultLadder, options), outDir };
}

async function rendered(bytes: Uint8Array, mime: string) {
  const { outcome, outDir } = await attempt(bytes, mime);
  if (outcome.outcome !== 'rendered') throw new Error(`${outcome.outcome}: ${outcome.reason}`);
  const path = (key: string) => {
    const made = outcome.renditions.find((rendition) => rendition.key === key);
    if (made === undefined) throw new Error(`no ${key}`);
    return made.path;
  };
  return { ...outcome, outDir, path };
}

/** Returns red, green, blue and, if present, alpha at a position given as fractions of the width and height. */
async function colourAt(path: string, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
  const column = Math.min(info.width - 1, Math.floor(x * info.width));
  const row = Math.min(info.height - 1, Math.floor(y * info.height));
  const at = (row * info.width + column) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

// The bounds are wide because a printer's blue is darker than a screen's.
const isRed = ([red = 0, green = 255, blue = 255]: number[]) => red > 130 && green < 90 && blue < 90;
const isBlue = ([red = 255, green = 255, blue = 0]: number[]) => red < 90 && green < 90 && blue > 130;

describe('the ladder of a picture', () => {
  test('has every rung with its own pixels and a file of the stated length', async () => {
    const { renditions, width, height } = await rendered(await jpeg(2600, 1300), 'image/jpeg');
    expect([width, height]).toEqual([2600, 1300]);
    expect(renditions.map((made) => [made.key, made.width, made.height]).sort()).toEqual([
      ['col', 320, 320],
      ['hires', 2600, 1300],
      ['preview', 1024, 512],
      ['screen', 2048, 1024],
    ]);
    for (const made of renditions) {
      const { format, width, height, size } = await sharp(made.path)
        .toBuffer()
        .then((bytes) => sharp(bytes).metadata());
      expect([format, width, height]).toEqual(['webp', made.width, made.height]);
      expect(made.contentType).toBe('image/webp');
      expect(made.sizeBytes).toBeGreaterThan(0);
      expect(size).toBeGreaterThan(0);
    }
  });

  test('encodes renditions with identical pixels once', async () => {
    const wide = await rendered(await png(300, 200), 'image/png');
    expect((await readdir(wide.outDir)).length).toBe(2);
    expect(new Set(['preview', 'screen', 'hires'].map(wide.path)).size).toBe(1);
    const square = await rendered(await png(200, 200), 'image/png');
    expect((await readdir(square.outDir)).length).toBe(1);
  });

  test('crops the middle of a long strip from the original, not from the shrunk strip', async () => {
    const [width, height] = [9000, 200];
    const stripes = Buffer.alloc(width * height);
    for (let at = 0; at < stripes.length; at += 1)
      stripes[at] = Math.floor((at % width) / 3) % 2 === 0 ? 255 : 0;
    const strip = sharp(stripes, { raw: { width, height, channels: 1 } });
    const { path } = await rendered(await strip.png().toBuffer(), 'image/png');
    const { channels } = await sharp(path('col')).stats();
    // If the picture were reduced to 4,096 pixels and enlarged again, stripes of three pixels would be grey.
    expect(channels[0]?.stdev).toBeGreaterThan(110);
    const { width: side, height: other } = await sharp(path('col')).metadata();
    expect([side, other]).toEqual([200, 200]);
  });

  // The red half of the stored picture is on the left; each orientation determines where it is shown.
  // MEDIA-10
  test.each([
    [1, [0.1, 0.5]],
    [2, [0.9, 0.5]],
    [3, [0.9, 0.5]],
    [4, [0.1, 0.5]],
    [5, [0.5, 0.1]],
    [6, [0.5, 0.1]],
    [7, [0.5, 0.9]],
    [8, [0.5, 0.9]],
  ] as const)(
    'shows a picture upright that was taken sideways (orientation %i)',
    async (orientation, [x, y]) => {
      const { width, height, path } = await rendered(await jpeg(900, 600, { orientation }), 'image/jpeg');
      expect([width, height]).toEqual(orientation < 5 ? [900, 600] : [600, 900]);
      for (const key of ['col', 'hires']) {
        expect(isRed(await colourAt(path(key), x, y))).toBe(true);
        expect(isBlue(await colourAt(path(key), 1 - x, 1 - y))).toBe(true);
      }
    },
  );

  // MEDIA-10
  test('carries no metadata: no place, no camera, no profile', async () => {
    const exif = { Make: 'Vitrine Optics' };
    const { path } = await rendered(await jpeg(600, 400, { exif, orientation: 3 }), 'image/jpeg');
    const { exif: kept, xmp, icc, orientation } = await sharp(path('preview')).metadata();
    expect([kept, xmp, icc, orientation]).toEqual([undefined, undefined, undefined, undefined]);
  });

  test.each([
    ['PNG', 'image/png', () => png(400, 300)],
    ['WebP', 'image/webp', () => webp(400, 300)],
    ['GIF', 'image/gif', () => gif(400, 300)],
    ['TIFF', 'image/tiff', () => tiff(400, 300)],
    ['AVIF', 'image/avif', () => avif(400, 300)],
    ['a CMYK JPEG', 'image/jpeg', () => cmykJpeg(400, 300)],
  ])('is made of %s in the right colours', async (_, mime, make) => {
    const { path } = await rendered(await make(), mime);
    expect(isRed(await colourAt(path('preview'), 0.2, 0.5))).toBe(true);
    expect(isBlue(await colourAt(path('preview'), 0.8, 0.5))).toBe(true);
  });

  // MEDIA-10
  test('is in sRGB though the picture is in a wider gamut', async () => {
    const bytes = await wideGamutJpeg(400, 300);
    const { path } = await rendered(bytes, 'image/jpeg');
    const [red = 0, green = 0, blue = 255] = await colourAt(path('preview'), 0.25, 0.5);
    expect(Math.abs(red - 221)).toBeLessThan(20);
    expect(green).toBeLessThan(40);
    expect(blue).toBeLessThan(40);
    // In its own profile the same colour has other numbers.
    const stored = await sharp(bytes).keepIccProfile().raw().toBuffer();
    expect(stored[1]).toBeGreaterThan(40);
  });

  test('keeps the tones of 16 bits a channel', async () => {
    const { path } = await rendered(await grey16Tiff(400, 100), 'image/tiff');
    for (const x of [0.02, 0.25, 0.5, 0.75, 0.98]) {
      const [level = 0] = await colourAt(path('preview'), x, 0.5);
      expect(Math.abs(level - x * 255)).toBeLessThan(10);
    }
  });

  // MEDIA-10
  test('keeps what is transparent', async () => {
    const { path } = await rendered(await transparentPng(600, 400), 'image/png');
    expect((await colourAt(path('preview'), 0.001, 0.001))[3]).toBe(0);
    expect((await colourAt(path('preview'), 0.5, 0.5))[3]).toBe(255);
  });

  test('shows the first frame of an animation', async () => {
    const { path, width, height } = await rendered(await animatedGif(), 'image/gif');
    expect([width, height]).toEqual([64, 48]);
    expect(isRed(await colourAt(path('preview'), 0.5, 0.5))).toBe(true);
    expect((await sharp(path('preview'), { animated: true }).metadata()).pages ?? 1).toBe(1);
  });

  // MEDIA-11
  test('comes with a thumbhash of its shape and colour', async () => {
    const { thumbhash } = await rendered(await jpeg(1000, 500, { orientation: 6 }), 'image/jpeg');
    const hash = Buffer.from(thumbhash, 'base64');
    expect(hash.length).toBeLessThan(40);
    expect(thumbHashToApproximateAspectRatio(hash)).toBeCloseTo(0.5, 0);
    const { r, g, b } = thumbHashToAverageRGBA(hash);
    expect(r).toBeGreaterThan(g + 0.1);
    expect(b).toBeGreaterThan(g + 0.1);
  });
});

describe('a drawing', () => {
  const drawing = (inside: string, size = 100) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size}" height="${size}">${inside}</svg>`,
    );

  test('is drawn at its own size', async () => {
    const { width, height } = await rendered(svg(400, 300), 'image/svg+xml');
    expect([width, height]).toEqual([400, 300]);
  });

  // MEDIA-17
  test('shows nothing of the files beside it, and asks nothing of the network', async () => {
    let asked = 0;
    const stranger = createServer((_, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const address = stranger.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const secret = join(directory, 'secret.png');
    await writeFile(
      secret,
      await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
        .png()
        .toBuffer(),
    );
    const places = [
      'secret.png',
      './secret.png',
      secret,
      `file://${secret}`,
      `http://127.0.0.1:${address.port}/x.png`,
    ];
    const images = places.map((at) => `<image xlink:href="${at}" href="${at}" width="100" height="100"/>`);
    const style = `<style>@import url("http://127.0.0.1:${address.port}/x.css");</style>`;
    const { path } = await rendered(
      drawing(`${style}<rect width="100" height="100" fill="lime"/>${images.join('')}`),
      'image/svg+xml',
    );
    stranger.close();
    const [red = 255, green = 0] = await colourAt(path('preview'), 0.5, 0.5);
    expect([red < 20, green > 230]).toEqual([true, true]);
    expect(asked).toBe(0);
  });

  test('of 30,000 x 30,000 pixels is not drawn', async () => {
    const { outcome } = await attempt(drawing('<rect width="9" height="9"/>', 30_000), 'image/svg+xml');
    expect(outcome).toMatchObject({
      outcome: 'unsupported',
      reason: expect.stringContaining('30000 x 30000'),
    });
  });

  test('with entities that multiply is broken', async () => {
    const names = [...'abcdefghi'];
    const entities = names.map((name, index) => {
      const inner = index === 0 ? 'lol' : `&${names[index - 1]};`.repeat(10);
      return `<!ENTITY ${name} "${inner}">`;
    });
    const text = `<!DOCTYPE svg [${entities.join('')}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&i;</text></svg>`;
    expect((await attempt(Buffer.from(text), 'image/svg+xml')).outcome.outcome).toBe('broken');
  });

  test('that ends in the middle is broken', async () => {
    expect((await attempt(drawing('').subarray(0, 60), 'image/svg+xml')).outcome.outcome).toBe('broken');
  });
});

describe('a picture that cannot be rendered', () => {
  // MEDIA-12
  test('is unsupported if its header shows that it is a bomb', async () => {
    const started = performance.now();
    const { outcome, outDir } = await attempt(pngBomb(), 'image/png');
    expect(outcome).toEqual({
      outcome: 'unsupported',
      reason: '50000 x 50000 pixels are more than are rendered',
    });
    expect(performance.now() - started).toBeLessThan(4000);
    expect(await readdir(outDir)).toEqual([]);
  });

  // MEDIA-12
  test('is unsupported above the limit the caller sets, and rendered at it', async () => {
    expect((await attempt(await png(101, 100), 'image/png', 10_000)).outcome.outcome).toBe('unsupported');
    expect((await attempt(await png(100, 100), 'image/png', 10_000)).outcome.outcome).toBe('rendered');
  });

  test('is unsupported when it is no kind of picture that is drawn yet', async () => {
    for (const mime of ['application/wasm', 'image/flif', 'image/vnd.dwg']) {
      expect(isRenderable(mime)).toBe(false);
      expect((await attempt(plainText(), mime)).outcome.outcome).toBe('unsupported');
    }
  });

  test.each([
    ['nobody knows', 34_712],
    ['our decoder was not built for', 50_000],
  ])('is unsupported when it is compressed in a way %s', async (_, compression) => {
    const bytes = Buffer.from(await tiff(64, 64));
    const directory = bytes.readUInt32LE(4);
    const entries = bytes.readUInt16LE(directory);
    for (let at = directory + 2; at < directory + 2 + entries * 12; at += 12) {
      if (bytes.readUInt16LE(at) === 259) bytes.writeUInt16LE(compression, at + 8);
    }
    expect((await attempt(bytes, 'image/tiff')).outcome.outcome).toBe('unsupported');
  });

  test.each([
    ['JPEG', 'image/jpeg', () => noise(300, 200)],
    ['PNG', 'image/png', () => png(300, 200)],
    ['WebP', 'image/webp', () => webp(300, 200)],
    ['GIF', 'image/gif', () => gif(300, 200)],
    ['TIFF', 'image/tiff', () => tiff(300, 200)],
    ['AVIF', 'image/avif', () => avif(300, 200)],
  ])('is broken when the rest of it never arrived: %s', async (_, mime, make) => {
    const whole = await make();
    for (const share of [0.5, 0.9]) {
      const { outcome } = await attempt(whole.slice(0, Math.floor(whole.length * share)), mime);
      expect(outcome.outcome).toBe('broken');
    }
  });

  // MEDIA-6
  test('is reported as broken if it is a truncated JPEG', async () => {
    const { outcome } = await attempt(await truncatedJpeg(), 'image/jpeg');
    expect(outcome).toMatchObject({ outcome: 'broken', reason: expect.stringContaining('premature end') });
  });

  // MEDIA-6
  test('is broken without naming a path of the server', async () => {
    const whole = await avif(64, 48);
    for (let cut = 1; cut < 40; cut += 4) {
      const { outcome } = await attempt(whole.subarray(0, whole.length - cut), 'image/avif');
      expect(outcome).toMatchObject({ outcome: 'broken', reason: expect.not.stringContaining('/') });
    }
  });

  test('is reported as broken if it is not a picture, whatever its detected type', async () => {
    for (const mime of ['image/jpeg', 'image/png', 'image/svg+xml']) {
      expect((await attempt(plainText(), mime)).outcome.outcome).toBe('broken');
    }
  });
});

// MEDIA-9
describe('a fault of the disk', () => {
  test('is thrown when the original is gone', async () => {
    const missing = { path: join(directory, 'gone'), mime: 'image/png' };
    await expect(renderLadder(missing, defaultLadder, { outDir: directory })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  test('is thrown when there is nowhere to write', async () => {
    const { path } = await place(await png(40, 30));
    const nowhere = { outDir: join(directory, 'nowhere') };
    await expect(renderLadder({ path, mime: 'image/png' }, defaultLadder, nowhere)).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  test.skipIf(process.platform !== 'linux')('is thrown when the disk is full', async () => {
    const { path, outDir } = await place(await png(40, 30));
    await symlink('/dev/full', join(outDir, 'col.webp'));
    await expect(renderLadder({ path, mime: 'image/png' }, defaultLadder, { outDir })).rejects.toMatchObject({
      code: 'ENOSPC',
    });
  });
});
