import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AccountExport } from '@vitrine/contract/account-data';
import { BlobReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { exportAccountJob } from '../../src/operate/account-data/export-job.ts';
import { removeExports } from '../../src/operate/account-data/remove-exports.ts';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { exportKey, originalKey } from '../../src/platform/storage/object-key.ts';
import { scratchDirectory } from '../backup/kit.ts';
import { faultsOfBag, filesBelow } from '../export/bag.ts';
import { requestAs, type Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs, anotherSession, bearer, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db, storage } = library.deps;
const [mara, ines] = await library.joinAll('mara', 'ines');

const addressOf = ({ url = '' }: AccountExport) => url.replace('/api/v1', '');
const fetchZip = (who: Visitor, made: AccountExport, headers: Record<string, string> = {}) =>
  requestAs(who, library, addressOf(made), { headers });

/** Starts an export and runs its job. */
async function exported(who: Visitor): Promise<AccountExport> {
  await who.ok('startAccountExport', { body: undefined });
  await library.runJobs();
  return who.ok('getAccountExport');
}

/** Extracts a ZIP into a directory; returns the names of its folders. */
async function extract(zip: Buffer, directory: string): Promise<string[]> {
  const blob = new Blob([new Uint8Array(zip)]);
  const reader = new ZipReader(new BlobReader(blob), { checkSignature: true, useWebWorkers: false });
  const folders = new Set<string>();
  for (const entry of await reader.getEntries()) {
    if (entry.directory) continue;
    const path = join(directory, entry.filename);
    folders.add(entry.filename.split('/')[0] ?? '');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await entry.getData(new Uint8ArrayWriter()));
  }
  return [...folders];
}

// EXPORT-17, EXPORT-18
test('a member downloads everything that is theirs as a ZIP with one bag', async () => {
  expect(await mara.refused('getAccountExport')).toMatchObject({ status: 404 });
  const own = await upload(mara, plainFile('of mara'), { title: 'Own' }, 'own.bin');
  const foreign = await upload(ines, plainFile('of ines'), { title: 'Foreign' }, 'foreign.bin');
  await publish(mara, [own, foreign], { title: 'Mine' });

  const { job_id } = await mara.ok('startAccountExport', { body: undefined });
  expect(await mara.ok('startAccountExport', { body: undefined })).toEqual({ job_id });
  const waiting = await mara.send('/account/export');
  expect([waiting.status, JSON.parse(waiting.text)]).toMatchObject([202, { job_id, state: 'queued' }]);
  expect(await mara.ok('getBatch', { params: { id: job_id } })).toMatchObject({
    kind: 'export',
    state: 'queued',
  });
  await library.runJobs();

  const made = await mara.ok('getAccountExport');
  expect(made).toMatchObject({ job_id, state: 'done', left_out: 0, url: `/api/v1/account/export/${job_id}` });
  expect(Date.parse(made.expires_at ?? '') - Date.now()).toBeGreaterThan(6 * 24 * 3600_000);
  const job = await mara.ok('getBatch', { params: { id: job_id } });
  expect(job).toMatchObject({ state: 'done', total: made.files, done: made.files, changed: made.files });

  const answer = await fetchZip(mara, made);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
  const zip = Buffer.from(await answer.arrayBuffer());
  expect(zip.length).toBe(made.bytes);
  const part = await fetchZip(mara, made, { range: 'bytes=10-19' });
  expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, zip.subarray(10, 20)]);

  const directory = await scratchDirectory();
  const [folder = '', ...others] = await extract(zip, directory);
  expect([others, folder]).toEqual([[], `mara ${made.created_at.slice(0, 10)}`]);
  expect(await faultsOfBag(join(directory, folder))).toEqual([]);
  const files = await filesBelow(join(directory, folder, 'data/originals'));
  expect(files.filter((path) => path.endsWith('.bin'))).toEqual([
    expect.stringMatching(/own [0-9a-f]{8}\.bin$/),
  ]);
});

// EXPORT-18
test('only the account itself, in a session, gets its export', async () => {
  const made = await exported(mara);
  const administrator = await library.join('administrator', 'admin');
  const token = await bearer(library, mara, ['admin', 'read']);
  const mask = await actAs(library, administrator, mara);
  for (const path of ['/account/export', addressOf(made)]) {
    for (const stranger of [ines, administrator]) expect(await stranger.status('GET', path)).toBe(404);
    for (const refused of [token, mask]) expect(await refused.status('GET', path)).toBe(403);
  }
  expect(await token.status('POST', '/account/export')).toBe(403);
  expect(await mask.status('POST', '/account/export')).toBe(403);
  expect((await fetchZip(await anotherSession(library, mara), made)).status).toBe(200);
  // EXPORT-17
  expect(await ines.status('GET', `/jobs/${made.job_id}`)).toBe(404);
  await grant(library, ines, 'jobs.read');
  expect(await ines.ok('getBatch', { params: { id: made.job_id } })).toMatchObject({ kind: 'export' });
});

// EXPORT-18
test('an export is removed with its file when it is replaced, expires, or its account is deleted', async () => {
  const kept = async ({ job_id }: AccountExport) => (await storage.head(exportKey(job_id))) !== null;
  const first = await exported(mara);
  const second = await exported(mara);
  expect([await kept(first), await kept(second)]).toEqual([false, true]);
  expect((await fetchZip(mara, first)).status).toBe(404);

  await sql`update account_exports set expires_at = now() where id = ${second.job_id}`.execute(db);
  expect(await mara.refused('getAccountExport')).toMatchObject({ status: 404 });
  expect((await fetchZip(mara, second)).status).toBe(404);
  await removeExports(library.deps);
  expect(await kept(second)).toBe(false);

  const leaver = await library.join('leaver');
  const last = await exported(leaver);
  await sql`delete from users where ref = ${leaver.ref}`.execute(db);
  await removeExports(library.deps);
  expect(await kept(last)).toBe(false);
});

// EXPORT-17
test('an export continues after its process was killed, even while packing', async () => {
  await upload(ines, plainFile('of a killed export'), {}, 'killed.bin');
  const { job_id } = await ines.ok('startAccountExport', { body: undefined });
  const directory = join(storage.incomingDir, `export-${job_id}`);
  await mkdir(directory);
  await writeFile(`${directory}.zip`, 'half of it');
  await writeFile(join(directory, 'left.txt'), 'not packed yet');
  await library.runJobs();
  const made = await ines.ok('getAccountExport');
  expect(made.state).toBe('done');
  const target = await scratchDirectory();
  const [folder = ''] = await extract(Buffer.from(await (await fetchZip(ines, made)).arrayBuffer()), target);
  expect(await faultsOfBag(join(target, folder))).toEqual([]);
  expect(await filesBelow(storage.incomingDir)).toEqual([]);
});

// EXPORT-17
test('an export waits while another is written, and fails with a reason if the disk has no room', async () => {
  const small = await library.join('small');
  await upload(small, plainFile('too large'), {}, 'large.bin');
  const { job_id } = await small.ok('startAccountExport', { body: undefined });
  const full = { ...storage, room: async () => ({ freeBytes: 10, reserveBytes: 10 }) };
  const context = { jobId: '1', lastAttempt: false, log: library.deps.log };
  const run = exportAccountJob({ db, storage: full });
  const busy = await ines.ok('startAccountExport', { body: undefined });
  await sql`update account_exports set state = 'running', reported_at = now() where id = ${busy.job_id}`.execute(
    db,
  );
  await run({ export: job_id }, context);
  expect(await small.ok('getAccountExport')).toMatchObject({ state: 'queued' });

  await sql`update account_exports set reported_at = now() - interval '1 hour' where id = ${busy.job_id}`.execute(
    db,
  );
  await run({ export: job_id }, context);
  expect(await small.ok('getAccountExport')).toMatchObject({
    state: 'failed',
    reason: 'the library has not enough room for it',
  });
  expect(await small.ok('getBatch', { params: { id: job_id } })).toMatchObject({ state: 'failed' });
  await sql`delete from account_exports where id = ${busy.job_id}`.execute(db);
});

// EXPORT-9, EXPORT-17
test('an export leaves out damaged files and says how many', async () => {
  const careless = await library.join('careless');
  const asset = await upload(careless, plainFile('lost'), {}, 'lost.bin');
  await storage.delete(originalKey(asset.file_hash ?? ''));
  expect(await exported(careless)).toMatchObject({ state: 'done', left_out: 1 });
});

// EXPORT-18
test('the sweep removes files of exports that are not in the library', async () => {
  const key = exportKey('00000000-0000-4000-8000-00000000dead');
  const path = join(storage.incomingDir, 'orphan');
  await writeFile(path, 'orphan');
  await storage.adopt(path, key);
  const made = await exported(mara);
  await sweep(library.deps, Date.now() + 60_000, 0);
  expect([await storage.head(key), (await storage.head(exportKey(made.job_id))) !== null]).toEqual([
    null,
    true,
  ]);
});
