import { describe, expect, test } from 'vitest';
import { fileOf, numbers } from './binary.ts';
import { colourAt, expectColour, openStudio, pictureOf } from './still-kit.ts';

const studio = openStudio();

interface Options {
  type: number;
  bits: number;
  descriptor?: number;
  palette?: { first: number; bits: number; entries: readonly Uint8Array[] };
  id?: string;
  footer?: boolean;
}

const [WIDTH, HEIGHT] = [20, 10];

/** A Targa picture whose upper half has one pixel and whose lower half another, as stored from top to bottom. */
function tga(
  { type, bits, descriptor = 32, palette, id = '', footer = false }: Options,
  upper: Uint8Array,
  lower: Uint8Array,
) {
  const table = palette === undefined ? [] : palette.entries;
  const head = fileOf(
    Uint8Array.of(id.length, palette === undefined ? 0 : 1, type),
    numbers('hhB', palette?.first ?? 0, table.length, palette?.bits ?? 0),
    numbers('hhhhBB', 0, 0, WIDTH, HEIGHT, bits, descriptor),
  );
  const half = (pixel: Uint8Array) => {
    const row =
      type >= 9
        ? fileOf(Uint8Array.of(0x80 | (WIDTH - 2)), pixel, '\0', pixel)
        : fileOf(...Array(WIDTH).fill(pixel));
    return fileOf(...Array(HEIGHT / 2).fill(row));
  };
  const end = footer ? fileOf(new Uint8Array(8), 'TRUEVISION-XFILE.\0') : '';
  return fileOf(head, id, ...table, half(upper), half(lower), end);
}

const red = [210, 12, 12];
const blue = [12, 12, 210];
const bgr = ([r = 0, g = 0, b = 0]: readonly number[], ...alpha: number[]) =>
  Uint8Array.of(b, g, r, ...alpha);
const five = ([r = 0, g = 0, b = 0]: readonly number[]) =>
  numbers('h', ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3));
const palette = { first: 5, bits: 24, entries: [bgr(red), bgr(blue)] };

// MEDIA-36
describe('a Targa picture', () => {
  test.each<[string, Uint8Array]>([
    ['24 bits', tga({ type: 2, bits: 24 }, bgr(red), bgr(blue))],
    ['24 bits, packed', tga({ type: 10, bits: 24 }, bgr(red), bgr(blue))],
    ['24 bits, from the bottom', tga({ type: 2, bits: 24, descriptor: 0 }, bgr(blue), bgr(red))],
    [
      '24 bits, with a text and a footer',
      tga({ type: 2, bits: 24, id: 'a text', footer: true }, bgr(red), bgr(blue)),
    ],
    ['32 bits', tga({ type: 2, bits: 32, descriptor: 40 }, bgr(red, 255), bgr(blue, 255))],
    ['32 bits whose alpha is unused', tga({ type: 10, bits: 32, descriptor: 40 }, bgr(red, 0), bgr(blue, 0))],
    ['16 bits', tga({ type: 2, bits: 16 }, five(red), five(blue))],
    ['16 bits with alpha, packed', tga({ type: 10, bits: 16, descriptor: 33 }, five(red), five(blue))],
    ['a palette', tga({ type: 1, bits: 8, palette }, Uint8Array.of(5), Uint8Array.of(6))],
    ['a palette, packed', tga({ type: 9, bits: 8, palette }, Uint8Array.of(5), Uint8Array.of(6))],
  ])('of %s is recognised and drawn', async (_, bytes) => {
    const made = await studio.decode(bytes);
    expect(made.mime).toBe('image/x-tga');
    const { path, ...shape } = pictureOf(made);
    expect(shape).toEqual({ width: WIDTH, height: HEIGHT });
    expectColour(await colourAt(path, 0.5, 0.2), red, 12);
    expectColour(await colourAt(path, 0.5, 0.8), blue, 12);
  });

  test.each([3, 11])('of grey is recognised and drawn (type %i)', async (type) => {
    const made = await studio.decode(tga({ type, bits: 8 }, Uint8Array.of(200), Uint8Array.of(60)));
    expectColour(await colourAt(pictureOf(made).path, 0.5, 0.2), [200, 200, 200], 5);
  });

  test('keeps its transparency', async () => {
    const made = await studio.decode(tga({ type: 2, bits: 32, descriptor: 40 }, bgr(red, 255), bgr(blue, 0)));
    expect((await colourAt(pictureOf(made).path, 0.5, 0.8))[3]).toBe(0);
  });

  test('is damaged if pixels are missing', async () => {
    const whole = tga({ type: 10, bits: 24 }, bgr(red), bgr(blue));
    expect(await studio.outcomeOf(whole.slice(0, -20), 'image/x-tga')).toMatch(/^broken: /);
  });
});
