import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import type { Extraction } from '@vitrine/contract/extraction';
import type { OperationId } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { define } from '../fields/values/fields.ts';
import { stopTagging } from '../media/tagged-files.ts';
import { actAs, arrive, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, objectPath, openLibrary, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';
import { brokenFilm, shownValue, tagged, wire } from './files.ts';

let library: Library;
let admin: Account;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  admin = await arrive(library, 'admin', 'admin');
  mara = await arrive(library, 'mara');
});
afterAll(stopTagging);

/** Removes all stored files and wirings. */
beforeEach(async () => {
  for (const table of ['assets', 'files', 'extraction_runs'] as const)
    await library.deps.db.deleteFrom(table).execute();
  await sql`update fields set extraction_source = ''`.execute(library.deps.db);
  await sql`delete from graphile_worker._private_jobs`.execute(library.deps.db);
});

const progress = (): Promise<Extraction> => admin.ok('getExtraction', {});
const start = (body?: { field_id?: string; only_failed?: boolean }) => admin.ok('startBackfill', { body });

/** Runs due jobs that have not started, one after the other, up to this number. */
async function workOnce(): Promise<void> {
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(library.deps.db);
  await library.runJobs();
}

// EXTRACT-9
describe('a pass over the stored files (POST /admin/system/extraction/backfill)', () => {
  test('returns no pass before the first one', async () => {
    expect(await progress()).toEqual({
      running: false,
      state: 'none',
      done: 0,
      total: 0,
      failed: 0,
      field_id: null,
      only_failed: false,
      started_at: null,
      finished_at: null,
      reader: { name: 'exiftool', version: expect.stringMatching(/^\d+\.\d+/), reason: null },
    });
  });

  // EXTRACT-9
  test('fills assets from before the wiring, also in the trash, and reports progress', async () => {
    const before = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
    const binned = await upload(mara, await tagged({ 'XMP-dc:Title': 'Binned' }));
    await mara.ok('deleteAsset', { params: { id: binned.id }, body: undefined });
    await upload(mara, brokenFilm(1), {}, 'film.mp4');
    await library.runJobs();
    const id = await wire(library, admin, 'text', { source: 'title' });
    expect(await start()).toMatchObject({ running: true, state: 'running', done: 0, total: 3, failed: 0 });
    await library.runJobs();
    const after = await progress();
    expect(after).toMatchObject({ running: false, state: 'finished', done: 3, total: 3, failed: 1 });
    expect(Date.parse(after.finished_at ?? '')).toBeGreaterThanOrEqual(Date.parse(after.started_at ?? ''));
    expect(await shownValue(mara, before, id)).toMatchObject({ value_text: 'Ridge', set_by: 'xmp' });
    await admin.ok('restoreAsset', { params: { id: binned.id } });
    expect(await shownValue(admin, binned, id)).toMatchObject({ value_text: 'Binned' });
  });

  test('fills only the requested field', async () => {
    const asset = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
    await library.runJobs();
    const wanted = await wire(library, admin, 'text', { source: 'title' });
    const other = await wire(library, admin, 'text', { source: 'title' });
    expect(await start({ field_id: wanted })).toMatchObject({ field_id: wanted });
    await library.runJobs();
    expect(await shownValue(mara, asset, wanted)).toMatchObject({ value_text: 'Ridge' });
    expect(await shownValue(mara, asset, other)).toBeUndefined();
  });

  // EXTRACT-9
  test('refuses a second pass, also for concurrent requests', async () => {
    await upload(mara, plainText());
    const twice = await Promise.allSettled([start(), start(), start()]);
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await admin.refused('startBackfill', { body: undefined })).toEqual({
      status: 409,
      error: 'a pass over the stored files is under way',
    });
    await library.runJobs();
    await start();
  });

  // EXTRACT-9
  test('returns 404 for an unknown field and 400 for a field that is not wired', async () => {
    const id = await define(library, 'text', { code: 'unwired' });
    expect(await admin.refused('startBackfill', { body: { field_id: nowhere } })).toMatchObject({
      status: 404,
    });
    expect(await admin.refused('startBackfill', { body: { field_id: id } })).toEqual({
      status: 400,
      error: 'unwired is not wired to a source, or not active',
    });
    expect(await progress()).toMatchObject({ state: 'none' });
  });

  // EXTRACT-9
  test('can be stopped; stopping is idempotent', async () => {
    await upload(mara, plainText());
    await start();
    await admin.ok('cancelBackfill', {});
    await admin.ok('cancelBackfill', {});
    await library.runJobs();
    expect(await progress()).toMatchObject({ running: false, state: 'cancelled', done: 0, total: 1 });
  });

  test('is recorded in the audit log with who started and stopped it', async () => {
    await start();
    await admin.ok('cancelBackfill', {});
    const { rows } = await sql<{ event: string; actor_user_ref: number }>`
      select event, actor_user_ref from audit_events where event like 'extraction.%' order by occurred_at desc, event
      limit 2`.execute(library.deps.db);
    expect(rows.map(({ event }) => event).sort()).toEqual([
      'extraction.backfill.cancelled',
      'extraction.backfill.started',
    ]);
    expect(rows.every((row) => row.actor_user_ref === admin.ref)).toBe(true);
  });
});

describe('a pass over more files than one step has', () => {
  /** Inserts files without metadata, as rows and bytes. */
  async function addFiles(count: number): Promise<void> {
    await sql`insert into files (hash, size_bytes, mime)
      select encode(sha256(n::text::bytea), 'hex'), 1, 'text/plain' from generate_series(1, ${count}) n`.execute(
      library.deps.db,
    );
  }

  test('resumes after the last recorded step', async () => {
    await addFiles(100);
    await start();
    // The first step is killed after its work and before it is recorded, so its job is pending again.
    await sql`create function die() returns trigger language plpgsql as
      'begin if new.done > 0 and new.done <= 40 then raise exception ''killed''; end if; return new; end'`.execute(
      library.deps.db,
    );
    await sql`create trigger die before update on extraction_runs for each row execute function die()`.execute(
      library.deps.db,
    );
    await library.runJobs();
    expect(await progress()).toMatchObject({ running: true, done: 0, total: 100 });
    await sql`drop trigger die on extraction_runs`.execute(library.deps.db);
    await sql`drop function die()`.execute(library.deps.db);
    await workOnce();
    // Missing bytes are failures, and each file is counted once.
    expect(await progress()).toMatchObject({ state: 'finished', done: 100, total: 100, failed: 100 });
  });

  test('counts a step once if two workers performed it', async () => {
    await addFiles(50);
    await start();
    await sql`insert into graphile_worker._private_jobs (task_id, payload)
      select task_id, payload from graphile_worker._private_jobs`.execute(library.deps.db);
    await library.runJobs();
    expect(await progress()).toMatchObject({ state: 'finished', done: 50, total: 50 });
  });

  test('ends as failed if it cannot continue, and allows a new pass', async () => {
    await addFiles(1);
    await start();
    await sql`update graphile_worker._private_jobs set attempts = max_attempts - 1`.execute(library.deps.db);
    await sql`create function die() returns trigger language plpgsql as
      'begin if new.done > 0 then raise exception ''broken''; end if; return new; end'`.execute(
      library.deps.db,
    );
    await sql`create trigger die before update on extraction_runs for each row execute function die()`.execute(
      library.deps.db,
    );
    await library.runJobs();
    expect(await progress()).toMatchObject({ running: false, state: 'failed' });
    await sql`drop trigger die on extraction_runs`.execute(library.deps.db);
    await sql`drop function die()`.execute(library.deps.db);
    await start();
  });
});

// EXTRACT-10
describe('files that could not be read (GET /admin/system/extraction/failures)', () => {
  async function uploadBroken(seed: number, owner = mara, fields = {}) {
    await wire(library, admin, 'text', { source: 'title' });
    const asset = await upload(owner, brokenFilm(seed), fields, `film-${seed}.mp4`);
    await library.runJobs();
    return asset;
  }

  // EXTRACT-10
  test('are listed with asset, file name and reason, and the asset remains usable', async () => {
    const asset = await uploadBroken(1);
    const { items, next_cursor } = await admin.ok('listExtractionFailures', {});
    expect(next_cursor).toBeNull();
    expect(items).toEqual([
      {
        hash: asset.file_hash,
        asset_id: asset.id,
        file_name: 'film-1.mp4',
        reason: expect.stringContaining('Truncated'),
        failed_at: expect.any(String),
      },
    ]);
    await mara.ok('getAsset', { params: { id: asset.id } });
  });

  test('are paginated without duplicates', async () => {
    for (const seed of [1, 2, 3, 4, 5]) await uploadBroken(seed);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { hash: string }[]; next_cursor: string | null } = await admin.ok(
        'listExtractionFailures',
        { query: { limit: 2, ...(cursor === null ? {} : { cursor }) } },
      );
      seen.push(...page.items.map(({ hash }) => hash));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
  });

  // EXTRACT-10
  test('name the asset only for callers who may see it', async () => {
    const asset = await uploadBroken(1, mara, { sensitivity: 'restricted' });
    const operator = await arrive(library, `operator-${randomBytes(3).toString('hex')}`);
    await grant(library, operator, 'fields.admin');
    const { items } = await operator.ok('listExtractionFailures', {});
    expect(items).toMatchObject([{ hash: asset.file_hash, asset_id: null, file_name: null }]);
    expect((await admin.ok('listExtractionFailures', {})).items).toMatchObject([{ asset_id: asset.id }]);
  });

  // EXTRACT-10
  test('can be retried, which fills every asset of the file on success', async () => {
    const id = await wire(library, admin, 'text', { source: 'title' });
    const bytes = await tagged({ 'XMP-dc:Title': 'Ridge' });
    const asset = await upload(mara, bytes);
    const hash = asset.file_hash ?? '';
    const path = objectPath(library, `originals/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`);
    await rename(path, `${path}.away`);
    await library.runJobs();
    expect((await admin.ok('listExtractionFailures', {})).items).toMatchObject([
      { hash, reason: 'the bytes are missing' },
    ]);
    await rename(`${path}.away`, path);
    await admin.ok('retryExtraction', { params: { hash } });
    await admin.ok('retryExtraction', { params: { hash } });
    await library.runJobs();
    expect((await admin.ok('listExtractionFailures', {})).items).toEqual([]);
    expect(await shownValue(mara, asset, id)).toMatchObject({ value_text: 'Ridge' });
    expect(await admin.refused('retryExtraction', { params: { hash } })).toMatchObject({ status: 404 });
    expect(await admin.refused('retryExtraction', { params: { hash: '0'.repeat(64) } })).toMatchObject({
      status: 404,
    });
  });

  test('are processed by a pass with only_failed', async () => {
    await uploadBroken(1);
    await upload(mara, plainText());
    await library.runJobs();
    expect(await start({ only_failed: true })).toMatchObject({ only_failed: true, total: 1 });
    await library.runJobs();
    expect(await progress()).toMatchObject({ state: 'finished', done: 1, failed: 1 });
  });

  test('are removed with the bytes', async () => {
    const asset = await uploadBroken(1);
    await mara.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
    await sql`delete from assets`.execute(library.deps.db);
    await sql`delete from files`.execute(library.deps.db);
    expect((await admin.ok('listExtractionFailures', {})).items).toEqual([]);
  });
});

describe('who may look and act', () => {
  type Answer = { status: number };
  const calls: readonly [OperationId, (visitor: Visitor) => Promise<Answer>][] = [
    ['getExtraction', (visitor) => visitor.send('/admin/system/extraction')],
    ['startBackfill', (visitor) => visitor.send('/admin/system/extraction/backfill', { method: 'POST' })],
    ['cancelBackfill', (visitor) => visitor.send('/admin/system/extraction/backfill', { method: 'DELETE' })],
    ['listExtractionFailures', (visitor) => visitor.send('/admin/system/extraction/failures')],
    [
      'retryExtraction',
      (visitor) =>
        visitor.send(`/admin/system/extraction/failures/${'0'.repeat(64)}/retry`, { method: 'POST' }),
    ],
  ];
  const statuses = async (visitor: Visitor) => {
    const found: number[] = [];
    for (const [, call] of calls) found.push((await call(visitor)).status);
    return found;
  };
  const refused = [403, 403, 403, 403, 403];
  const admitted = [200, 201, 204, 200, 404];

  test('refuses members, and administrators who impersonate one', async () => {
    expect(await statuses(mara)).toEqual(refused);
    expect(await statuses(await actAs(library, admin, mara))).toEqual(refused);
  });

  // EXTRACT-9
  test('allows holders of fields.admin, and administrators', async () => {
    const operator = await arrive(library, 'operator');
    await grant(library, operator, 'fields.admin');
    expect(await statuses(operator)).toEqual(admitted);
    expect(await statuses(admin)).toEqual(admitted);
  });
});
