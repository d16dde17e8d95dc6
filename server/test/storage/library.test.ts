// @module-tag one-process
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { renderJob } from '../../src/content/assets/jobs/render.ts';
import { tilesJob } from '../../src/content/assets/jobs/tiles.ts';
import { purge, releaseBytes } from '../../src/content/trash/jobs/purge.ts';
import { examineAll } from '../../src/operate/doctor/examine.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { namedService, openBucket, startService } from '../support/bucket.ts';
import { requestAs, type Visitor } from '../support/client.ts';
import { formOf, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainFile, sha256 } from '../support/pictures.ts';
import { startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const unavailable = {
  status: 503,
  error: 'the file storage is not available; nothing was stored; try again',
};

const service = namedService ?? (await startService());
const bucket = await openBucket(service, 'studio');
/** The data directory of a second process. */
const ownDir = await temporaryDirectory();
const library = await openLibrary(bucket.env);
const mara = await library.join('mara');
const { db, storage } = library.deps;

afterAll(async () => {
  bucket.setFault('none');
  await bucket.close();
  await service.stop();
});

beforeEach(() => {
  bucket.setFault('none');
  bucket.requests.length = 0;
});

async function count(table: 'assets' | 'files'): Promise<number> {
  return (await sql`select from ${sql.table(table)}`.execute(db)).rows.length;
}

async function localFiles(): Promise<string[]> {
  const directory = join(library.config.dataDir, 'library');
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

const makeJobsDue = () =>
  sql`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), now())`.execute(db);

/** Uploads with tus, in two requests. */
async function sendInParts(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const own = { 'tus-resumable': '1.0.0' };
  const headers = { ...own, 'upload-length': String(bytes.length) };
  const created = await mara.send('/uploads', { method: 'POST', headers });
  const id = created.headers.get('location')?.split('/').at(-1) ?? '';
  const half = Math.floor(bytes.length / 2);
  for (const [offset, body] of [
    [0, bytes.slice(0, half)],
    [half, bytes.slice(half)],
  ] as const) {
    const { status } = await requestAs(mara, library, `/uploads/${id}`, {
      method: 'PATCH',
      headers: { ...own, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
      body,
    });
    expect(status).toBe(204);
  }
  return id;
}

// STORAGE-1
describe('a library with a bucket', () => {
  // STORAGE-1
  test('keeps originals and previews there and nothing on the disk, and lists nothing to serve them', async () => {
    const bytes = await jpeg(160, 120);
    const { id } = await upload(mara, bytes);
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({
      processing_status: 'ready',
      ladder_available: true,
    });
    expect(await localFiles()).toEqual([]);
    const whole = await requestAs(mara, library, `/assets/${id}/file`);
    expect([whole.status, sha256(await whole.bytes())]).toEqual([200, sha256(bytes)]);
    const part = await requestAs(mara, library, `/assets/${id}/file`, { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 10-19/${bytes.length}`]);
    expect(await part.bytes()).toEqual(bytes.slice(10, 20));
    const preview = await requestAs(mara, library, `/assets/${id}/variants/preview`);
    expect([preview.status, preview.headers.get('content-type')]).toEqual([200, 'image/webp']);
    await preview.arrayBuffer();
    expect(bucket.requests.filter((request) => request.includes('list-type'))).toEqual([]);
  });

  test('takes resumable uploads, whose parts wait on the disk', async () => {
    const bytes = Uint8Array.from(randomBytes(300_000));
    const id = await sendInParts(bytes);
    expect(bucket.requests).toEqual([]);
    const asset = await mara.ok('createAsset', { body: { upload_id: id } });
    expect(asset.file_hash).toBe(sha256(bytes));
    expect(await localFiles()).toEqual([]);
  });

  // STORAGE-2
  test('refuses uploads with 503 and loses nothing while it is gone', async () => {
    const kept = await upload(mara, plainFile('kept'));
    const bytes = Uint8Array.from(randomBytes(70_000));
    const uploadId = await sendInParts(bytes);
    const before = [await count('assets'), await count('files')];
    bucket.setFault('gone');
    expect(await mara.refused('createAsset', { body: formOf(bytes) })).toEqual(unavailable);
    expect(await mara.refused('createAsset', { body: { upload_id: uploadId } })).toEqual(unavailable);
    expect([await count('assets'), await count('files')]).toEqual(before);
    const sent = await requestAs(mara, library, `/assets/${kept.id}/file`, {
      headers: { range: 'bytes=0-1' },
    });
    expect([sent.status, await sent.json()]).toEqual([
      503,
      { error: 'the file storage is not available; try again' },
    ]);
    expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0);
    const health = await fetch(`${library.address}/readyz`);
    expect([health.status, await health.json()]).toEqual([
      503,
      expect.objectContaining({
        error: 'not ready',
        checks: { database: 'ok', storage: 'cannot be used' },
      }),
    ]);
    const checks = await examineAll({ db, storage, config: library.config, searchPath: '' }, 'en');
    expect(checks.find(({ code }) => code === 'bucket')?.status).toBe('problem');
    expect(JSON.stringify(checks)).not.toContain(bucket.settings.secretAccessKey);
    bucket.setFault('none');
    expect((await fetch(`${library.address}/readyz`)).status).toBe(200);
    // The upload is still complete.
    expect((await mara.ok('createAsset', { body: { upload_id: uploadId } })).file_hash).toBe(sha256(bytes));
    expect(await localFiles()).toEqual([]);
  });

  // STORAGE-2
  test('renders later what was uploaded before an outage, however long it takes', async () => {
    const { id } = await upload(mara, await jpeg(60, 40, { seed: 5 }));
    bucket.setFault('gone');
    for (let round = 0; round < 6; round += 1) {
      await makeJobsDue();
      await library.runJobs();
    }
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'pending' });
    bucket.setFault('none');
    await makeJobsDue();
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
  });
});

const redirecting = await openLibrary({ ...bucket.env, VITRINE_S3_REDIRECT_SECONDS: '300' });
const [ines, stranger] = await redirecting.joinAll('ines', 'stranger');

// FILE-11
describe('with VITRINE_S3_REDIRECT_SECONDS', () => {
  const large = Buffer.alloc(1024 * 1024, 'large file ');
  const ask = (as: Visitor, path: string, init: RequestInit = {}) =>
    requestAs(as, redirecting, path, { redirect: 'manual', ...init });

  test('a large download is redirected to an address of the bucket with the name and the bytes', async () => {
    const asset = await upload(ines, large, { sensitivity: 'restricted' }, 'größe "1".bin');
    const answer = await ask(ines, `/assets/${asset.id}/file?download=true`);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store']);
    expect(answer.headers.get('set-cookie')).toBeNull();
    const location = answer.headers.get('location') ?? '';
    expect(location).toContain(originalKey(asset.file_hash ?? ''));
    expect(new URL(location).searchParams.get('X-Amz-Expires')).toBe('300');
    const bytes = await fetch(location);
    expect(bytes.status).toBe(200);
    // The service from npm ignores the response headers that an address requests.
    const asked = new URL(location).searchParams;
    const got = (name: string) =>
      service === namedService ? bytes.headers.get(name) : asked.get(`response-${name}`);
    expect(got('content-disposition')).toMatch(/^attachment; filename="gr__e _1_.bin"; filename\*=/);
    expect(got('content-type')).toBe('text/plain');
    expect(Buffer.from(await bytes.arrayBuffer()).equals(large)).toBe(true);
    const part = await fetch(location, { headers: { range: 'bytes=0-4' } });
    expect([part.status, await part.text()]).toEqual([206, 'large']);
  });

  test('a link redirects its downloads too, and nothing once it is revoked', async () => {
    const asset = await upload(ines, large, {}, 'link.bin');
    const body = { allow_download: true };
    const link = await ines.ok('createAssetLink', { params: { id: asset.id }, body });
    const path = `/links/${link.url.split('/').at(-1)}/assets/${asset.id}/file?download=true`;
    const answer = await ask(redirecting.anonymous(), path);
    expect(answer.status).toBe(302);
    expect((await fetch(answer.headers.get('location') ?? '')).status).toBe(200);
    await ines.ok('revokeLink', { params: { link: link.id } });
    expect((await ask(redirecting.anonymous(), path)).status).not.toBe(302);
  });

  test('views, headers, ranges of views, current copies and small files come from the service', async () => {
    const asset = await upload(ines, large, {}, 'view.bin');
    const small = await upload(ines, plainFile('small'), {}, 'small.bin');
    const path = `/assets/${asset.id}/file`;
    const statuses = await Promise.all([
      ask(ines, path),
      ask(ines, path, { headers: { range: 'bytes=0-4' } }),
      ask(ines, `${path}?download=true`, { method: 'HEAD' }),
      ask(ines, `${path}?download=true`, { headers: { 'if-none-match': `"${asset.file_hash}"` } }),
      ask(ines, `/assets/${small.id}/file?download=true`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 206, 200, 304, 200]);
  });

  test('no access is the same 404 as no asset, and a missing object is no redirect', async () => {
    const hidden = await upload(ines, Buffer.alloc(large.length, 'hidden'), { sensitivity: 'restricted' });
    expect((await ask(stranger, `/assets/${hidden.id}/file?download=true`)).status).toBe(404);
    expect((await ask(redirecting.anonymous(), `/assets/${hidden.id}/file?download=true`)).status).not.toBe(
      302,
    );
    await redirecting.deps.storage.delete(originalKey(hidden.file_hash ?? ''));
    expect((await ask(ines, `/assets/${hidden.id}/file?download=true`)).status).toBe(500);
  });

  test('clients get the public address of the bucket', async () => {
    const asset = await upload(ines, large, {}, 'public.bin');
    const VITRINE_S3_PUBLIC_ENDPOINT = 'https://files.example.org';
    const env = { ...bucket.env, VITRINE_S3_REDIRECT_SECONDS: '60', VITRINE_S3_PUBLIC_ENDPOINT };
    const { deps } = await openLibrary(env);
    const headers = { type: 'text/plain', disposition: 'attachment' };
    const address = await deps.storage.addressOf(originalKey(asset.file_hash ?? ''), large.length, headers);
    expect(address).toMatch(/^https:\/\/files\.example\.org\//);
  });
});

// TRASH-7
test.each([
  ['rendering', renderJob],
  ['tiles', tilesJob],
] as const)('nothing in the bucket outlives bytes that are purged during their %s', async (_, job) => {
  const { id, file_hash: hash } = await upload(mara, await jpeg(5000, 40));
  if (hash === null) throw new Error('the asset has bytes');
  await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(db);
  const stored = async () => (await bucket.keys()).filter((key) => key.includes(hash));
  const purgeAll = async () => {
    await mara.ok('deleteAsset', { params: { id }, body: undefined });
    await sql`update assets set deleted_at = now() - interval '31 days' where id = ${id}`.execute(db);
    await purge(db);
    await releaseBytes(library.deps, hash);
    expect(await stored()).toEqual([]);
  };
  let purged: Promise<void> | undefined;
  // The purge ends just before the job stores its first object.
  const slow = {
    ...storage,
    async stage(path: string, key: string) {
      purged ??= purgeAll();
      await purged;
      await storage.stage(path, key);
    },
  };
  const context = { jobId: '1', lastAttempt: false, log: library.deps.log };
  await job({ ...library.deps, storage: slow })({ hash, owner: String(mara.ref) }, context);
  expect(await stored()).not.toEqual([]);
  await library.runJobs();
  expect(await stored()).toEqual([]);
});

// STORAGE-2
test('a process that is killed between storing a file and its commit leaves an orphan that the next upload uses', async () => {
  // Without jobs, because they would also wait for the locked table.
  const { secretKey } = library.deps;
  const own = {
    DATABASE_URL: library.databaseUrl,
    VITRINE_SECRET_KEY: secretKey,
    VITRINE_LOG_LEVEL: 'debug',
    VITRINE_JOBS: 'none',
  };
  const running = await startProcess(ownDir, { ...bucket.env, ...own });
  const blocker = new pg.Client({ connectionString: library.databaseUrl });
  await blocker.connect();
  try {
    const bytes = Uint8Array.from(randomBytes(60_000));
    const before = await count('assets');
    await blocker.query('begin');
    await blocker.query('lock table files in share mode');
    const init = { method: 'POST', body: formOf(bytes) };
    const broken = requestAs(mara, running, '/assets', init).catch(() => null);
    const waiting = `select from pg_locks where relation = 'files'::regclass and not granted`;
    const isWaiting = async () => (await blocker.query(waiting)).rowCount;
    await expect.poll(isWaiting).toBe(1);
    running.child.kill('SIGKILL');
    await running.exited;
    await broken;
    await blocker.query('rollback');
    expect(await count('assets')).toBe(before);
    expect(running.output()).not.toContain(bucket.settings.secretAccessKey);
    const key = originalKey(sha256(bytes));
    expect((await storage.head(key))?.sizeBytes).toBe(bytes.length);

    bucket.requests.length = 0;
    expect((await mara.ok('createAsset', { body: formOf(bytes) })).file_hash).toBe(sha256(bytes));
    expect(bucket.requests.filter((request) => request.startsWith('PUT '))).toEqual([]);
    expect((await storage.head(key))?.sizeBytes).toBe(bytes.length);
  } finally {
    running.child.kill('SIGKILL');
    await blocker.end();
  }
});
