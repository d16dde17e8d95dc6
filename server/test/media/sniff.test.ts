import { randomBytes } from 'node:crypto';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { isPicture } from '../../src/media/renderable.ts';
import { sniff } from '../../src/media/sniff.ts';
import { emptyFile, jpeg, noise, plainText, png, svg, webp } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { tiffOf } from './binary.ts';
import { ole } from './ole-files.ts';
import { eps, postscript } from './postscript.ts';

let count = 0;

const directory = await temporaryDirectory();

/** Writes the bytes to a file with a misleading name. */
async function file(bytes: Uint8Array): Promise<string> {
  count += 1;
  const path = join(directory, `file-${count}.jpg`);
  await writeFile(path, bytes);
  return path;
}

const typeOf = async (bytes: Uint8Array) => sniff(await file(bytes));
const unknown = { mime: 'application/octet-stream', extension: null, kind: 'other' };
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

// MEDIA-1
describe('a file’s type is determined by its bytes', () => {
  test.each([
    ['a JPEG', jpeg(20, 20), 'image/jpeg', 'image'],
    ['a PNG', png(20, 20), 'image/png', 'image'],
    ['a WebP', webp(20, 20), 'image/webp', 'image'],
    ['an SVG', svg(20, 20), 'image/svg+xml', 'image'],
    ['text', plainText(), 'text/plain', 'other'],
    ['a PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3\n', 'latin1'), 'application/pdf', 'document'],
    ['glTF', Buffer.from('{"asset":{"version":"2.0"}}'), 'model/gltf+json', 'model'],
    ['a FLAC', Buffer.from('fLaC\0\0\0\x22', 'latin1'), 'audio/flac', 'audio'],
    ['UTF-16 text of Windows', utf16('Grüße\r\n'), 'text/plain', 'other'],
    ['UTF-16 text of the other byte order', utf16('Grüße\n').swap16(), 'text/plain', 'other'],
    ['UTF-16 text with an unpaired surrogate', utf16('abc\ud800d'), 'application/octet-stream', 'other'],
    ['EPS', eps(), 'application/eps', 'document'],
    ['PostScript', postscript(), 'application/postscript', 'document'],
  ])('%s', async (_, bytes, mime, kind) => {
    expect(await typeOf(await bytes)).toMatchObject({ mime, kind });
  });

  const excel = 'application/vnd.ms-excel';
  const word = ole([{ name: 'WordDocument' }]);
  test.each([
    ['a Word document', word, 'application/msword'],
    ['an Excel workbook', ole([{ name: 'Other', right: 2 }, { name: 'Workbook' }]), excel],
    ['an Excel 5 workbook', ole([{ name: 'Book' }]), excel],
    ['a PowerPoint presentation', ole([{ name: 'PowerPoint Document' }]), 'application/vnd.ms-powerpoint'],
    [
      'a workbook with a Word document in it',
      ole([{ name: 'MBD0001', child: 3, right: 2 }, { name: 'Workbook' }, { name: 'WordDocument' }]),
      excel,
    ],
    ['one whose directory lies behind 8 MB', ole([{ name: 'WordDocument' }], 13_000), 'application/msword'],
    ['one whose directory goes round', ole([{ name: 'A', left: 1, right: 1 }]), 'application/x-cfb'],
    ['one that is cut off', word.slice(0, 700), 'application/x-cfb'],
  ])('a container of old Office documents: %s', async (_, bytes, mime) => {
    expect(await typeOf(bytes)).toMatchObject({ mime, kind: 'document' });
  });

  test('hostile bytes', async () => {
    const heads = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF89a', 'RIFF', 'PK\x03\x04', '<svg', '<?xml'];
    for (const head of [...heads, '', '{"asset":']) {
      for (const length of [0, 17, 500, 3000]) {
        const { mime } = await typeOf(Buffer.concat([Buffer.from(head, 'latin1'), randomBytes(length)]));
        expect(mime).toMatch(/^\w+\//);
      }
    }
  });

  test('an empty file has none, and a missing file is an error of the disk', async () => {
    expect(await typeOf(emptyFile())).toEqual(unknown);
    await expect(sniff(join(directory, 'gone'))).rejects.toThrow(/ENOENT/);
  });
});

describe('a file larger than its head', () => {
  test.each(['none', 'lzw'] as const)('is a TIFF with its directory at the end (%s)', async (compression) => {
    const bytes = await sharp(await noise(500, 500))
      .tiff({ compression })
      .toBuffer();
    expect(bytes.length).toBeGreaterThan(512 * 1024);
    expect(bytes.readUInt32LE(4)).toBeGreaterThan(256 * 1024);
    expect(await typeOf(bytes)).toEqual({ mime: 'image/tiff', extension: 'tif', kind: 'image' });
  });

  test('is text even if the head ends inside a character', async () => {
    const text = Buffer.from(`x${'ů'.repeat(200_000)}`);
    expect(await typeOf(text)).toMatchObject({ mime: 'text/plain', kind: 'other' });
  });

  test('is binary STL when its length is that of its triangles', async () => {
    const bytes = Buffer.alloc(84 + 50 * 12);
    bytes.writeUInt32LE(12, 80);
    expect(await typeOf(bytes)).toMatchObject({ mime: 'model/stl', kind: 'model' });
    expect(await typeOf(Buffer.concat([bytes, Buffer.alloc(1)]))).toEqual(unknown);
  });

  // The kernel counts the bytes that this process reads, including those of other test files, so one of several runs counts.
  test.skipIf(process.platform !== 'linux')('is recognised from a small part of it', async () => {
    const readSoFar = async () => Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'latin1'))?.[1]);
    const heads = [
      'PK\x03\x04\x14\x00\x08\x00\x08\x00',
      '\x89PNG\r\n\x1a\n',
      'II*\x00\xf0\xff\xff\xff',
      '\x1f\x8b\x08\x00',
      'ID3\x03\x00\x00\x7f\x7f\x7f\x7f',
      'OggS',
      '\x1a\x45\xdf\xa3\xa3',
      'RIFF\xff\xff\xff\x7fAVI ',
      'text ',
    ];
    for (const head of heads) {
      const path = await file(Buffer.from(head, 'latin1'));
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

describe('a raw file of a camera that begins like a TIFF', () => {
  test.each([
    ['a small preview with the picture hanging below it', { 254: 1, 256: 160, 330: 4000 }],
    ['a colour filter array', { 256: 6000, 262: 32_803 }],
    ['linear sensor data', { 256: 6000, 262: 34_892 }],
    ['a DNG', { 256: 6000, 50706: 1 }],
  ])('is not taken for a TIFF: %s', async (_, tags) => {
    for (const bigEndian of [false, true]) {
      const { kind, mime } = await typeOf(tiffOf(tags, bigEndian));
      expect([kind, isPicture(mime)]).toEqual(['image', false]);
    }
  });

  test('is a TIFF if it contains smaller copies of itself', async () => {
    const pyramid = tiffOf({ 254: 0, 256: 6000, 262: 2, 330: 4000 });
    expect(await typeOf(pyramid)).toMatchObject({ mime: 'image/tiff' });
  });
});
