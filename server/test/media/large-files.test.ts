import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPicture } from '../../src/media/renderable.ts';
import { sniff } from '../../src/media/sniff.ts';
import { emptyFile, noise } from '../support/pictures.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-sniff-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function file(bytes: Uint8Array): Promise<string> {
  const path = join(directory, 'file');
  await writeFile(path, bytes);
  return path;
}

describe('a file larger than its head', () => {
  test.each(['none', 'lzw'] as const)(
    'is a TIFF though its directory stands at the end (%s)',
    async (compression) => {
      const bytes = await sharp(await noise(700, 700))
        .tiff({ compression })
        .toBuffer();
      expect(bytes.length).toBeGreaterThan(512 * 1024);
      expect(bytes.readUInt32LE(4)).toBeGreaterThan(256 * 1024);
      expect(await sniff(await file(bytes))).toEqual({ mime: 'image/tiff', extension: 'tif', kind: 'image' });
    },
  );

  test('is text though a character is cut in two where the head ends', async () => {
    const text = `x${'ů'.repeat(200_000)}`;
    expect(await sniff(await file(Buffer.from(text)))).toMatchObject({ mime: 'text/plain', kind: 'other' });
  });

  test('is binary STL when its length is that of its triangles', async () => {
    const triangles = 12;
    const bytes = Buffer.alloc(84 + 50 * triangles);
    bytes.writeUInt32LE(triangles, 80);
    expect(await sniff(await file(bytes))).toMatchObject({ mime: 'model/stl', kind: 'model' });
    const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
    expect(await sniff(await file(longer))).toMatchObject({ mime: 'application/octet-stream' });
  });

  // The kernel counts the bytes that this process reads, including those of other test files, so one of several runs counts.
  test.skipIf(process.platform !== 'linux')('is recognised from a small part of it', async () => {
    const readSoFar = async () => Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'latin1'))?.[1]);
    const heads = [
      Buffer.from('PK\x03\x04\x14\x00\x08\x00\x08\x00', 'latin1'),
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      Buffer.from('II*\x00\xf0\xff\xff\xff', 'latin1'),
      Buffer.from('\x1f\x8b\x08\x00', 'latin1'),
      Buffer.from('ID3\x03\x00\x00\x7f\x7f\x7f\x7f', 'latin1'),
      Buffer.from('OggS', 'latin1'),
      Buffer.from('\x1a\x45\xdf\xa3\xa3', 'latin1'),
      Buffer.from('RIFF\xff\xff\xff\x7fAVI ', 'latin1'),
      Buffer.from('text '),
    ];
    for (const head of heads) {
      const path = await file(head);
      const handle = await open(path, 'r+');
      await handle.truncate(4 * 1024 ** 3);
      await handle.close();
      await expect
        .poll(async () => {
          const before = await readSoFar();
          await sniff(path);
          return (await readSoFar()) - before;
        })
        .toBeLessThan(20 * 1024 * 1024);
    }
  });
});

test('an empty file has no media type', async () => {
  expect(await sniff(await file(emptyFile()))).toEqual({
    mime: 'application/octet-stream',
    extension: null,
    kind: 'other',
  });
});

test('a missing file is an error of the disk', async () => {
  await expect(sniff(join(directory, 'gone'))).rejects.toThrow(/ENOENT/);
});

describe('a raw file of a camera that begins like a TIFF', () => {
  /** A TIFF with one directory of these entries of type LONG. */
  function tiffWith(entries: [tag: number, value: number][], bigEndian = false): Buffer {
    const bytes = Buffer.alloc(8 + 2 + entries.length * 12 + 4);
    const short = (value: number, at: number) =>
      bigEndian ? bytes.writeUInt16BE(value, at) : bytes.writeUInt16LE(value, at);
    const long = (value: number, at: number) =>
      bigEndian ? bytes.writeUInt32BE(value, at) : bytes.writeUInt32LE(value, at);
    bytes.write(bigEndian ? 'MM' : 'II', 'latin1');
    short(42, 2);
    long(8, 4);
    short(entries.length, 8);
    entries.forEach(([tag, value], index) => {
      short(tag, 10 + index * 12);
      short(4, 12 + index * 12);
      long(1, 14 + index * 12);
      long(value, 18 + index * 12);
    });
    return bytes;
  }

  test.each([
    [
      'a small preview with the picture hanging below it',
      [
        [254, 1],
        [256, 160],
        [330, 4000],
      ],
    ],
    [
      'a colour filter array',
      [
        [256, 6000],
        [262, 32_803],
      ],
    ],
    [
      'linear sensor data',
      [
        [256, 6000],
        [262, 34_892],
      ],
    ],
    [
      'a DNG',
      [
        [256, 6000],
        [50_706, 1],
      ],
    ],
  ] satisfies [string, [number, number][]][])('is not taken for a TIFF: %s', async (_, entries) => {
    for (const bigEndian of [false, true]) {
      const found = await sniff(await file(tiffWith(entries, bigEndian)));
      expect(found.kind).toBe('image');
      expect(isPicture(found.mime)).toBe(false);
    }
  });

  test('is no picture with smaller copies of itself hanging below it', async () => {
    const pyramid = tiffWith([
      [254, 0],
      [256, 6000],
      [262, 2],
      [330, 4000],
    ]);
    expect(await sniff(await file(pyramid))).toMatchObject({ mime: 'image/tiff' });
  });
});
