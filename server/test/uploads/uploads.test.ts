import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import type { Upload } from '@vitrine/contract/uploads';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { type Answered, requestAs, visit } from '../support/client.ts';
import { type Account, type Library, objectPath, openLibrary } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { jpeg, sha256 } from '../support/pictures.ts';
import { openSecond } from '../support/second.ts';

const MOST = 3 * 1024 * 1024;

let seed = 0;

const library = await openLibrary({ VITRINE_MAX_FILE_BYTES: String(MOST) });
const [mara, other] = await library.joinAll('mara', 'other');
const { db } = library.deps;

function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  seed += 1;
  return Uint8Array.from({ length: size }, (_, at) => (at * 31 + seed * 7 + (at >> 8)) % 256);
}
const encode = (text: string) => Buffer.from(text).toString('base64');

/** Sends a request of tus. */
async function tus(
  as: Account,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Uint8Array<ArrayBuffer>,
): Promise<Answered> {
  const type = body === undefined ? {} : { 'content-type': 'application/offset+octet-stream' };
  const response = await requestAs(as, library, path, {
    method,
    headers: { 'tus-resumable': '1.0.0', ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function begin(as: Account, length: number | null, name = 'a.bin'): Promise<string> {
  const size: Record<string, string> =
    length === null ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) };
  const { status, headers, text } = await tus(as, 'POST', '/uploads', {
    ...size,
    'upload-metadata': `filename ${encode(name)}`,
  });
  expect([status, text]).toEqual([201, '']);
  return headers.get('location')?.split('/').at(-1) ?? '';
}

const append = (as: Account, id: string, offset: number, body: Uint8Array<ArrayBuffer>, more = {}) =>
  tus(as, 'PATCH', `/uploads/${id}`, { 'upload-offset': String(offset), ...more }, body);

async function offsetOf(as: Account, id: string): Promise<number | null> {
  const { headers } = await tus(as, 'HEAD', `/uploads/${id}`);
  const offset = headers.get('upload-offset');
  return offset === null ? null : Number(offset);
}

async function send(as: Account, bytes: Uint8Array<ArrayBuffer>, name?: string): Promise<string> {
  const id = await begin(as, bytes.length, name);
  if (bytes.length > 0) expect((await append(as, id, 0, bytes)).status).toBe(204);
  return id;
}

/** Sends a part of the announced bytes in a request that does not end, and waits until the part is on the disk. */
async function stall(
  as: Account,
  id: string,
  [offset, announced]: [offset: number, announced: number],
  part: Uint8Array,
  { address, deps }: Library = library,
): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const head = [
    `PATCH /api/v1/uploads/${id} HTTP/1.1`,
    'Host: localhost',
    `Cookie: user=${as.cookie()}`,
    'Tus-Resumable: 1.0.0',
    `Upload-Offset: ${offset}`,
    'Content-Type: application/offset+octet-stream',
    `Content-Length: ${announced}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(part);
  const path = `${deps.storage.uploadsDir}/${id}`;
  await expect.poll(async () => (await stat(path)).size).toBe(offset + part.length);
  return socket;
}

/** Returns what the connection receives first; nothing if it is closed. */
async function answerOf(socket: Socket): Promise<string> {
  const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return String(data);
}

const files = () => readdir(library.deps.storage.uploadsDir);

// UPLOAD-1
describe('tus 1.0.0 at /uploads', () => {
  // UPLOAD-1
  test('OPTIONS lists the extensions, and a request without the version is 412', async () => {
    const { status, headers } = await fetch(`${library.address}/api/v1/uploads`, { method: 'OPTIONS' });
    expect([status, headers.get('tus-version')]).toEqual([204, '1.0.0']);
    expect(headers.get('tus-max-size')).toBe(`${MOST}`);
    expect(headers.get('tus-extension')).toBe(
      'creation,creation-with-upload,creation-defer-length,termination,expiration',
    );
    const missing = await tus(mara, 'POST', '/uploads', { 'upload-length': '1', 'tus-resumable': '0.2.2' });
    expect([missing.status, missing.headers.get('tus-version')]).toEqual([412, '1.0.0']);
    expect(JSON.parse(missing.text)).toHaveProperty('error');
  });

  // UPLOAD-1
  test('accepts a file in parts and reports the offset', async () => {
    const bytes = bytesOf(200_000);
    const id = await begin(mara, bytes.length, 'parts.bin');
    const first = await append(mara, id, 0, bytes.slice(0, 70_000));
    expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '70000']);
    expect(Date.parse(first.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now());
    const head = await tus(mara, 'HEAD', `/uploads/${id}`);
    expect(head.headers.get('upload-length')).toBe('200000');
    expect(head.headers.get('upload-metadata')).toBe(`filename ${encode('parts.bin')}`);
    expect(head.headers.get('cache-control')).toBe('no-store');
    expect(await offsetOf(mara, id)).toBe(70_000);
    expect((await append(mara, id, 70_000, bytes.slice(70_000))).status).toBe(204);
    const shown = await mara.ok('getUpload', { params: { id } });
    expect(shown).toMatchObject({
      file_name: 'parts.bin',
      finished: true,
      received_bytes: 200_000,
      file_hash: sha256(bytes),
      same_asset_id: null,
    });
  });

  // UPLOAD-1
  test('accepts the first bytes with the creation and the length later', async () => {
    const bytes = bytesOf(50_000);
    const deferred = { 'upload-defer-length': '1' };
    const { status, headers } = await tus(mara, 'POST', '/uploads', deferred, bytes.slice(0, 20_000));
    expect([status, headers.get('upload-offset')]).toEqual([201, '20000']);
    const id = headers.get('location')?.split('/').at(-1) ?? '';
    expect((await tus(mara, 'HEAD', `/uploads/${id}`)).headers.get('upload-defer-length')).toBe('1');
    const rest = await append(mara, id, 20_000, bytes.slice(20_000), { 'upload-length': '50000' });
    expect(rest.status).toBe(204);
    expect((await mara.ok('getUpload', { params: { id } })).file_hash).toBe(sha256(bytes));
  });

  // UPLOAD-1
  test('refuses protocol violations without changing the upload', async () => {
    const bytes = bytesOf(1000);
    const id = await begin(mara, 1000);
    await append(mara, id, 0, bytes.slice(0, 400));
    const one = { 'upload-length': '1' };
    const braces = Uint8Array.from([123, 125]);
    const refused = [
      [await append(mara, id, 300, bytes.slice(300)), 409],
      [await append(mara, id, 500, bytes.slice(500)), 409],
      [await append(mara, id, 400, bytesOf(601)), 413],
      [await append(mara, id, -1, bytes), 400],
      [await tus(mara, 'PATCH', `/uploads/${id}`, {}, bytes), 400],
      [await append(mara, id, 400, bytes.slice(400), { 'content-type': 'text/plain' }), 415],
      [await append(mara, id, 400, bytes.slice(400), { 'upload-length': '2000' }), 400],
      [await tus(mara, 'POST', '/uploads', {}), 400],
      [await tus(mara, 'POST', '/uploads', { 'upload-length': '-1' }), 400],
      [await tus(mara, 'POST', '/uploads', { ...one, 'upload-defer-length': '1' }), 400],
      [await tus(mara, 'POST', '/uploads', { ...one, 'upload-concat': 'partial' }), 400],
      [await tus(mara, 'POST', '/uploads', { ...one, 'upload-metadata': 'filename %%' }), 400],
      [await tus(mara, 'POST', '/uploads', { ...one, 'upload-metadata': `filename ${encode('a\0b')}` }), 400],
      [await tus(mara, 'POST', '/uploads', { ...one, 'content-type': 'application/json' }, braces), 415],
      [await tus(mara, 'POST', '/posts', {}, bytes), 415],
      [await tus(mara, 'POST', '/uploads', { 'upload-length': String(MOST + 1) }), 413],
      [await tus(mara, 'HEAD', '/uploads/not-an-id'), 400],
      [await append(mara, nowhere, 0, bytes), 404],
    ] as const;
    expect(refused.map(([{ status }]) => status)).toEqual(refused.map(([, due]) => due));
    for (const [{ text }] of refused) if (text !== '') expect(JSON.parse(text)).toHaveProperty('error');
    expect(await offsetOf(mara, id)).toBe(400);
    expect((await append(mara, id, 400, bytes.slice(400))).status).toBe(204);
    expect((await mara.ok('getUpload', { params: { id } })).file_hash).toBe(sha256(bytes));
  });

  // UPLOAD-2
  test('an upload is 404 for everyone but its creator', async () => {
    const id = await begin(mara, 10);
    for (const method of ['HEAD', 'DELETE'])
      expect((await tus(other, method, `/uploads/${id}`)).status).toBe(404);
    expect((await append(other, id, 0, bytesOf(10))).status).toBe(404);
    expect((await other.refused('getUpload', { params: { id } })).status).toBe(404);
    expect((await other.refused('createAsset', { body: { upload_id: id } })).status).toBe(404);
    expect(await other.ok('listUploads')).toEqual({ items: [], next_cursor: null });
    const viewer = await library.join('viewer', 'viewer');
    expect((await tus(viewer, 'POST', '/uploads', { 'upload-length': '1' })).status).toBe(403);
    const nobody = { ...viewer, cookie: () => 'none' };
    expect((await tus(nobody, 'POST', '/uploads', { 'upload-length': '1' })).status).toBe(401);
    expect(await offsetOf(mara, id)).toBe(0);
  });

  test('DELETE removes an upload with its bytes', async () => {
    const id = await begin(mara, 10);
    await append(mara, id, 0, bytesOf(5));
    expect(await files()).toContain(id);
    expect((await tus(mara, 'DELETE', `/uploads/${id}`)).status).toBe(204);
    expect(await files()).not.toContain(id);
    expect(await offsetOf(mara, id)).toBeNull();
  });
});

describe('interrupted uploads', () => {
  /** Sends a part of the announced bytes, and breaks the connection. */
  const breakOff = async (id: string, range: [number, number], part: Uint8Array) =>
    (await stall(mara, id, range, part)).resetAndDestroy();

  // UPLOAD-3
  test('keeps the received bytes and hashes the whole file', async () => {
    const bytes = bytesOf(900_000);
    const id = await begin(mara, bytes.length);
    await breakOff(id, [0, bytes.length], bytes.slice(0, 300_000));
    await expect.poll(() => offsetOf(mara, id)).toBe(300_000);
    await breakOff(id, [300_000, 600_000], bytes.slice(300_000, 500_000));
    await expect.poll(() => offsetOf(mara, id)).toBe(500_000);
    expect((await append(mara, id, 500_000, bytes.slice(500_000))).status).toBe(204);
    expect((await mara.ok('getUpload', { params: { id } })).file_hash).toBe(sha256(bytes));
  });

  // UPLOAD-4
  test('the newest request takes over from a stalled one', { tags: ['one-process'] }, async () => {
    const bytes = bytesOf(100_000);
    const id = await begin(mara, bytes.length);
    const stale = await stall(mara, id, [0, bytes.length], bytes.slice(0, 30_000));
    expect(await offsetOf(mara, id)).toBe(30_000);
    expect((await append(mara, id, 30_000, bytes.slice(30_000))).status).toBe(204);
    stale.destroy();
    expect((await mara.ok('getUpload', { params: { id } })).file_hash).toBe(sha256(bytes));
  });

  // UPLOAD-14
  test('a stalled request of another process cannot change bytes that were stored since', {
    tags: ['disk'],
  }, async () => {
    const [bytes, others] = [bytesOf(200_000), bytesOf(200_000)];
    const id = await begin(mara, bytes.length);
    const stale = await stall(mara, id, [0, bytes.length], others.slice(0, 30_000));
    const second = await openSecond(library);
    try {
      const sent = await requestAs(mara, second, `/uploads/${id}`, {
        method: 'PATCH',
        headers: {
          'tus-resumable': '1.0.0',
          'upload-offset': '0',
          'content-type': 'application/offset+octet-stream',
        },
        body: bytes,
      });
      expect(sent.status).toBe(204);
      const there = visit(second.address, {}, mara.cookie());
      const { file_hash } = await there.ok('createAsset', { body: { upload_id: id } });
      expect(file_hash).toBe(sha256(bytes));
      stale.write(others.slice(30_000));
      await answerOf(stale);
      const stored = await readFile(objectPath(library, originalKey(sha256(bytes))));
      expect(sha256(stored)).toBe(sha256(bytes));
    } finally {
      stale.destroy();
      await second.close();
    }
  });

  test('losing the permission while bytes arrive prevents completion', async () => {
    const leaver = await library.join('leaver');
    const id = await begin(leaver, 100_000);
    const bytes = bytesOf(100_000);
    const sending = await stall(leaver, id, [0, bytes.length], bytes.slice(0, 60_000));
    await sql`update users set status = 'disabled' where ref = ${leaver.ref}`.execute(db);
    sending.write(bytes.slice(60_000));
    expect(await answerOf(sending)).toMatch(/^HTTP\/1\.1 401 /);
    sending.destroy();
    const { rows } = await sql<{ finished: boolean }>`
      select finished_at is not null as finished from uploads where id = ${id}`.execute(db);
    expect(rows).toEqual([{ finished: false }]);
  });
});

test('a client that stalls is timed out and its bytes are kept', async () => {
  const timeouts = { headMs: 20_000, bodyMs: 30_000, uploadIdleMs: 600, lingerMs: 2000 };
  const impatient = await openLibrary({}, { timeouts });
  const zoe = await impatient.join('zoe');
  const sent = { 'tus-resumable': '1.0.0', 'upload-length': '1000' };
  const created = await zoe.send('/uploads', { method: 'POST', headers: sent });
  const id = created.headers.get('location')?.split('/').at(-1) ?? '';
  const socket = await stall(zoe, id, [0, 1000], bytesOf(400), impatient);
  expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 408 /);
  expect((await zoe.ok('getUpload', { params: { id } })).received_bytes).toBe(400);
});

describe('POST /assets {upload_id}', () => {
  // HTTP-2, UPLOAD-5
  test('creates an asset from a finished upload; a repeat returns the same asset', async () => {
    const bytes = await jpeg(60, 40, { seed: 1 });
    const id = await send(mara, bytes, 'sea/Ridge.jpg');
    const asset = await mara.ok('createAsset', { body: { upload_id: id, tags: ['tus'] } });
    expect(asset).toMatchObject({ title: 'Ridge', file_hash: sha256(bytes), asset_type: 1, tags: ['tus'] });
    await library.runJobs();
    const { status, text } = await mara.send('/assets', { method: 'POST', body: { upload_id: id } });
    expect([status, JSON.parse(text).id]).toEqual([200, asset.id]);
    expect((await mara.send(`/assets/${asset.id}/file`)).status).toBe(200);
    expect(await files()).not.toContain(id);
    expect((await mara.ok('listUploads')).items.map((one) => one.id)).not.toContain(id);

    await mara.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
    expect((await mara.refused('createAsset', { body: { upload_id: id } })).status).toBe(409);
  });

  // UPLOAD-5
  test('two concurrent requests create one asset', async () => {
    const id = await send(mara, bytesOf(5000));
    const answers = await Promise.all(
      [1, 2, 3].map(() => mara.send('/assets', { method: 'POST', body: { upload_id: id } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 201]);
    expect(new Set(answers.map(({ text }) => JSON.parse(text).id)).size).toBe(1);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from assets a join uploads up on up.file_hash = a.file_hash where up.id = ${id}`.execute(
      db,
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  // ASSET-15, UPLOAD-5
  test('accepts an empty file; unfinished is 409, unknown 404, neither or both 400', async () => {
    const empty = await send(mara, bytesOf(0), 'nothing.txt');
    expect((await mara.ok('createAsset', { body: { upload_id: empty } })).file_size_bytes).toBe(0);
    const half = await begin(mara, 10);
    await append(mara, half, 0, bytesOf(5));
    const refusals = [
      await mara.refused('createAsset', { body: { upload_id: half } }),
      await mara.refused('createAsset', { body: { upload_id: nowhere } }),
      await mara.refused('createAsset', { body: { title: 'nothing' } }),
      await mara.refused('createAsset', { body: { upload_id: half, file_hash: sha256(bytesOf(1)) } }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([409, 404, 400, 400]);
    expect((await append(mara, half, 5, bytesOf(5))).status).toBe(204);
  });

  // UPLOAD-6
  test('refused fields leave the upload unchanged', async () => {
    const id = await send(mara, bytesOf(3000));
    const body = { upload_id: id, asset_type: 999 };
    expect((await mara.refused('createAsset', { body })).status).toBe(400);
    expect((await mara.ok('createAsset', { body: { upload_id: id } })).file_size_bytes).toBe(3000);
  });

  test('creating the asset completes an upload whose last response was lost', async () => {
    const bytes = bytesOf(4000);
    const id = await send(mara, bytes);
    await sql`update uploads set finished_at = null, file_hash = null, mime = null where id = ${id}`.execute(
      db,
    );
    expect((await mara.ok('createAsset', { body: { upload_id: id } })).file_hash).toBe(sha256(bytes));
  });

  test('an upload reports its type and the user’s own file with the same bytes', async () => {
    const bytes = await jpeg(60, 40, { seed: 2 });
    const asset = await mara.ok('createAsset', { body: { upload_id: await send(mara, bytes, 'one.jpg') } });
    const again: Upload = await mara.ok('getUpload', { params: { id: await send(mara, bytes, 'two.png') } });
    expect(again).toMatchObject({ mime: 'image/jpeg', extension: 'jpg', same_asset_id: asset.id });
    const { id } = await mara.ok('createAsset', { body: { upload_id: again.id } });
    const { items } = await mara.ok('listCopies', { params: { id } });
    expect(items).toEqual([{ id: asset.id, title: 'one' }]);
    expect((await other.refused('listCopies', { params: { id } })).status).toBe(404);
    const foreign = await other.ok('getUpload', { params: { id: await send(other, bytes) } });
    expect(foreign.same_asset_id).toBeNull();
  });
});

// UPLOAD-7
test('removes expired uploads and orphaned bytes', async () => {
  const expired = await begin(mara, 10);
  const live = await begin(mara, 10);
  await sql`update uploads set expires_at = now() - interval '1 minute' where id = ${expired}`.execute(db);
  expect(await offsetOf(mara, expired)).toBeNull();
  const lost = await begin(mara, 10);
  await sql`delete from uploads where id = ${lost}`.execute(db);
  await sweep(library.deps, Date.now() + 1000, 0);
  const left = await files();
  expect([left.includes(expired), left.includes(lost), left.includes(live)]).toEqual([false, false, true]);
  expect(await offsetOf(mara, live)).toBe(0);
});

// UPLOAD-13
test('an account has at most 1,000 unfinished uploads', async () => {
  const hoarder = await library.join('hoarder');
  await sql`insert into uploads (id, owner_user_ref, size_bytes, metadata, expires_at)
    select gen_random_uuid(), ${hoarder.ref}, 10, '{}', now() + interval '1 day'
    from generate_series(1, 999)`.execute(db);
  const last = await begin(hoarder, 10);
  const one = { 'upload-length': '10' };
  expect((await tus(hoarder, 'POST', '/uploads', one)).status).toBe(409);
  await tus(hoarder, 'DELETE', `/uploads/${last}`);
  expect((await tus(hoarder, 'POST', '/uploads', one)).status).toBe(201);
});

test('deleting an account deletes its uploads', async () => {
  const leaver = await library.join('goner');
  const id = await begin(leaver, 10);
  const root = await library.join('root', 'admin');
  await sql`delete from users where ref = ${leaver.ref}`.execute(db);
  await sweep(library.deps, Date.now() + 1000, 0);
  expect(await files()).not.toContain(id);
  expect((await root.ok('listUploads')).items).toEqual([]);
});
