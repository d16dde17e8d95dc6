import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { readLogo } from '../../src/media/logo.ts';
import { animatedGif, cmykJpeg, gif, jpeg, plainText, png, pngBomb, svg, webp } from '../support/pictures.ts';

const read = (bytes: Uint8Array) => readLogo(Buffer.from(bytes));

const unreadable = 'the bytes cannot be read as a picture';
const moves = 'a logo does not move';
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

function framed({ kind, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

/** Rewrites the chunks of a PNG with correct lengths and checksums. */
function rewritten(bytes: Uint8Array, change: (chunks: Chunk[]) => Chunk[]): Buffer {
  return Buffer.concat([bytes.slice(0, signatureLength), ...change(chunksOf(bytes)).map(framed)]);
}

function numbers(...values: number[]): Buffer {
  const data = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) data.writeUInt32BE(value, at * 4);
  return data;
}

/** An animated PNG (`acTL`) that shows the same picture twice, for 0.1 s each. */
function animatedPng(bytes: Uint8Array, width: number, height: number): Buffer {
  const control = (sequence: number): Chunk => {
    const timing = Buffer.from([0, 1, 0, 10, 0, 0]);
    return { kind: 'fcTL', data: Buffer.concat([numbers(sequence, width, height, 0, 0), timing]) };
  };
  return rewritten(bytes, (chunks) => {
    const pixels = Buffer.concat(chunks.filter(({ kind }) => kind === 'IDAT').map(({ data }) => data));
    const other = (wanted: string) => chunks.filter(({ kind }) => kind === wanted);
    return [
      ...other('IHDR'),
      { kind: 'acTL', data: numbers(2, 0) },
      control(0),
      { kind: 'IDAT', data: pixels },
      control(1),
      { kind: 'fdAT', data: Buffer.concat([numbers(2), pixels]) },
      ...other('IEND'),
    ];
  });
}

/** A header that claims these edges, without pixels. */
async function claiming(width: number, height: number): Promise<Buffer> {
  return rewritten(await png(64, 48), (chunks) =>
    chunks.map(({ kind, data }) =>
      kind === 'IHDR'
        ? { kind, data: Buffer.concat([numbers(width, height), data.subarray(8)]) }
        : { kind, data },
    ),
  );
}

async function animatedWebp(): Promise<Buffer> {
  return sharp(await animatedGif(), { animated: true })
    .webp()
    .toBuffer();
}

const kinds = [
  ['PNG', 'image/png', () => png(64, 48)],
  ['JPEG', 'image/jpeg', () => jpeg(64, 48)],
  ['GIF', 'image/gif', () => gif(64, 48)],
  ['WebP', 'image/webp', () => webp(64, 48)],
] as const;

describe.each(kinds)('a %s', (_, contentType, make) => {
  test('has the type and size that decoding reports', async () => {
    expect(await read(await make())).toEqual({ contentType, width: 64, height: 48 });
  });

  test('truncated anywhere in its pixels cannot be read', async () => {
    const whole = await make();
    for (const part of [0.2, 0.4, 0.6, 0.8, 0.95]) {
      expect([part, await read(whole.slice(0, Math.floor(whole.length * part)))]).toEqual([part, unreadable]);
    }
    for (const length of [1, 4, 12, 20]) expect(typeof (await read(whole.slice(0, length)))).toBe('string');
  });

  test('with random bytes changed is read or refused, never an error', async () => {
    const whole = await make();
    let state = 7;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let round = 0; round < 60; round += 1) {
      const changed = Uint8Array.from(whole);
      for (let at = 0; at < 3; at += 1) changed[next(changed.length)] = next(256);
      const answer = await read(changed);
      if (typeof answer === 'string') continue;
      expect(answer.width).toBeLessThanOrEqual(1024);
      expect(answer.height).toBeLessThanOrEqual(1024);
    }
  });
});

describe('width and height are those a browser shows', () => {
  test.each([1, 2, 3, 4])('orientation %i leaves them', async (orientation) => {
    expect(await read(await jpeg(120, 40, { orientation }))).toMatchObject({ width: 120, height: 40 });
  });

  test.each([5, 6, 7, 8])('orientation %i turns them', async (orientation) => {
    expect(await read(await jpeg(120, 40, { orientation }))).toMatchObject({ width: 40, height: 120 });
  });
});

describe('is a logo', () => {
  test.each([
    [16, 16],
    [16, 1024],
    [1024, 1024],
  ])('%i x %i pixels', async (width, height) => {
    expect(await read(await png(width, height))).toEqual({ contentType: 'image/png', width, height });
  });

  test('a JPEG in CMYK, a PNG of 16 bits, one of a palette, a WebP without loss', async () => {
    const source = Buffer.from(await png(64, 48));
    const all = [
      await cmykJpeg(64, 48),
      await sharp(source).toColourspace('rgb16').png().toBuffer(),
      await sharp(source).png({ palette: true }).toBuffer(),
      await sharp(source).webp({ lossless: true }).toBuffer(),
      await sharp(source).jpeg({ progressive: true }).toBuffer(),
    ];
    for (const bytes of all) expect(await read(bytes)).toMatchObject({ width: 64, height: 48 });
  });
});

describe('is no logo', () => {
  // APPEARANCE-4
  test.each([
    [15, 16],
    [16, 15],
    [1025, 16],
    [16, 1025],
    [1, 1],
  ])('%i x %i pixels', async (width, height) => {
    const rule = `each edge of a logo has 16 to 1024 pixels, not ${width} x ${height}`;
    expect(await read(await png(width, height))).toBe(rule);
  });

  test('an animated GIF', async () => expect(await read(await animatedGif())).toBe(moves));
  test('an animated WebP', async () => expect(await read(await animatedWebp())).toBe(moves));
  test('an animated PNG', async () => {
    expect(await read(animatedPng(await png(64, 48), 64, 48))).toBe(moves);
  });

  test.each([
    ['an SVG', svg(64, 48)],
    ['an SVG without the first line', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['text', plainText()],
    ['a NUL', Buffer.alloc(1)],
    ['a mebibyte of NUL', Buffer.alloc(1024 * 1024)],
    ['the signature of a PNG alone', Buffer.from('89504e470d0a1a0a', 'hex')],
    ['the signature of a GIF alone', Buffer.from('GIF89a')],
    ['a script behind the signature of a GIF', Buffer.from('GIF89a/*\0*/=1;alert(1)')],
    ['a PDF', Buffer.from('%PDF-1.4\n%%EOF\n')],
  ])('%s', async (_, bytes) => {
    expect(await read(bytes)).toMatch(
      /^(a logo is a PNG, JPEG, GIF or WebP picture|the bytes cannot be read)/,
    );
  });

  test('an empty body', async () => expect(await read(new Uint8Array(0))).toBe('the body is empty'));

  test('a PNG with a wrong checksum', async () => {
    const bytes = Buffer.from(await png(64, 48));
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
    expect(await read(bytes)).toBe(unreadable);
  });
});

describe('2 MiB', () => {
  const most = 2 * 1024 * 1024;
  /** A valid PNG that a private chunk pads to this many bytes. */
  async function ofLength(length: number): Promise<Buffer> {
    const bytes = await png(64, 48);
    const filler = { kind: 'viTr', data: Buffer.alloc(length - bytes.length - 12) };
    return rewritten(bytes, (chunks) => [...chunks.slice(0, -1), filler, ...chunks.slice(-1)]);
  }

  test('exactly is accepted, one byte more is refused', async () => {
    const exactly = await ofLength(most);
    expect(exactly.length).toBe(most);
    expect(await read(exactly)).toMatchObject({ width: 64, height: 48 });
    expect(await read(await ofLength(most + 1))).toBe('a logo has at most 2 MiB');
  });
});

describe('a bomb is recognised by its header and never decoded', () => {
  test.each([
    ['a PNG of 50,000 x 50,000 pixels', async () => pngBomb(), '50000 x 50000'],
    ['a head of 30,000 x 30,000 pixels', () => claiming(30_000, 30_000), '30000 x 30000'],
    ['a head of 1 x 2,000,000 pixels', () => claiming(1, 2_000_000), '1 x 2000000'],
    ['a GIF with a frame of 30,000 x 30,000 pixels on a small screen', bigFrame, '30000 x 30000'],
  ])('%s', async (_, make, size) => {
    const bytes = await make();
    const before = performance.now();
    expect(await read(bytes)).toBe(`each edge of a logo has 16 to 1024 pixels, not ${size}`);
    expect(performance.now() - before).toBeLessThan(3000);
  });

  test('a header within the limits without pixels cannot be read', async () => {
    expect(await read(await claiming(1024, 1024))).toBe(unreadable);
  });

  async function bigFrame(): Promise<Buffer> {
    const bytes = Buffer.from(await gif(64, 48));
    // The image descriptor follows the screen descriptor, its colours and the extensions; its size is at 5 and 7.
    const marker = Buffer.from([0x2c, 0, 0, 0, 0, 64, 0, 48, 0]);
    const at = bytes.indexOf(marker);
    expect(at).toBeGreaterThan(0);
    bytes.writeUInt16LE(30_000, at + 5);
    bytes.writeUInt16LE(30_000, at + 7);
    return bytes;
  }
});
