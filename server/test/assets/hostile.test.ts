import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { startWorkerFor } from '../../src/worker.ts';
import { slowSvg, tiffBomb } from '../media/hostile-files.ts';
import { startEncoder } from '../support/encoder.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { gifBomb, jpeg, png, svg } from '../support/pictures.ts';

/** A busy machine may take this long. */
const PATIENCE = { timeout: 90_000 };

let library: Library;
let mara: Account;
let ivo: Account;

beforeAll(async () => {
  library = await openLibrary({}, { decoding: { limits: { drawing: { timeoutMs: 2000 } } } });
  mara = await library.join('mara');
  ivo = await library.join('ivo');
});

async function statusOf(account: Account, id: string): Promise<string> {
  const asset = await account.ok('getAsset', { params: { id } });
  return asset.restricted ? 'withheld' : asset.processing_status;
}

async function errorOf(id: string): Promise<string | null> {
  const row = await library.deps.db
    .selectFrom('assets')
    .select('processing_error')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.processing_error;
}

async function renderJobs(): Promise<{ attempts: number; flags: object | null }[]> {
  const { rows } = await sql<{ attempts: number; flags: object | null }>`
    select attempts, flags from graphile_worker.jobs where task_identifier = 'render'`.execute(
    library.deps.db,
  );
  return rows;
}

describe('a file that exceeds the limits of its decoder', () => {
  // MEDIA-6
  test('fails immediately with a reason, and can be processed again', async () => {
    const { id } = await upload(mara, slowSvg(), {}, 'slow.svg');
    await library.runJobs();
    expect([await statusOf(mara, id), await errorOf(id)]).toEqual(['failed', 'took longer than 2 s']);
    expect(await renderJobs()).toEqual([]);
    await mara.ok('reprocessAsset', { params: { id } });
    expect([await statusOf(mara, id), await errorOf(id)]).toEqual(['pending', null]);
    await library.runJobs();
    expect(await statusOf(mara, id)).toBe('failed');
    expect(await readdir(library.deps.storage.incomingDir)).toEqual([]);
  });

  // MEDIA-8
  test('does not delay pictures and drawings of other accounts', async () => {
    const slow: string[] = [];
    for (let at = 0; at < 12; at += 1) slow.push((await upload(mara, slowSvg(), {}, 'slow.svg')).id);
    const worker = await startWorkerFor(library.deps, { ...library.database, lost: new Promise(() => {}) });
    try {
      await expect.poll(() => library.deps.decoders.pids('drawing').length, PATIENCE).toBe(1);
      const picture = await upload(ivo, await jpeg(300, 200));
      const drawing = await upload(ivo, svg(30, 20), {}, 'drawing.svg');
      for (const { id } of [picture, drawing]) {
        await expect.poll(() => statusOf(ivo, id), PATIENCE).toBe('ready');
      }
      const left = await Promise.all(slow.map((id) => statusOf(mara, id)));
      expect(left.filter((status) => status === 'pending').length).toBeGreaterThan(2);
    } finally {
      await worker.stop();
    }
    await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(
      library.deps.db,
    );
  });

  // MEDIA-5
  test.each([
    ['a GIF with a large screen', gifBomb],
    ['a TIFF of 60,000 x 60,000 pixels', tiffBomb],
    ['an SVG of 30,000 x 30,000 pixels', () => svg(30_000, 30_000)],
  ])('is stored without previews if it is a decompression bomb: %s', async (_, make) => {
    const { id } = await upload(mara, make());
    await library.runJobs();
    const asset = await mara.ok('getAsset', { params: { id } });
    expect(asset).toMatchObject({ processing_status: 'ready', ladder_available: false });
    expect(await errorOf(id)).toContain('more than are rendered');
  });
});

// MEDIA-7
test('a killed decoder leaves no partial file, and the job runs again', async () => {
  const { decoders, db, storage } = library.deps;
  const { id, file_hash } = await upload(ivo, await jpeg(6000, 5000, { seed: 99 }));
  for (const pid of decoders.pids('picture')) process.kill(pid, 'SIGKILL');
  await expect.poll(() => decoders.pids('picture').length, PATIENCE).toBe(0);
  const run = library.runJobs();
  await expect.poll(() => decoders.pids('picture').length, { ...PATIENCE, interval: 5 }).toBe(1);
  for (const pid of decoders.pids('picture')) process.kill(pid, 'SIGKILL');
  await run;
  expect(await statusOf(ivo, id)).toBe('pending');
  expect(await renderJobs()).toMatchObject([{ attempts: 1 }]);
  expect(await readdir(storage.incomingDir)).toEqual([]);
  const { renditions } = await db
    .selectFrom('files')
    .select('renditions')
    .where('hash', '=', file_hash ?? '')
    .executeTakeFirstOrThrow();
  expect(renditions).toEqual({});
  await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
  await library.runJobs();
  expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({
    processing_status: 'ready',
    ladder_available: true,
  });
});

test('a request that waits for such a file fails, and the file is not stored', async () => {
  const encoder = await startEncoder();
  const limits = { query: { memoryBytes: 16 * 1024 ** 2 } };
  const strict = await openLibrary({ VITRINE_ENCODER_URL: encoder.address }, { decoding: { limits } });
  const root = await strict.join('root', 'admin');
  const refusal = { status: 400, error: 'decoding the picture needed more than 16 MB of memory' };
  const picture = await png(64, 48);
  const form = new FormData();
  form.append('file', new Blob([picture]), 'query.png');
  const searched = await root.refused('searchByImage', { body: form });
  const logo = await root.refused('uploadLogo', { body: new Blob([picture], { type: 'image/png' }) });
  expect([searched, logo]).toEqual([refusal, refusal]);
  expect(await readdir(strict.deps.storage.incomingDir)).toEqual([]);
  await encoder.stop();
});
