import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { startWorkerFor } from '../../src/boot/worker.ts';
import { sayStored } from '../../src/platform/language/sentence.ts';
import { slowSvg, tiffBomb } from '../media/hostile-files.ts';
import { startEncoder } from '../support/encoder.ts';
import { type Account, formOf, openLibrary, upload } from '../support/library.ts';
import { gifBomb, jpeg, png, pngBomb, svg } from '../support/pictures.ts';

/** A busy machine may take this long. */
const PATIENCE = { timeout: 90_000 };

const library = await openLibrary({}, { decoding: { limits: { drawing: { timeoutMs: 1000 } } } });
const [mara, ivo] = await library.joinAll('mara', 'ivo');
const { db, storage } = library.deps;

async function statusOf(account: Account, id: string): Promise<string> {
  const asset = await account.ok('getAsset', { params: { id } });
  return asset.restricted ? 'withheld' : asset.processing_status;
}

async function errorOf(id: string, { deps } = library): Promise<string> {
  const assets = deps.db.selectFrom('assets').select('processing_error').where('id', '=', id);
  return sayStored('en', (await assets.executeTakeFirst())?.processing_error ?? '');
}

describe('a file that exceeds the limits of its decoder', () => {
  // MEDIA-6
  test('is ready without previews at once, with a reason, and can be processed again', async () => {
    const { id } = await upload(mara, slowSvg(), { sensitivity: 'public' }, 'slow.svg');
    await library.runJobs();
    expect([await statusOf(mara, id), await errorOf(id)]).toEqual(['ready', 'took longer than 1 s']);
    const jobs = sql`select from graphile_worker.jobs where task_identifier = 'render'`;
    expect((await jobs.execute(db)).rows).toEqual([]);
    const open = { processing_status: 'ready', preview_available: false, anonymously_visible: true };
    expect(await ivo.ok('getAsset', { params: { id } })).toMatchObject(open);
    expect(await ivo.status('GET', `/assets/${id}/file`)).toBe(200);
    await mara.ok('reprocessAsset', { params: { id } });
    await library.runJobs();
    expect([await statusOf(mara, id), await errorOf(id)]).toEqual(['ready', 'took longer than 1 s']);
    expect(await readdir(storage.incomingDir)).toEqual([]);
  });

  // MEDIA-8
  test('does not delay pictures and drawings of other accounts', async () => {
    const slow: string[] = [];
    for (let at = 0; at < 6; at += 1) slow.push((await upload(mara, slowSvg(), {}, 'slow.svg')).id);
    const worker = await startWorkerFor(library.deps, { ...library.database, lost: new Promise(() => {}) });
    try {
      await expect.poll(() => library.deps.decoders.pids('drawing').length, PATIENCE).toBe(1);
      const picture = await upload(ivo, await jpeg(300, 200));
      const drawing = await upload(ivo, svg(30, 20), {}, 'drawing.svg');
      for (const { id } of [picture, drawing])
        await expect.poll(() => statusOf(ivo, id), PATIENCE).toBe('ready');
      const left = await Promise.all(slow.map((id) => statusOf(mara, id)));
      expect(left.filter((status) => status === 'pending').length).toBeGreaterThan(0);
    } finally {
      await worker.stop();
    }
    await sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(db);
  });

  // MEDIA-5
  test('is stored without previews if it is a decompression bomb', async () => {
    // With the usual time for drawings, which a busy machine needs.
    const patient = await openLibrary();
    const noa = await patient.join('noa');
    const bombs = {
      'a PNG of 50,000 x 50,000 pixels': pngBomb(),
      'a GIF with a large screen': gifBomb(),
      'a TIFF of 60,000 x 60,000 pixels': tiffBomb(),
      'an SVG of 30,000 x 30,000 pixels': svg(30_000, 30_000),
    };
    for (const [name, bytes] of Object.entries(bombs)) {
      const { id } = await upload(noa, bytes);
      await patient.runJobs();
      const stored = { processing_status: 'ready', preview_available: false, ladder_available: false };
      expect([name, await noa.ok('getAsset', { params: { id } })]).toMatchObject([name, stored]);
      expect(await errorOf(id, patient)).toContain('more than are rendered');
      expect(await noa.status('GET', `/assets/${id}/variants/col`)).toBe(404);
    }
  });
});

test('a request that waits for such a file fails, and the file is not stored', async () => {
  const encoder = await startEncoder();
  // Every process uses more, so the first measurement stops it.
  const limits = { query: { memoryBytes: 1024 ** 2 } };
  const strict = await openLibrary({ VITRINE_ENCODER_URL: encoder.address }, { decoding: { limits } });
  const root = await strict.join('root', 'admin');
  const refusal = { status: 400, error: 'decoding the picture needed more than 1 MB of memory' };
  const picture = await png(64, 48);
  const searched = await root.refused('searchByImage', { body: formOf(picture) });
  const logo = await root.refused('uploadLogo', { body: new Blob([picture], { type: 'image/png' }) });
  expect([searched, logo]).toEqual([refusal, refusal]);
  expect(await readdir(strict.deps.storage.incomingDir)).toEqual([]);
  await encoder.stop();
});
