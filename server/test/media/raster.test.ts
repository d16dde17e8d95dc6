import { readdir, symlink } from 'node:fs/promises';
import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio, thumbHashToAverageRGBA } from 'thumbhash';
import { describe, expect, test } from 'vitest';
import { defaultLadder } from '../../src/media/ladder.ts';
import { renderLadder } from '../../src/media/raster.ts';
import { isRenderable } from '../../src/media/renderable.ts';
import { saySentence, sentence } from '../../src/platform/language/sentence.ts';
import { startUnruly } from '../support/encoder.ts';
import {
  animatedGif,
  avif,
  gif,
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
} from '../support/pictures.ts';
import { colourAt, openStudio } from './still-kit.ts';

const { place } = openStudio();

async function attempt(bytes: Uint8Array, mime: string, maxPixels?: number) {
  const { path, outDir } = await place(bytes);
  const options = maxPixels === undefined ? { outDir } : { outDir, maxPixels };
  return { outcome: await renderLadder({ path, mime }, defaultLadder, options), outDir };
}

async function rendered(bytes: Uint8Array, mime: string) {
  const { outcome, outDir } = await attempt(bytes, mime);
  if (outcome.outcome !== 'rendered')
    throw new Error(`${outcome.outcome}: ${saySentence('en', outcome.reason)}`);
  const path = (key: string) => {
    const made = outcome.renditions.find((rendition) => rendition.key === key);
    if (made === undefined) throw new Error(`no ${key}`);
    return made.path;
  };
  return { ...outcome, outDir, path };
}

const isRed = ([red = 0, green = 255, blue = 255]: number[]) => red > 130 && green < 90 && blue < 90;
const isBlue = ([red = 255, green = 255, blue = 0]: number[]) => red < 90 && green < 90 && blue > 130;

/** The formats of pictures that libvips opens itself. */
const formats = [
  ['PNG', 'image/png', png],
  ['WebP', 'image/webp', webp],
  ['GIF', 'image/gif', gif],
  ['TIFF', 'image/tiff', tiff],
  ['AVIF', 'image/avif', avif],
] as const;

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
      const { format, width, height } = await sharp(made.path).metadata();
      expect([format, width, height]).toEqual(['webp', made.width, made.height]);
      expect(made.contentType).toBe('image/webp');
      expect(made.sizeBytes).toBeGreaterThan(0);
    }
  });

  test('encodes renditions with identical pixels once', async () => {
    const wide = await rendered(await png(300, 200), 'image/png');
    expect(await readdir(wide.outDir)).toHaveLength(2);
    expect(new Set(['preview', 'screen', 'hires'].map(wide.path)).size).toBe(1);
    const square = await rendered(await png(200, 200), 'image/png');
    expect(await readdir(square.outDir)).toHaveLength(1);
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
    expect(await sharp(path('col')).metadata()).toMatchObject({ width: 200, height: 200 });
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
  ] as const)('is upright and carries no metadata (orientation %i)', async (orientation, [x, y]) => {
    const bytes = await jpeg(300, 200, { orientation, exif: { Make: 'Vitrine Optics' } });
    const { width, height, path } = await rendered(bytes, 'image/jpeg');
    expect([width, height]).toEqual(orientation < 5 ? [300, 200] : [200, 300]);
    for (const key of ['col', 'hires']) {
      expect(isRed(await colourAt(path(key), x, y))).toBe(true);
      expect(isBlue(await colourAt(path(key), 1 - x, 1 - y))).toBe(true);
      const { exif, xmp, icc, orientation: kept } = await sharp(path(key)).metadata();
      expect([exif, xmp, icc, kept]).toEqual([undefined, undefined, undefined, undefined]);
    }
  });

  test.each(formats)('is made of %s in the right colours', async (_, mime, make) => {
    const { path } = await rendered(await make(400, 300), mime);
    expect(isRed(await colourAt(path('preview'), 0.2, 0.5))).toBe(true);
    expect(isBlue(await colourAt(path('preview'), 0.8, 0.5))).toBe(true);
  });

  // MEDIA-10
  test('keeps what is transparent', async () => {
    const { path } = await rendered(await transparentPng(300, 200), 'image/png');
    expect((await colourAt(path('preview'), 0.001, 0.001))[3]).toBe(0);
    expect((await colourAt(path('preview')))[3]).toBe(255);
  });

  test('shows the first frame of an animation', async () => {
    const { path, width, height } = await rendered(await animatedGif(), 'image/gif');
    expect([width, height]).toEqual([64, 48]);
    expect(isRed(await colourAt(path('preview')))).toBe(true);
    expect((await sharp(path('preview'), { animated: true }).metadata()).pages ?? 1).toBe(1);
  });

  // MEDIA-11
  test('comes with a thumbhash of its shape and colour', async () => {
    const { thumbhash } = await rendered(await jpeg(400, 200, { orientation: 6 }), 'image/jpeg');
    const hash = Buffer.from(thumbhash, 'base64');
    expect(hash.length).toBeLessThan(40);
    expect(thumbHashToApproximateAspectRatio(hash)).toBeCloseTo(0.5, 0);
    const { r, g, b } = thumbHashToAverageRGBA(hash);
    expect(Math.min(r, b)).toBeGreaterThan(g + 0.1);
  });
});

async function expectColour(path: string) {
  const [red = 0, green = 0, blue = 0] = await colourAt(path);
  const isClose = Math.abs(red - 60) < 5 && Math.abs(green - 200) < 5 && Math.abs(blue - 90) < 5;
  expect(isClose, `${red},${green},${blue}`).toBe(true);
}

describe('a drawing', () => {
  const drawing = (inside: string, size = 100) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size}" height="${size}">${inside}</svg>`,
    );

  test('is drawn at its own size', async () => {
    const { width, height } = await rendered(svg(400, 300), 'image/svg+xml');
    expect([width, height]).toEqual([400, 300]);
  });

  const rect = '<rect width="100" height="100" fill="rgb(60,200,90)"/>';
  const declared = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>${drawing(`<title>Größe</title>${rect}`)}`;
  // MEDIA-51
  test.each([
    ['Latin-1', Buffer.from(declared('iso-8859-1'), 'latin1')],
    ['UTF-16', Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le')],
    ['UTF-16 without a mark', Buffer.from(declared('UTF-16'), 'utf16le')],
    ['big-endian UTF-16', Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le').swap16()],
    ['Latin-1 that is declared as UTF-8', Buffer.from(declared('UTF-8'), 'latin1')],
    [
      'Cyrillic',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="windows-1251"?>'), drawing(rect)]),
    ],
  ])('in %s is drawn', async (_, bytes) => {
    const { path } = await rendered(bytes, 'image/svg+xml');
    await expectColour(path('preview'));
  });

  // MEDIA-51
  test.each([
    [
      'the root',
      '<style>:root{--c:rgb(60,200,90)} .a{fill:var(--c)}</style><rect class="a" width="100" height="100"/>',
    ],
    [
      'a fallback',
      '<style>.a{fill:var(--d, rgb(60,200,90))}</style><rect class="a" width="100" height="100"/>',
    ],
    [
      'each other',
      '<style>/* --c: red */ svg{--c:var( --d );--d:rgb(60,200,90)}</style><rect fill="var(--c)" width="100" height="100"/>',
    ],
    [
      'the rule itself',
      '<style>.b{--c:red} .a{--c:rgb(60,200,90);fill:var(--c)} .d{--c:red}</style><rect class="a" width="100" height="100"/>',
    ],
    ['an element', '<rect style="--c:rgb(60,200,90);fill:var(--c)" width="100" height="100"/>'],
    ['a group', '<g style="--c:rgb(60,200,90)"><rect style="fill:var(--c)" width="100" height="100"/></g>'],
    [
      'light mode',
      '<style><![CDATA[:root{--c:rgb(60,200,90)}@media (prefers-color-scheme:dark){:root{--c:red}}]]></style><rect fill="var(--c)" width="100" height="100"/>',
    ],
    [
      'its own selector',
      '<style>.b{--c:red} #a .b{--c:red} .a{--c:rgb(60,200,90)} rect{fill:var(--c)}</style><g class="b"><rect class="a" width="100" height="100"/></g>',
    ],
    [
      'the group around it',
      '<style>:root{--c:red} .x{--c:blue} g>g.y{--c:rgb(60,200,90)} rect{fill:var(--c)}</style><g class="x"><g class="y"><rect width="100" height="100"/></g></g>',
    ],
    [
      'the more specific rule',
      '<style>#a{--c:rgb(60,200,90)} .a.a{--c:red} rect{--c:blue;fill:var(--c)}</style><rect id="a" class="a" width="100" height="100"/>',
    ],
    [
      'the important rule',
      '<style>rect{--c:rgb(60,200,90)!important;fill:var(--c)}</style><rect style="--c:red" width="100" height="100"/>',
    ],
    [
      'the place where they are set',
      '<style>svg{--b:rgb(60,200,90);--c:var(--b)} rect{--b:red;fill:var(--c)}</style><rect width="100" height="100"/>',
    ],
    [
      'nothing, which unsets the fill',
      '<style>.a{fill:red;fill:var(--none)}</style><g fill="rgb(60,200,90)"><rect class="a" width="100" height="100"/></g>',
    ],
    [
      'a circle, which count as missing',
      '<style>svg{--a:var(--b,red);--b:var(--a,red)} rect{fill:var(--a,rgb(60,200,90))}</style><rect width="100" height="100"/>',
    ],
    [
      'a rule that another overrules',
      '<style>.a{fill:rgb(60,200,90)} rect{fill:var(--c);--c:red}</style><rect class="a" width="100" height="100"/>',
    ],
    [
      'a fallback of a fallback',
      '<style>rect{--x:initial;fill:var(--x, var(--y, rgb(60,200,90)))}</style><rect width="100" height="100"/>',
    ],
    [
      'an instance',
      '<style>path{fill:var(--c,red)}</style><defs><symbol id="s" viewBox="0 0 9 9"><path d="M0 0h9v9H0z"/></symbol></defs><use href="#s" width="100" height="100" style="--c:rgb(60,200,90)"/>',
    ],
    [
      'a stop of a gradient',
      '<style>:root{--c:red} .g{--c:rgb(60,200,90)} stop{stop-color:var(--c)}</style><linearGradient id="g" class="g"><stop/></linearGradient><rect fill="url(#g)" width="100" height="100"/>',
    ],
    [
      'a nested rule',
      '<style>g{--c:red;& .a{--c:rgb(60,200,90);fill:var(--c)}}</style><g><rect class="a" width="100" height="100"/></g>',
    ],
    [
      '@property',
      '<style>@property --c{syntax:"*";inherits:false;initial-value:rgb(60,200,90)} g{--c:red} rect{fill:var(--c)}</style><g><rect width="100" height="100"/></g>',
    ],
  ])('is drawn with custom properties of %s', async (_, inside) => {
    const { path } = await rendered(drawing(inside), 'image/svg+xml');
    await expectColour(path('preview'));
  });

  test('with custom properties that multiply is drawn at once', async () => {
    const levels = Array.from({ length: 30 }, (_, at) => `--v${at}:${`var(--v${at + 1})`.repeat(50)};`);
    const inside = `<style>svg{${levels.join('')}--v30:red;--x:var(--x)}</style><rect fill="var(--v0)" stroke="var(--x)" width="9" height="9"/>`;
    const { outcome } = await attempt(drawing(inside), 'image/svg+xml');
    expect(outcome.outcome).toBe('rendered');
  });

  test.each([
    ['with selectors that multiply', `<style>${'* '.repeat(300)}{fill:var(--a)}</style>`],
    ['with nested rules that multiply', `<style>${'&&{'.repeat(40)}fill:var(--a)${'}'.repeat(40)}</style>`],
  ])('%s ends at once', async (_, inside) => {
    const groups = ['<g>'.repeat(100), '<rect/>', '</g>'.repeat(100)].join('');
    const { outcome } = await attempt(drawing(inside + groups), 'image/svg+xml');
    expect(['unsupported', 'broken', 'rendered']).toContain(outcome.outcome);
  });

  // MEDIA-17
  test('reads no other files and makes no network requests', async () => {
    let asked = 0;
    const { address, stop } = await startUnruly((_, response) => {
      asked += 1;
      response.end();
    });
    const red = sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } });
    const { path: secret } = await place(await red.png().toBuffer());
    const name = secret.split('/').at(-1);
    const places = [name, `./${name}`, secret, `file://${secret}`, `${address}/x.png`];
    const images = places.map((at) => `<image xlink:href="${at}" href="${at}" width="100" height="100"/>`);
    const style = `<style>@import url("${address}/x.css");</style>`;
    const inside = `${style}<rect width="100" height="100" fill="lime"/>${images.join('')}`;
    const { path } = await rendered(drawing(inside), 'image/svg+xml');
    await stop();
    const [shownRed = 255, green = 0] = await colourAt(path('preview'));
    expect([shownRed < 20, green > 230, asked]).toEqual([true, true, 0]);
  });

  const entities = [...'abcdefghi'].map((name, index, names) => {
    const inner = index === 0 ? 'lol' : `&${names[index - 1]};`.repeat(10);
    return `<!ENTITY ${name} "${inner}">`;
  });
  test.each([
    ['has 30,000 x 30,000 pixels', drawing('<rect/>', 30_000), 'unsupported: 30,000 x 30,000'],
    [
      'has entities that multiply',
      Buffer.from(`<!DOCTYPE svg [${entities.join('')}]>${drawing('<text>&i;</text>')}`),
      'broken: ',
    ],
    ['ends in the middle', drawing('').subarray(0, 60), 'broken: '],
  ])('is not drawn when it %s', async (_, bytes, due) => {
    const { outcome } = await attempt(bytes, 'image/svg+xml');
    if (outcome.outcome === 'rendered') throw new Error('it was drawn');
    expect(`${outcome.outcome}: ${saySentence('en', outcome.reason)}`).toContain(due);
  });
});

describe('a picture that cannot be rendered', () => {
  // MEDIA-12
  test('is unsupported if its header shows that it is a bomb', async () => {
    const { outcome, outDir } = await attempt(pngBomb(), 'image/png');
    expect(outcome).toEqual({
      outcome: 'unsupported',
      reason: sentence('{width} x {height} pixels are more than are rendered', {
        width: 50_000,
        height: 50_000,
      }),
    });
    expect(await readdir(outDir)).toEqual([]);
  });

  // MEDIA-12
  test('is unsupported above the limit the caller sets, and rendered at it', async () => {
    expect((await attempt(await png(101, 100), 'image/png', 10_000)).outcome.outcome).toBe('unsupported');
    expect((await attempt(await png(100, 100), 'image/png', 10_000)).outcome.outcome).toBe('rendered');
  });

  test('is unsupported if its format is not rendered', async () => {
    for (const mime of ['application/wasm', 'image/flif', 'image/vnd.dwg', 'text/plain']) {
      expect([mime, (await attempt(plainText(), mime)).outcome.outcome]).toEqual([mime, 'unsupported']);
      expect(isRenderable(mime)).toBe(mime === 'text/plain');
    }
  });

  test.each([
    ['unknown', 34_712],
    ['missing from our decoder', 50_000],
  ])('is unsupported if its compression is %s', async (_, compression) => {
    const bytes = Buffer.from(await tiff(64, 64));
    const directory = bytes.readUInt32LE(4);
    const entries = bytes.readUInt16LE(directory);
    for (let at = directory + 2; at < directory + 2 + entries * 12; at += 12) {
      if (bytes.readUInt16LE(at) === 259) bytes.writeUInt16LE(compression, at + 8);
    }
    expect((await attempt(bytes, 'image/tiff')).outcome.outcome).toBe('unsupported');
  });

  test.each([...formats, ['JPEG', 'image/jpeg', noise] as const])(
    'is broken if it is truncated: %s',
    async (_, mime, make) => {
      const whole = await make(150, 100);
      for (const share of [0.5, 0.9]) {
        const { outcome } = await attempt(whole.slice(0, Math.floor(whole.length * share)), mime);
        expect(outcome.outcome).toBe('broken');
      }
    },
  );

  // MEDIA-6
  test('is reported as broken if it is a truncated JPEG', async () => {
    const { outcome } = await attempt(await truncatedJpeg(), 'image/jpeg');
    expect(outcome).toMatchObject({
      outcome: 'broken',
      reason: { values: { detail: expect.stringContaining('premature end') } },
    });
  });

  // MEDIA-6
  test('is broken without naming a path of the server', async () => {
    const whole = await avif(64, 48);
    for (let cut = 1; cut < 40; cut += 4) {
      const { outcome } = await attempt(whole.subarray(0, whole.length - cut), 'image/avif');
      expect(outcome).toMatchObject({ outcome: 'broken' });
      expect(JSON.stringify(outcome)).not.toContain('/');
    }
  });

  test('is reported as broken if it is not a picture, whatever its detected type', async () => {
    for (const mime of ['image/jpeg', 'image/png', 'image/svg+xml'])
      expect([mime, (await attempt(plainText(), mime)).outcome.outcome]).toEqual([mime, 'broken']);
  });
});

// MEDIA-9
describe('a fault of the disk', () => {
  const render = (path: string, outDir: string) =>
    renderLadder({ path, mime: 'image/png' }, defaultLadder, { outDir });

  test('is thrown when the original is gone, and when there is nowhere to write', async () => {
    const { path, outDir } = await place(await png(40, 30));
    await expect(render(`${path}-gone`, outDir)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(render(path, `${path}-nowhere`)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.skipIf(process.platform !== 'linux')('is thrown when the disk is full', async () => {
    const { path, outDir } = await place(await png(40, 30));
    await symlink('/dev/full', `${outDir}/col.webp`);
    await expect(render(path, outDir)).rejects.toMatchObject({ code: 'ENOSPC' });
  });
});
