import { rename } from 'node:fs/promises';
import type { Extraction } from '@vitrine/contract/extraction';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { define } from '../fields/values/fields.ts';
import { stopTagging } from '../media/tagged-files.ts';
import { auditEventsDuring } from '../support/audit.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainText } from '../support/pictures.ts';
import { brokenFilm, shownValue, tagged, wire } from './files.ts';

const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const mara = await library.join('mara');
const { db } = library.deps;
afterAll(stopTagging);

/** Removes all stored files and wirings. */
beforeEach(async () => {
  for (const table of ['assets', 'files', 'extraction_runs'] as const) await db.deleteFrom(table).execute();
  await sql`update fields set extraction_source = ''`.execute(db);
  await sql`delete from graphile_worker._private_jobs`.execute(db);
});

const progress = (): Promise<Extraction> => admin.ok('getExtraction', {});
const start = (body?: { field_id?: string; only_failed?: boolean }) => admin.ok('startBackfill', { body });
const failures = async (as = admin, query = {}) => (await as.ok('listExtractionFailures', { query })).items;

describe('a pass over the stored files (POST /admin/system/extraction/backfill)', () => {
  // EXTRACT-9
  test('fills assets from before the wiring, also in the trash, and reports progress', async () => {
    expect(await progress()).toMatchObject({
      running: false,
      state: 'none',
      started_at: null,
      reader: { name: 'exiftool', version: expect.stringMatching(/^\d+\.\d+/), reason: null },
    });
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

  // EXTRACT-9
  test('fills only the requested field, which must be wired', async () => {
    const asset = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
    await library.runJobs();
    const wanted = await wire(library, admin, 'text', { source: 'title' });
    const other = await wire(library, admin, 'text', { source: 'title' });
    const unwired = await define(library, 'text', { code: 'unwired' });
    expect((await admin.refused('startBackfill', { body: { field_id: nowhere } })).status).toBe(404);
    expect(await admin.refused('startBackfill', { body: { field_id: unwired } })).toEqual({
      status: 400,
      error: 'unwired is not wired to a source, or not active',
    });
    expect(await start({ field_id: wanted })).toMatchObject({ field_id: wanted });
    await library.runJobs();
    expect(await shownValue(mara, asset, wanted)).toMatchObject({ value_text: 'Ridge' });
    expect(await shownValue(mara, asset, other)).toBeUndefined();
  });

  // EXTRACT-9
  test('is the only one, also for concurrent requests, and can be stopped; both are audited', async () => {
    await upload(mara, plainText());
    const events = await auditEventsDuring(library, async () => {
      const twice = await Promise.allSettled([start(), start(), start()]);
      expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(await admin.refused('startBackfill', { body: undefined })).toEqual({
        status: 409,
        error: 'a pass over the stored files is under way',
      });
      for (let time = 0; time < 2; time += 1) await admin.ok('cancelBackfill', {});
    });
    expect(events.map(({ event, actor_user_ref }) => [event, actor_user_ref])).toEqual([
      ['extraction.backfill.started', admin.ref],
      ['extraction.backfill.cancelled', admin.ref],
    ]);
    await library.runJobs();
    expect(await progress()).toMatchObject({ running: false, state: 'cancelled', done: 0, total: 1 });
    await start();
  });
});

describe('a pass over more files than one step has', () => {
  /** Starts a pass over this many files without bytes or metadata. */
  async function startOver(count: number): Promise<void> {
    await sql`insert into files (hash, size_bytes, mime)
      select encode(sha256(n::text::bytea), 'hex'), 1, 'text/plain' from generate_series(1, ${count}) n`.execute(
      db,
    );
    await start();
  }

  /** Kills each first step after its work and before it is recorded, so that its job is pending again. */
  async function runAndDie(): Promise<void> {
    await sql`create function die() returns trigger language plpgsql as
      'begin if new.done > 0 and new.done <= 40 then raise exception ''killed''; end if; return new; end'`.execute(
      db,
    );
    await sql`create trigger die before update on extraction_runs for each row execute function die()`.execute(
      db,
    );
    await library.runJobs();
    await sql`drop function die() cascade`.execute(db);
  }

  // EXTRACT-9
  test('resumes after the last recorded step when its process dies', async () => {
    await startOver(100);
    await runAndDie();
    expect(await progress()).toMatchObject({ running: true, done: 0, total: 100 });
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    await library.runJobs();
    // Missing bytes are failures, and each file is counted once.
    expect(await progress()).toMatchObject({ state: 'finished', done: 100, total: 100, failed: 100 });
  });

  test('counts a step once if two workers performed it', async () => {
    await startOver(50);
    await sql`insert into graphile_worker._private_jobs (task_id, payload)
      select task_id, payload from graphile_worker._private_jobs`.execute(db);
    await library.runJobs();
    expect(await progress()).toMatchObject({ state: 'finished', done: 50, total: 50 });
  });

  test('ends as failed if it cannot continue, and allows a new pass', async () => {
    await startOver(1);
    await sql`update graphile_worker._private_jobs set attempts = max_attempts - 1`.execute(db);
    await runAndDie();
    expect(await progress()).toMatchObject({ running: false, state: 'failed' });
    await start();
  });
});

describe('files that could not be read (GET /admin/system/extraction/failures)', () => {
  // EXTRACT-10
  test('are listed in pages with file name, reason and the asset that the caller may see, and read again', async () => {
    await wire(library, admin, 'text', { source: 'title' });
    const assets: string[] = [];
    for (const seed of [1, 2, 3])
      assets.push((await upload(mara, brokenFilm(seed), {}, `film-${seed}.mp4`)).id);
    await upload(mara, plainText());
    await library.runJobs();
    const first = await admin.ok('listExtractionFailures', { query: { limit: 2 } });
    const second = await failures(admin, { cursor: first.next_cursor });
    expect([first.items.length, second.length]).toEqual([2, 1]);
    const named = [...first.items, ...second];
    expect(named.map(({ asset_id }) => asset_id).sort()).toEqual(assets.sort());
    const names = ['film-1.mp4', 'film-2.mp4', 'film-3.mp4'];
    expect(named.map(({ file_name }) => file_name).sort()).toEqual(names);
    const reason = expect.stringContaining('Truncated');
    expect(named[0]).toMatchObject({ reason, failed_at: expect.any(String) });
    // LANGUAGE-8
    const headers = { 'accept-language': 'de' };
    const german = await admin.send('/admin/system/extraction/failures?limit=1', { headers });
    expect(german.text).toMatch(/"reason":"die Datei ist beschädigt: [^"]*Truncated/);
    // An asset of a damaged file is given only to its owner and administrators.
    const operator = await library.join('operator');
    await grant(library, operator, 'fields.admin');
    const hidden = { asset_id: null, file_name: null };
    expect(await failures(operator)).toMatchObject(assets.map(() => hidden));

    expect(await start({ only_failed: true })).toMatchObject({ only_failed: true, total: 3 });
    await library.runJobs();
    expect(await progress()).toMatchObject({ state: 'finished', done: 3, failed: 3 });
    for (const table of ['assets', 'files'] as const) await db.deleteFrom(table).execute();
    expect(await failures()).toEqual([]);
  });

  // EXTRACT-10
  test('can be retried, which fills every asset of the file on success', async () => {
    const id = await wire(library, admin, 'text', { source: 'title' });
    const asset = await upload(mara, await tagged({ 'XMP-dc:Title': 'Ridge' }));
    const hash = asset.file_hash ?? '';
    const path = objectPath(library, originalKey(hash));
    await rename(path, `${path}.away`);
    await library.runJobs();
    expect(await failures()).toMatchObject([{ hash, reason: 'the bytes are missing' }]);
    await rename(`${path}.away`, path);
    for (let time = 0; time < 2; time += 1) await admin.ok('retryExtraction', { params: { hash } });
    await library.runJobs();
    expect(await failures()).toEqual([]);
    expect(await shownValue(mara, asset, id)).toMatchObject({ value_text: 'Ridge' });
    for (const one of [hash, '0'.repeat(64)])
      expect((await admin.refused('retryExtraction', { params: { hash: one } })).status).toBe(404);
  });
});
