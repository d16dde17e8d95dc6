import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLadder } from '../../src/media/ladder.ts';
import { renderLadder } from '../../src/media/raster.ts';
import { sniff } from '../../src/media/sniff.ts';
import { jpeg, plainText, png, pngBomb, svg, truncatedJpeg, webp } from '../support/pictures.ts';
import { ole } from './ole-files.ts';
import { eps, postscript } from './postscript.ts';

let directory: string;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-media-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function file(bytes: Uint8Array): Promise<string> {
  count += 1;
  const path = join(directory, `file-${count}.jpg`);
  await writeFile(path, bytes);
  return path;
}

// MEDIA-1
describe('a file’s type is determined by its bytes', () => {
  test.each([
    ['a JPEG', () => jpeg(20, 20), 'image/jpeg', 'image'],
    ['a PNG', () => png(20, 20), 'image/png', 'image'],
    ['a WebP', () => webp(20, 20), 'image/webp', 'image'],
    ['an SVG', async () => svg(20, 20), 'image/svg+xml', 'image'],
    ['text', async () => plainText(), 'text/plain', 'other'],
    ['a PDF', async () => Buffer.from('%PDF-1.7\n%\xe2\xe3\n', 'latin1'), 'application/pdf', 'document'],
    ['glTF', async () => Buffer.from('{"asset":{"version":"2.0"}}'), 'model/gltf+json', 'model'],
    ['a FLAC', async () => Buffer.from('fLaC\0\0\0\x22', 'latin1'), 'audio/flac', 'audio'],
    ['nothing', async () => new Uint8Array(0), 'application/octet-stream', 'other'],
  ])('%s', async (_, make, mime, kind) => {
    expect(await sniff(await file(await make()))).toMatchObject({ mime, kind });
  });

  test.each([
    ['UTF-16 text of Windows', Buffer.from('\ufeffGrüße\r\n', 'utf16le'), 'text/plain', 'other'],
    [
      'UTF-16 text of the other byte order',
      Buffer.from('\ufeffGrüße\n', 'utf16le').swap16(),
      'text/plain',
      'other',
    ],
    [
      'UTF-16 text with half a character',
      Buffer.from('\ufeffabc\ud800d', 'utf16le'),
      'application/octet-stream',
      'other',
    ],
    ['EPS', eps(), 'application/eps', 'document'],
    ['PostScript', postscript(), 'application/postscript', 'document'],
    ['a Word document', ole([{ name: 'WordDocument' }]), 'application/msword', 'document'],
    [
      'an Excel workbook',
      ole([{ name: 'Other', right: 2 }, { name: 'Workbook' }]),
      'application/vnd.ms-excel',
      'document',
    ],
    ['an Excel 5 workbook', ole([{ name: 'Book' }]), 'application/vnd.ms-excel', 'document'],
    [
      'a PowerPoint presentation',
      ole([{ name: 'PowerPoint Document' }]),
      'application/vnd.ms-powerpoint',
      'document',
    ],
    [
      'a workbook with a Word document in it',
      ole([{ name: 'MBD0001', child: 3, right: 2 }, { name: 'Workbook' }, { name: 'WordDocument' }]),
      'application/vnd.ms-excel',
      'document',
    ],
    [
      'a container whose directory lies behind 8 MB',
      ole([{ name: 'WordDocument' }], 13_000),
      'application/msword',
      'document',
    ],
    [
      'a container whose directory goes round',
      ole([{ name: 'A', left: 1, right: 1 }]),
      'application/x-cfb',
      'document',
    ],
    [
      'a container that is cut off',
      ole([{ name: 'WordDocument' }]).slice(0, 700),
      'application/x-cfb',
      'document',
    ],
  ])('%s', async (_, bytes, mime, kind) => {
    expect(await sniff(await file(bytes))).toMatchObject({ mime, kind });
  });

  test('and hostile bytes have no known type', async () => {
    const heads = [
      '',
      '\x89PNG\r\n\x1a\n',
      '\xff\xd8\xff',
      'GIF89a',
      'RIFF',
      'PK\x03\x04',
      '<svg',
      '<?xml',
      '{"asset":',
    ];
    for (let round = 0; round < 200; round += 1) {
      const head = Buffer.from(heads[round % heads.length] ?? '', 'latin1');
      const found = await sniff(await file(Buffer.concat([head, randomBytes(round * 17)])));
      expect(found.mime).toMatch(/^\w+\//);
    }
  });
});

describe('renderLadder', () => {
  const render = async (bytes: Uint8Array, mime: string) =>
    renderLadder({ path: await file(bytes), mime }, defaultLadder, { outDir: directory });

  test('distinguishes pictures, bombs and broken pictures', async () => {
    expect(await render(await jpeg(100, 80), 'image/jpeg')).toMatchObject({
      outcome: 'rendered',
      width: 100,
    });
    expect(await render(pngBomb(), 'image/png')).toMatchObject({ outcome: 'unsupported' });
    expect(await render(await truncatedJpeg(), 'image/jpeg')).toMatchObject({ outcome: 'broken' });
    expect(await render(randomBytes(5000), 'image/jpeg')).toMatchObject({ outcome: 'broken' });
    expect(await render(plainText(), 'text/plain')).toMatchObject({ outcome: 'unsupported' });
  });

  test('rungs with identical pixels share one file', async () => {
    const outcome = await render(await png(300, 200), 'image/png');
    if (outcome.outcome !== 'rendered') throw new Error(outcome.reason);
    const paths = new Map(outcome.renditions.map(({ key, path }) => [key, path]));
    expect(paths.get('preview')).toBe(paths.get('hires'));
    expect(paths.get('preview')).not.toBe(paths.get('col'));
  });

  // MEDIA-9
  test('a fault of the disk is thrown, so that the job is tried again', async () => {
    const missing = { path: join(directory, 'gone'), mime: 'image/png' };
    await expect(renderLadder(missing, defaultLadder, { outDir: directory })).rejects.toThrow(/ENOENT/);
  });
});
