import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Archive, ArchiveCreate } from '@vitrine/contract/archives';
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { convertAhead } from '../../src/content/archives/convert-ahead.ts';
import { distinctNames } from '../../src/content/archives/names.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { lengthOfArchive } from '../../src/platform/zip/records.ts';
import { writeZip } from '../../src/platform/zip/write.ts';
import type { Visitor } from '../support/client.ts';
import { objectPath, openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';

const library = await openLibrary();
const [mara, ann] = await library.joinAll('mara', 'ann');

let count = 0;
async function fileOf(name: string, fields: object = {}, who = mara) {
  count += 1;
  return upload(who, Buffer.from(`file ${count}\n`.repeat(100)), { sensitivity: 'org', ...fields }, name);
}
const pack = (body: ArchiveCreate, who: Visitor = mara) => who.ok('createArchive', { body });

/** Downloads an archive or a part of it. */
async function fetchZip({ url }: Pick<Archive, 'url'>, headers: Record<string, string> = {}, who = mara) {
  const answer = await fetch(`${library.address}${url}`, {
    headers: { cookie: `user=${who.cookie() ?? ''}`, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** Returns the names and texts in a ZIP, and checks their checksums. */
async function entriesOf(zip: Buffer): Promise<Record<string, string>> {
  const reader = new ZipReader(new BlobReader(new Blob([new Uint8Array(zip)])), {
    checkSignature: true,
    useWebWorkers: false,
  });
  const found: Record<string, string> = {};
  for (const entry of await reader.getEntries())
    if (!entry.directory) found[entry.filename] = await entry.getData(new TextWriter());
  return found;
}
const contentOf = async (archive: Archive, who = mara) => entriesOf((await fetchZip(archive, {}, who)).bytes);
const namesIn = async (archive: Archive, who = mara) => Object.keys(await contentOf(archive, who));

describe('POST /archives', () => {
  // ARCHIVE-1
  test('packs named files in their order, each once, with safe names that differ', async () => {
    const names = ['b.txt', 'B.TXT', '../a:b?.txt', 'con.txt', '山\u202e.txt', 'b (2).txt', '_left-out.txt'];
    const files = [];
    for (const name of names) files.push(await fileOf(name));
    const ids = files.map(({ id }) => id);
    const archive = await pack({ ids: [...ids, ids[0]?.toUpperCase() ?? ''] });
    expect(archive).toEqual({
      id: expect.any(String),
      url: `/api/v1/archives/${archive.id}`,
      expires_at: expect.any(String),
      files: 7,
      bytes: expect.any(Number),
    });
    const zip = await fetchZip(archive);
    expect([zip.status, zip.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(zip.headers.get('content-disposition')).toContain('Files.zip');
    expect(zip.bytes.length).toBe(archive.bytes);
    const content = await entriesOf(zip.bytes);
    expect(Object.keys(content)).toEqual([
      'b.txt',
      'B (2).TXT',
      'a_b_.txt',
      '_con.txt',
      '山.txt',
      'b (2) (2).txt',
      '_left-out (2).txt',
    ]);
    expect(content['b.txt']).toContain('file 1\n');
  });

  // ARCHIVE-2
  test('takes a query, a collection with the files of its posts, or a post, as the caller is given them', async () => {
    const [a, b, c] = [await fileOf('a.txt', { tags: 'pier' }), await fileOf('b.txt'), await fileOf('c.txt')];
    const hidden = await fileOf('hidden.txt', { sensitivity: 'restricted', tags: 'pier' });
    const post = await publish(mara, [b, c, hidden], { title: 'Harbour' });
    const { id } = await mara.ok('createCollection', { body: { name: 'Walls' } });
    for (const one of [c, hidden, a])
      await mara.ok('addAssetToCollection', { params: { id, asset_id: one.id } });
    await mara.ok('addToCollection', { params: { id, post_id: post.id } });
    expect(await namesIn(await pack({ query: { tag: ['pier'] } }, ann), ann)).toEqual(['a.txt']);
    expect(await namesIn(await pack({ post_id: post.id }, ann), ann)).toEqual(['b.txt', 'c.txt']);
    const archive = await pack({ collection_id: id }, ann);
    expect(await namesIn(archive, ann)).toEqual(['c.txt', 'a.txt', 'b.txt']);
    expect((await fetchZip(archive, {}, ann)).headers.get('content-disposition')).toContain('Walls.zip');
    expect(await namesIn(await pack({ collection_id: id }))).toEqual([
      'c.txt',
      'hidden.txt',
      'a.txt',
      'b.txt',
    ]);
    const smart = await mara.ok('createCollection', { body: { name: 'x', query: { tag: ['pier'] } } });
    expect(await namesIn(await pack({ collection_id: smart.id }, ann), ann)).toEqual(['a.txt']);
  });

  test('refuses several sources or none, and what the caller may not open', async () => {
    const post = await publish(mara, [await fileOf('a.txt')], { visibility: 'private' });
    const status = (body: object) => ann.status('POST', '/archives', body);
    expect(await status({})).toBe(400);
    expect(await status({ ids: [nowhere], post_id: post.id })).toBe(400);
    expect(await status({ ids: [] })).toBe(400);
    expect(await status({ ids: Array(10_001).fill(nowhere) })).toBe(400);
    expect(await status({ query: { filter: ['field:nothing=1'] } })).toBe(400);
    for (const body of [{ post_id: post.id }, { post_id: nowhere }, { collection_id: nowhere }])
      expect(await status(body)).toBe(404);
    expect(await library.anonymous().status('POST', '/archives', { ids: [nowhere] })).toBe(401);
  });
});

describe('GET /archives/{id}', () => {
  // ARCHIVE-3
  test('is for the account that prepared it, for a day', async () => {
    const archive = await pack({ ids: [(await fileOf('a.txt')).id] });
    expect((await fetchZip(archive, {}, ann)).status).toBe(404);
    expect((await fetch(`${library.address}${archive.url}`)).status).toBe(401);
    await sql`update archives set expires_at = now() where id = ${archive.id}`.execute(library.deps.db);
    expect((await fetchZip(archive)).status).toBe(404);
  });

  // ARCHIVE-4, ARCHIVE-5
  test('checks each file when it is packed, and lists what it leaves out by id and reason', async () => {
    const mine = await fileOf('mine.txt');
    const secret = await fileOf('secret name.txt', { title: 'secret title', sensitivity: 'restricted' });
    const later = await fileOf('later.txt');
    const gone = await fileOf('gone.txt');
    const lost = await fileOf('lost.txt');
    const archive = await pack({ ids: [secret.id, later.id, mine.id, nowhere, gone.id, lost.id] }, ann);
    expect(archive.files).toBe(4);
    const whole = await fetchZip(archive, {}, ann);
    expect(whole.bytes.length).toBe(archive.bytes);
    await mara.ok('updateAsset', { params: { id: later.id }, body: { sensitivity: 'restricted' } });
    await mara.ok('deleteAsset', { params: { id: gone.id }, body: {} });
    const hash = 'file_hash' in lost ? lost.file_hash : '';
    await rm(objectPath(library, originalKey(hash ?? '')));
    const { status, bytes } = await fetchZip(archive, { range: 'bytes=0-9' }, ann);
    expect(status).toBe(200);
    const content = await entriesOf(bytes);
    expect(Object.keys(content)).toEqual(['mine.txt', '_left-out.txt']);
    expect(content['_left-out.txt']).toBe(
      `${secret.id}\tnot found\n${later.id}\tnot found\n${nowhere}\tnot found\n${gone.id}\tnot found\n${lost.id}\tthe stored file is missing\n`,
    );
    expect(bytes.toString('latin1')).not.toContain('secret');
  });

  // ARCHIVE-4, ARCHIVE-5
  test('leaves out a file that is deleted or withheld while those before it are sent', async () => {
    // Large enough that most of the archive is sent only while it is read.
    const bytes = Buffer.alloc(64 * 1024, 'x');
    const first = await upload(mara, bytes, { sensitivity: 'org' }, 'large.txt');
    const { rows } = await sql<{ id: string }>`
      insert into assets (owner_user_ref, asset_type, file_hash, file_name, processing_status, status, sensitivity)
      select owner_user_ref, asset_type, file_hash, file_name, 'ready', 'active', 'org' from assets, generate_series(1, 249)
      where id = ${first.id} returning id`.execute(library.deps.db);
    const ids = [first.id, ...rows.map(({ id }) => id)];
    const archive = await pack({ ids }, ann);
    const answer = await fetch(`${library.address}${archive.url}`, {
      headers: { cookie: `user=${ann.cookie() ?? ''}` },
    });
    const parts: Uint8Array[] = [];
    const reader = answer.body?.getReader();
    const read = async () => (await reader?.read())?.value;
    const beginning = await read();
    if (beginning !== undefined) parts.push(beginning);
    const [gone = '', withheld = ''] = ids.slice(235);
    await mara.ok('deleteAsset', { params: { id: gone }, body: {} });
    await mara.ok('updateAsset', { params: { id: withheld }, body: { sensitivity: 'restricted' } });
    for (let part = await read(); part !== undefined; part = await read()) parts.push(part);
    const content = await entriesOf(Buffer.concat(parts));
    expect(Object.keys(content)).toHaveLength(249);
    expect(content['_left-out.txt']).toBe(`${gone}\tnot found\n${withheld}\tnot found\n`);
  });

  // ARCHIVE-6
  test('continues from any byte while nothing has changed, and otherwise starts anew', async () => {
    const files = [await fileOf('a.txt'), await fileOf('b.txt'), await fileOf('c.txt')];
    const archive = await pack({ ids: [...files.map(({ id }) => id), nowhere] });
    const range = (from: number, to: number | '') => ({ range: `bytes=${from}-${to}` });
    const size = archive.bytes ?? 0;
    // Nothing was read before, so no checksum is known.
    const late = await fetchZip(archive, range(size - 300, ''));
    const whole = await fetchZip(archive);
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
    expect(late.bytes.equals(whole.bytes.subarray(size - 300))).toBe(true);
    for (const [from, to] of [
      [0, 0],
      [10, 700],
      [35, 1500],
      [900, size - 1],
      [size - 1, size - 1],
    ] as const) {
      const part = await fetchZip(archive, {
        ...range(from, to),
        'if-range': whole.headers.get('etag') ?? '',
      });
      expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${from}-${to}/${size}`]);
      expect(part.bytes.equals(whole.bytes.subarray(from, to + 1))).toBe(true);
    }
    expect((await fetchZip(archive, range(size, ''))).status).toBe(416);
    expect((await fetchZip(archive, { ...range(1, 2), 'if-range': '"other"' })).status).toBe(200);
    await mara.ok('deleteAsset', { params: { id: files[1]?.id ?? '' }, body: {} });
    const anew = await fetchZip(archive, range(10, ''));
    expect([anew.status, anew.headers.get('etag')]).toEqual([200, null]);
    expect(Object.keys(await entriesOf(anew.bytes))).toEqual(['a.txt', 'c.txt', '_left-out.txt']);
  });
});

// ASSET-40
test('the history of a file names who downloaded it in an archive, and counts a continued download once', async () => {
  const shared = await fileOf('taken.txt');
  const archive = await pack({ ids: [shared.id] }, ann);
  await fetchZip(archive, {}, ann);
  await fetchZip(archive, { range: 'bytes=10-' }, ann);
  const { items } = await mara.ok('listAssetHistory', { params: { id: shared.id } });
  expect(items[0]).toMatchObject({ what: 'downloaded', who: { ref: ann.ref }, count: 1 });
  // A client that can continue asks for the range of the whole archive.
  await fetchZip(archive, { range: 'bytes=0-' }, ann);
  const again = await mara.ok('listAssetHistory', { params: { id: shared.id } });
  expect(again.items[0]).toMatchObject({ what: 'downloaded', count: 2 });
});

// ARCHIVE-8
describe('the progress of an archive', () => {
  const progressOf = (id: string, who = mara) => who.ok('getArchiveProgress', { params: { id } });

  test('says how many files are ready and left out while it is downloaded', async () => {
    const files = [await fileOf('a.txt'), await fileOf('b.txt'), await fileOf('c.txt')];
    const { id, url } = await pack({ ids: [...files.map((file) => file.id), nowhere] });
    expect(await progressOf(id)).toEqual({ id, state: 'prepared', files: 3, made: 0, left_out: 0 });
    await mara.ok('deleteAsset', { params: { id: files[0]?.id ?? '' }, body: {} });
    await fetchZip({ url });
    await expect.poll(() => progressOf(id)).toEqual({ id, state: 'done', files: 3, made: 3, left_out: 1 });
    // Its process ended without a report.
    await sql`update archives set outcome = null, reported_at = now() - interval '1 hour'
      where id = ${id}`.execute(library.deps.db);
    expect((await progressOf(id)).state).toBe('stopped');
    expect(await ann.status('GET', `/archives/${id}/progress`)).toBe(404);
  });

  test('ends when the archive is cancelled, which breaks its download off', async () => {
    const large = await upload(mara, Buffer.alloc(24 * 1024 * 1024, 'x'), { sensitivity: 'org' }, 'x.txt');
    const { id, url } = await pack({ ids: [large.id] });
    const headers = { cookie: `user=${mara.cookie() ?? ''}` };
    const answer = await fetch(`${library.address}${url}`, { headers });
    expect(await ann.status('DELETE', `/archives/${id}`)).toBe(404);
    expect(await mara.status('DELETE', `/archives/${id}`)).toBe(204);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    expect(await mara.status('GET', `/archives/${id}/progress`)).toBe(404);
    expect(await mara.status('DELETE', `/archives/${id}`)).toBe(404);
    expect((await fetchZip({ url })).status).toBe(404);
  });
});

// ARCHIVE-1
test('names of files differ also where case and Unicode form do not count', () => {
  const nameOf = distinctNames([]);
  expect(['a.jpg', 'A.jpg', 'ä.jpg', 'a\u0308.jpg', '', '...', 'x'.repeat(200)].map(nameOf)).toEqual([
    'a.jpg',
    'A (2).jpg',
    'ä.jpg',
    'ä (2).jpg',
    'File',
    'File (2)',
    'x'.repeat(100),
  ]);
});

// ARCHIVE-6
test('files and offsets beyond 4 GiB are written as ZIP64, and the length is known beforehand', async () => {
  const sizes = [5 * 2 ** 30, 10, 2 ** 32 - 1];
  const files = sizes.map((sizeBytes, index) => ({
    name: `${index}.bin`,
    sizeBytes,
    modified: new Date('2026-01-02T03:04:06Z'),
    crc: 7,
    open: async () => Readable.from([]),
  }));
  const length = lengthOfArchive(files);
  const parts: Buffer[] = [];
  const start = length - 330;
  const source = (async function* () {
    yield* files;
  })();
  for await (const part of writeZip(source, { start, end: length - 1 })) parts.push(part);
  const tail = Buffer.concat(parts);
  expect(tail.length).toBe(330);
  const locator = tail.readBigUInt64LE(tail.length - 22 - 12);
  const record = Number(locator) - start;
  expect(tail.readUInt32LE(record)).toBe(0x06064b50);
  expect(tail.readBigUInt64LE(record + 32)).toBe(3n);
  const directory = Number(tail.readBigUInt64LE(record + 48)) - start;
  expect(tail.readUInt32LE(directory)).toBe(0x02014b50);
  expect(tail.readUInt32LE(directory + 20)).toBe(0xffffffff);
  expect(tail.readBigUInt64LE(directory + 46 + 5 + 4)).toBe(BigInt(5 * 2 ** 30));
});

// ARCHIVE-7
test('forms of the next files are made on several cores, a few ahead of the one that is packed', async () => {
  const making: { id: string; end: (error?: Error) => void }[] = [];
  const ahead = convertAhead(
    (id) =>
      new Promise((resolve, reject) => {
        making.push({ id, end: (error) => (error === undefined ? resolve(null) : reject(error)) });
      }),
    2,
  );
  const begun = () => making.map(({ id }) => id).join('');
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  ahead.next([...'abcdefghij']);
  expect(begun()).toBe('ab');
  making[0]?.end();
  await settle();
  expect(begun()).toBe('abc');
  // One that cannot be made holds up nothing.
  making[1]?.end(new Error('broken'));
  for (const at of [2, 3, 4, 5]) {
    await settle();
    making[at]?.end();
  }
  await settle();
  expect(begun()).toBe('abcdef');
  expect(ahead.ready()).toBe(6);
  ahead.reach('a');
  expect(ahead.ready()).toBe(5);
  ahead.next([...'bcdefghij']);
  expect(begun()).toBe('abcdefg');
  ahead.stop();
  ahead.reach('b');
  await settle();
  expect(begun()).toBe('abcdefg');
});
