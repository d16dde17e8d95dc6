// @module-tag disk
import { once } from 'node:events';
import { open, readdir, readFile, readlink, rm, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ShownAsset } from '@vitrine/contract/assets';
import { describe, expect, test } from 'vitest';
import { storeFound } from '../../src/operate/import/store.ts';
import { originalKey, renditionKey } from '../../src/platform/storage/object-key.ts';
import { requestAs } from '../support/client.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, sha256 } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const library = await openLibrary();
const [mara, other] = await library.joinAll('mara', 'other');

const directory = await temporaryDirectory();

const originalOf = (bytes: Uint8Array) => objectPath(library, originalKey(sha256(bytes)));

/** Changes one byte in the middle of a file, as a failing disk does. */
async function flipByte(path: string): Promise<void> {
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  await file.write(Buffer.from([0xff, 0x00]), 0, 2, Math.floor(size / 2));
  await file.close();
}

const get = (path: string, init: RequestInit = {}) =>
  requestAs(mara, library, path, { ...init, signal: AbortSignal.timeout(10_000) });

async function shown(id: string): Promise<ShownAsset> {
  const asset = await mara.ok('getAsset', { params: { id } });
  if (asset.restricted) throw new Error('withheld from its owner');
  return asset;
}

let seed = 500;
async function picture(): Promise<Bytes> {
  seed += 1;
  return jpeg(70, 50, { seed });
}

const damages: [string, 'file-missing' | 'file-damaged', (path: string) => Promise<void>][] = [
  ['was cut short', 'file-damaged', (path) => truncate(path, 100)],
  ['is empty', 'file-damaged', (path) => truncate(path, 0)],
  ['is too long', 'file-damaged', (path) => writeFile(path, 'more', { flag: 'a' })],
  ['is missing', 'file-missing', (path) => rm(path)],
];

/** Returns the status of a response and what it says of the file. */
async function lossIn(answer: Response) {
  const { error }: { error?: string } = await answer.json();
  return { status: answer.status, code: answer.headers.get('vitrine-error'), error };
}

const losses = {
  'file-missing': { status: 500, code: 'file-missing', error: 'the stored file is missing' },
  'file-damaged': { status: 500, code: 'file-damaged', error: 'the stored file is damaged' },
};

// FILE-5, FILE-6
describe.each(damages)('an original that %s', (_, code, damage) => {
  // FILE-5, FILE-6, FILE-12
  test('returns a 500 that names the damage, and is replaced by an upload, not referred to by its hash', async () => {
    for (const uploader of [mara, other]) {
      const bytes = await picture();
      const { id } = await upload(mara, bytes);
      await damage(originalOf(bytes));
      for (const range of [undefined, 'bytes=0-9', 'bytes=-20']) {
        const answer = await get(`/assets/${id}/file`, range === undefined ? {} : { headers: { range } });
        expect([range, await lossIn(answer)]).toEqual([range, losses[code]]);
        expect(answer.headers.get('etag')).toBeNull();
        expect(answer.headers.get('cache-control')).toBe('no-store');
      }
      const head = await get(`/assets/${id}/file`, { method: 'HEAD' });
      expect([head.status, head.headers.get('vitrine-error')]).toEqual([500, code]);
      expect(await mara.refused('createAsset', { body: { file_hash: sha256(bytes) } })).toEqual({
        status: 409,
        error: 'the stored file is damaged; upload the file itself to repair it',
      });
      await upload(uploader, bytes);
      expect(sha256(await readFile(originalOf(bytes)))).toBe(sha256(bytes));
      expect(sha256(await (await get(`/assets/${id}/file`)).bytes())).toBe(sha256(bytes));
    }
  });
});

describe('a damaged original', () => {
  test('is replaced when the file is imported again', async () => {
    const bytes = await picture();
    const path = join(directory, 'again.jpg');
    await writeFile(path, bytes);
    const file = { path, source: path, name: 'again.jpg', folder: '' };
    const first = await storeFound(library.deps, mara.ref, file);
    await truncate(originalOf(bytes), 100);
    const again = await storeFound(library.deps, mara.ref, file);
    expect(again).toEqual({ assetId: first.assetId, skipped: true });
    expect(sha256(await readFile(originalOf(bytes)))).toBe(sha256(bytes));
  });

  // FILE-6
  test('with other bytes of the same length is replaced by an upload, not referred to by its hash', async () => {
    const bytes = await picture();
    await upload(mara, bytes);
    await flipByte(originalOf(bytes));
    expect((await mara.refused('createAsset', { body: { file_hash: sha256(bytes) } })).status).toBe(409);
    await upload(mara, bytes);
    expect(sha256(await readFile(originalOf(bytes)))).toBe(sha256(bytes));
    await mara.ok('createAsset', { body: { file_hash: sha256(bytes) } });
  });

  // FILE-6
  test('is rendered for every asset of the same bytes once it is repaired', async () => {
    const bytes = await picture();
    const { id } = await upload(mara, bytes);
    await truncate(originalOf(bytes), 100);
    await library.runJobs();
    expect((await shown(id)).processing_status).toBe('failed');
    await upload(other, bytes);
    expect((await shown(id)).processing_status).toBe('pending');
    await library.runJobs();
    expect(await shown(id)).toMatchObject({ processing_status: 'ready', ladder_available: true });
    expect((await get(`/assets/${id}/variants/preview`)).status).toBe(200);
  });
});

test.each<[string, (path: string) => Promise<void>, (bytes: Bytes, id: string) => Promise<unknown>]>([
  ['an upload', (path) => truncate(path, 100), (bytes) => upload(other, bytes)],
  [
    'an asset of the same hash',
    (path) => rm(path),
    (bytes) => mara.ok('createAsset', { body: { file_hash: sha256(bytes) } }),
  ],
  ['a request', (path) => truncate(path, 0), (_, id) => mara.ok('reprocessAsset', { params: { id } })],
])(
  'a damaged rendition is a 500 that names the damage, and is rendered again after %s',
  async (_, damage, repair) => {
    const bytes = await picture();
    const { id } = await upload(mara, bytes);
    await library.runJobs();
    await damage(objectPath(library, renditionKey(sha256(bytes), 'preview.webp')));
    const answer = await get(`/assets/${id}/variants/preview`);
    expect(Object.values(losses)).toContainEqual(await lossIn(answer));
    await repair(bytes, id);
    expect(await shown(id)).toMatchObject({ processing_status: 'ready', ladder_available: false });
    expect((await get(`/assets/${id}/variants/preview`)).status).toBe(404);
    await library.runJobs();
    expect((await shown(id)).ladder_available).toBe(true);
    const sent = await get(`/assets/${id}/variants/preview`);
    const length = Number(sent.headers.get('content-length'));
    expect([sent.status, (await sent.arrayBuffer()).byteLength]).toEqual([200, length]);
  },
);

// FILE-5
test.each(['', 'Range: bytes=5-\r\n'])(
  'a download of a file that is truncated meanwhile aborts the connection, so that the client sees an error %j',
  async (range) => {
    const bytes = new Uint8Array(16 * 1024 * 1024).fill(7);
    bytes[0] = range.length;
    const { id } = await upload(mara, bytes, {}, 'large.bin');
    const { port } = new URL(library.address);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `GET /api/v1/assets/${id}/file HTTP/1.1\r\nHost: localhost\r\n${range}Cookie: user=${mara.cookie()}\r\n\r\n`,
    );
    const [head] = await once(socket, 'data');
    socket.pause();
    expect(String(head)).toMatch(/^HTTP\/1.1 20[06] /);
    await truncate(originalOf(bytes), 1024 * 1024);
    // An idle connection would be closed after a minute anyway.
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
    let received = head.length;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    socket.resume();
    await closed;
    expect(received).toBeLessThan(bytes.length);
  },
);

test('HEAD of a file leaves no file open', async () => {
  const bytes = plainText('looked at only');
  const { id } = await upload(mara, bytes, {}, 'note.txt');
  for (let round = 0; round < 20; round += 1) {
    const answer = await get(`/assets/${id}/file`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  }
  const path = originalOf(bytes);
  const descriptors = await readdir('/proc/self/fd');
  const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(targets.filter((target) => target === path)).toEqual([]);
});
