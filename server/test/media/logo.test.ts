import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { readLogo } from '../../src/media/logo.ts';
import { refuse } from '../../src/platform/http/refuse.ts';
import { animatedGif, cmykJpeg, gif, jpeg, plainText, png, pngBomb, svg, webp } from '../support/pictures.ts';
import { uint32 } from './binary.ts';

/** Returns the logo, or the text of the error. */
async function read(bytes: Uint8Array) {
  const logo = await readLogo(Buffer.from(bytes));
  if (!('fault' in logo)) return logo;
  return 'params' in logo ? refuse(logo.fault, logo.params).message : refuse(logo.fault).message;
}

const unreadable = 'the bytes cannot be read as a picture';
const signatureLength = 8;

interface Chunk {
  kind: string;
  data: Buffer;
}

function chunksOf(bytes: Uint8Array): Chunk[] {
  const buffer = Buffer.from(bytes);
  const found: Chunk[] = [];
  for (let at = signatureLength; at < buffer.length; ) {
    const length = buffer.readUInt32BE(at);
    const kind = buffer.toString('latin1', at + 4, at + 8);
    found.push({ kind, data: buffer.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

/** Rewrites the chunks of a PNG with correct lengths and checksums. */
function rewritten(bytes: Uint8Array, change: (chunks: Chunk[]) => Chunk[]): Buffer {
  const framed = ({ kind, data }: Chunk) => {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
    return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
  };
  return Buffer.concat([bytes.slice(0, signatureLength), ...change(chunksOf(bytes)).map(framed)]);
}

/** An animated PNG (`acTL`) of 64 x 48 pixels that shows the same picture twice, for 0.1 s each. */
async function animatedPng(): Promise<Buffer> {
  const control = (sequence: number): Chunk => {
    const timing = Buffer.from([0, 1, 0, 10, 0, 0]);
    return { kind: 'fcTL', data: Buffer.concat([uint32(sequence, 64, 48, 0, 0), timing]) };
  };
  return rewritten(await png(64, 48), (chunks) => {
    const pixels = Buffer.concat(chunks.filter(({ kind }) => kind === 'IDAT').map(({ data }) => data));
    const other = (wanted: string) => chunks.filter(({ kind }) => kind === wanted);
    return [
      ...other('IHDR'),
      { kind: 'acTL', data: uint32(2, 0) },
      control(0),
      { kind: 'IDAT', data: pixels },
      control(1),
      { kind: 'fdAT', data: Buffer.concat([uint32(2), pixels]) },
      ...other('IEND'),
    ];
  });
}

/** A PNG whose header claims these edges, without pixels. */
async function claiming(width: number, height: number): Promise<Buffer> {
  return rewritten(await png(64, 48), (chunks) =>
    chunks.map(({ kind, data }) => ({
      kind,
      data: kind === 'IHDR' ? Buffer.concat([uint32(width, height), data.subarray(8)]) : data,
    })),
  );
}

/** A GIF whose frame claims more than its screen. */
async function bigFrame(): Promise<Buffer> {
  const bytes = Buffer.from(await gif(64, 48));
  // The image descriptor follows the screen descriptor, its colours and the extensions; its size is at 5 and 7.
  const at = bytes.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 64, 0, 48, 0]));
  expect(at).toBeGreaterThan(0);
  bytes.writeUInt16LE(30_000, at + 5);
  bytes.writeUInt16LE(30_000, at + 7);
  return bytes;
}

/** A valid PNG that a private chunk pads to this many bytes. */
async function ofLength(length: number): Promise<Buffer> {
  const bytes = await png(64, 48);
  const filler = { kind: 'viTr', data: Buffer.alloc(length - bytes.length - 12) };
  return rewritten(bytes, (chunks) => [...chunks.slice(0, -1), filler, ...chunks.slice(-1)]);
}

async function wrongChecksum(): Promise<Buffer> {
  const bytes = Buffer.from(await png(64, 48));
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
  return bytes;
}

const webpOfGif = async () =>
  sharp(await animatedGif(), { animated: true })
    .webp()
    .toBuffer();
const source = async () => sharp(Buffer.from(await png(64, 48)));

const kinds = [
  ['PNG', 'image/png', () => png(64, 48)],
  ['JPEG', 'image/jpeg', () => jpeg(64, 48)],
  ['GIF', 'image/gif', () => gif(64, 48)],
  ['WebP', 'image/webp', () => webp(64, 48)],
] as const;

// APPEARANCE-4
describe.each(kinds)('a %s', (_, contentType, make) => {
  test('has the type and size that decoding reports', async () => {
    expect(await read(await make())).toEqual({ contentType, width: 64, height: 48 });
  });

  test('truncated anywhere in its pixels cannot be read', async () => {
    const whole = await make();
    for (const part of [0.2, 0.6, 0.95])
      expect([part, await read(whole.slice(0, Math.floor(whole.length * part)))]).toEqual([part, unreadable]);
    for (const length of [1, 4, 12, 20]) expect(typeof (await read(whole.slice(0, length)))).toBe('string');
  });

  test('with random bytes changed is read or refused, never an error', async () => {
    const whole = await make();
    let state = 7;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let round = 0; round < 20; round += 1) {
      const changed = Uint8Array.from(whole);
      for (let at = 0; at < 3; at += 1) changed[next(changed.length)] = next(256);
      const answer = await read(changed);
      if (typeof answer === 'string') continue;
      expect(Math.max(answer.width, answer.height)).toBeLessThanOrEqual(1024);
    }
  });
});

// APPEARANCE-4
describe('a logo', () => {
  test.each([1, 4, 5, 8])('has the size that a browser shows (%i)', async (orientation) => {
    const due = orientation < 5 ? { width: 120, height: 40 } : { width: 40, height: 120 };
    expect(await read(await jpeg(120, 40, { orientation }))).toMatchObject(due);
  });

  test.each([
    ['16 x 16 pixels', () => png(16, 16)],
    ['1,024 x 1,024 pixels', () => png(1024, 1024)],
    ['a JPEG in CMYK', () => cmykJpeg(64, 48)],
    ['a progressive JPEG', async () => (await source()).jpeg({ progressive: true }).toBuffer()],
    ['a PNG of 16 bits', async () => (await source()).toColourspace('rgb16').png().toBuffer()],
    ['exactly 2 MiB', () => ofLength(2 * 1024 ** 2)],
  ])('may be %s', async (_, make) => {
    const bytes = await make();
    const { width, height } = await sharp(bytes).metadata();
    expect(await read(bytes)).toMatchObject({ width, height });
  });

  // The size is read from the header; bombs are never decoded.
  test.each([
    ['15 x 16', () => png(15, 16)],
    ['16 x 1025', () => png(16, 1025)],
    ['50000 x 50000', async () => pngBomb()],
    ['1 x 2000000', () => claiming(1, 2_000_000)],
    ['30000 x 30000', bigFrame],
  ])('may not have %s pixels', async (size, make) => {
    const bytes = await make();
    const before = performance.now();
    expect(await read(bytes)).toBe(`each edge of a logo has 16 to 1024 pixels, not ${size}`);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  const notOne = /^(a logo is a PNG, JPEG, GIF or WebP picture|the bytes cannot be read)/;
  test.each<[string, string | RegExp, () => Uint8Array | Promise<Uint8Array>]>([
    ['an animated GIF', 'a logo must not be animated', animatedGif],
    ['an animated WebP', 'a logo must not be animated', webpOfGif],
    ['an animated PNG', 'a logo must not be animated', animatedPng],
    ['an SVG', notOne, () => svg(64, 48)],
    ['text', notOne, () => plainText()],
    ['a mebibyte of NUL', notOne, () => Buffer.alloc(1024 * 1024)],
    ['the signature of a PNG alone', notOne, () => Buffer.from('89504e470d0a1a0a', 'hex')],
    ['a script behind the signature of a GIF', notOne, () => Buffer.from('GIF89a/*\0*/=1;alert(1)')],
    ['an empty body', 'the body is empty', () => new Uint8Array(0)],
    ['a PNG with a wrong checksum', unreadable, wrongChecksum],
    ['a header without pixels', unreadable, () => claiming(1024, 1024)],
    ['more than 2 MiB', 'a logo has at most 2 MiB', () => ofLength(2 * 1024 ** 2 + 1)],
  ])('may not be %s', async (_, reason, make) => {
    expect(await read(await make())).toMatch(reason);
  });
});
