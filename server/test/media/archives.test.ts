import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { downloadZip } from 'client-zip';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { previewKind } from '../../src/media/renderable.ts';
import { sniff } from '../../src/media/sniff.ts';

let directory: string;
let decoders: Decoders;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vitrine-archives-'));
  decoders = openDecoders();
});
afterAll(async () => {
  await decoders.close();
  await rm(directory, { recursive: true, force: true });
});

interface Contents {
  entries: { path: string; size_bytes: number; modified_at?: string }[];
  truncated: boolean;
}

/** Returns what a decoder makes of an archive, with the type it recognises. */
async function attempt(bytes: Uint8Array) {
  count += 1;
  const path = join(directory, `${count}`);
  const outDir = join(directory, `${count}-out`);
  await writeFile(path, bytes);
  await mkdir(outDir);
  const { mime } = await sniff(path);
  const input = { path, mime, rungs: [], outDir };
  const { ladder, extras } = await decoders.run(previewKind(mime), 'owner', 'ladder', input);
  const [made] = extras;
  const contents: Contents | null = made === undefined ? null : JSON.parse(await readFile(made.path, 'utf8'));
  return { mime, ladder, keys: extras.map(({ key }) => key), contents };
}

const day = new Date('2024-05-06T07:08:10Z');

async function zip(files: Record<string, string>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, input]) => ({ name, input, lastModified: day }));
  return Buffer.from(await downloadZip(entries).arrayBuffer());
}

async function tar(files: Record<string, string>): Promise<Buffer> {
  const archive = pack();
  for (const [name, text] of Object.entries(files)) archive.entry({ name, mtime: day }, text);
  archive.finalize();
  return buffer(archive);
}

const files = { 'notes/read me.txt': 'hello', 'pictures/žába.png': 'not really' };
const listed = [
  { path: 'notes/read me.txt', size_bytes: 5 },
  { path: 'pictures/žába.png', size_bytes: 10 },
];

describe('an archive', () => {
  // MEDIA-20
  test.each([
    ['a ZIP', () => zip(files), 'application/zip'],
    ['a tape archive', () => tar(files), 'application/x-tar'],
    ['a compressed tape archive', async () => gzipSync(await tar(files)), 'application/gzip'],
  ])('lists its contents and has no picture: %s', async (_, make, type) => {
    const { mime, ladder, keys, contents } = await attempt(await make());
    expect([mime, ladder.outcome, keys]).toEqual([type, 'unsupported', ['contents.json']]);
    expect(contents).toMatchObject({ entries: listed, truncated: false });
    expect(contents?.entries[0]?.modified_at).toMatch(/^2024-05-06T/);
  });

  test.each([
    ['a ZIP', zip],
    ['a tape archive', tar],
  ])('lists the first 10,000 files, and says that there are more: %s', async (_, make) => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`${index}.txt`, 'x']));
    const { contents } = await attempt(await make(many));
    expect([contents?.entries.length, contents?.truncated]).toEqual([10_000, true]);
  });

  test('lists paths that point outside of it unchanged', async () => {
    const { contents } = await attempt(await zip({ '../../etc/passwd': 'x' }));
    expect(contents?.entries).toMatchObject([{ path: '../../etc/passwd' }]);
  });

  test('is listed even if its files are encrypted', async () => {
    const bytes = await zip({ 'secret.txt': 'x' });
    const entry = bytes.indexOf('PK\x01\x02', 0, 'latin1');
    bytes.writeUInt16LE(bytes.readUInt16LE(entry + 8) | 1, entry + 8);
    expect((await attempt(bytes)).contents?.entries).toMatchObject([{ path: 'secret.txt' }]);
  });

  // MEDIA-20
  test('is not unpacked: a file of a petabyte is only listed', async () => {
    const bytes = await zip({ 'bomb.bin': 'x' });
    const entry = bytes.indexOf('PK\x01\x02', 0, 'latin1');
    bytes.writeUInt32LE(0xfffffff0, entry + 24);
    expect((await attempt(bytes)).contents?.entries).toMatchObject([
      { path: 'bomb.bin', size_bytes: 0xfffffff0 },
    ]);
  });

  test('that is only a compressed file has no list', async () => {
    const { ladder, contents } = await attempt(gzipSync(randomBytes(5000)));
    expect([ladder, contents]).toEqual([{ outcome: 'unsupported', reason: 'it holds a single file' }, null]);
  });

  test('that is truncated is broken', async () => {
    for (const make of [
      () => zip(files),
      async () => gzipSync(await tar({ ...files, noise: randomBytes(9000).toString('hex') })),
    ]) {
      const whole = await make();
      const { ladder } = await attempt(whole.subarray(0, whole.length - 40));
      expect(ladder.outcome).toBe('broken');
    }
  });

  test('that is mutated is either listed or broken', async () => {
    for (const original of [await zip(files), await tar(files), gzipSync(await tar(files))]) {
      for (let round = 0; round < 20; round += 1) {
        const mutated = Buffer.from(original);
        for (const at of randomBytes(1 + (round % 6))) {
          const place = 4 + ((at * 31 + round * 17) % (mutated.length - 4));
          mutated[place] = randomBytes(1)[0] ?? 0;
        }
        const { ladder } = await attempt(mutated);
        expect(['unsupported', 'broken', 'rendered']).toContain(ladder.outcome);
      }
    }
  });
});
