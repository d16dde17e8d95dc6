import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sentence } from '../../src/platform/language/sentence.ts';
import { fileOf } from './binary.ts';
import { tar, tarNamed, zip } from './packages.ts';
import { extraOf, openStudio } from './still-kit.ts';

const studio = openStudio();

interface Contents {
  entries: { path: string; size_bytes: number; modified_at?: string }[];
  truncated: boolean;
}

/** Returns what is made of an archive, with its list. */
async function attempt(bytes: Uint8Array) {
  const made = await studio.decode(bytes);
  const list = await extraOf(made, 'contents.json');
  const contents: Contents | null = list === null ? null : JSON.parse(list.toString());
  return { ...made, contents };
}

const files = { 'notes/read me.txt': 'hello', 'pictures/žába.png': 'not really' };

// MEDIA-20
describe('an archive', () => {
  test.each([
    ['a ZIP', async () => zip(files), 'application/zip'],
    ['a tape archive', () => tar(files), 'application/x-tar'],
    ['a compressed tape archive', async () => gzipSync(await tar(files)), 'application/gzip'],
  ])('lists its contents and has no picture: %s', async (_, make, type) => {
    const { mime, ladder, contents } = await attempt(await make());
    expect([mime, ladder.outcome]).toEqual([type, 'unsupported']);
    expect(contents).toMatchObject({
      entries: [
        { path: 'notes/read me.txt', size_bytes: 5, modified_at: expect.stringMatching(/^2024-05-06T/) },
        { path: 'pictures/žába.png', size_bytes: 10 },
      ],
      truncated: false,
    });
  });

  // MEDIA-39
  test.each([
    ['utf-8', ['Größe/東京.txt', 'žába.png']],
    ['iso-8859-1', ['Größe/Müller.txt', 'café.txt']],
    ['shift_jis', ['東京/夜景.jpg', 'メモ.txt']],
    ['windows-1251', ['Привет/мир.txt', 'Проверка кодировки.txt']],
  ])('that is a tape archive lists names in %s', async (encoding, names) => {
    const { contents } = await attempt(await tarNamed(encoding, names));
    expect(contents?.entries.map(({ path }) => path)).toEqual(names);
  });

  // MEDIA-39
  test('that is a tape archive lists long names in UTF-8 beside others', async () => {
    const long = `${'Größe/'.repeat(40)}東京.txt`;
    const { contents } = await attempt(await tar({ [long]: 'x', 'plain.txt': 'y' }));
    expect(contents?.entries.map(({ path }) => path)).toEqual([long, 'plain.txt']);
  });

  // MEDIA-40
  test.each([
    ['Windows', fileOf('MZ\x90\0\x03\0\0\0', new Uint8Array(500))],
    ['Linux', fileOf('\x7fELF\x02\x01\x01\0', new Uint8Array(500))],
  ])('that is a program of %s which unpacks itself is listed', async (_, program) => {
    const { mime, contents } = await attempt(fileOf(program, zip(files)));
    expect([mime, contents?.entries.length]).toEqual(['application/zip', 2]);
    expect((await attempt(program)).mime).not.toBe('application/zip');
  });

  test.each([
    ['a ZIP', zip],
    ['a tape archive', tar],
  ])('lists the first 10,000 files, and says that there are more: %s', async (_, make) => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`${index}.txt`, 'x']));
    const { contents } = await attempt(await make(many));
    expect([contents?.entries.length, contents?.truncated]).toEqual([10_000, true]);
  });

  test.each([
    ['have paths that point outside of it', '../../etc/passwd', 1, () => {}],
    [
      'are encrypted',
      'secret.txt',
      1,
      (bytes: Buffer, entry: number) => bytes.writeUInt16LE(bytes.readUInt16LE(entry + 8) | 1, entry + 8),
    ],
    [
      'claim to have 4 GB',
      'bomb.bin',
      0xfffffff0,
      (bytes: Buffer, entry: number) => bytes.writeUInt32LE(0xfffffff0, entry + 24),
    ],
  ])('is only listed, not unpacked, when its files %s', async (_, path, size_bytes, change) => {
    const bytes = Buffer.from(zip({ [path]: 'x' }));
    change(bytes, bytes.indexOf('PK\x01\x02', 0, 'latin1'));
    expect((await attempt(bytes)).contents?.entries).toMatchObject([{ path, size_bytes }]);
  });

  test('has no list if it is only a compressed file', async () => {
    const { ladder, contents } = await attempt(gzipSync(randomBytes(5000)));
    expect([ladder, contents]).toEqual([
      { outcome: 'unsupported', reason: sentence('it holds a single file') },
      null,
    ]);
  });

  test('is broken when it is truncated', async () => {
    const noise = randomBytes(9000).toString('hex');
    for (const whole of [zip(files), gzipSync(await tar({ ...files, noise }))])
      expect((await attempt(whole.subarray(0, whole.length - 40))).ladder.outcome).toBe('broken');
  });
});
