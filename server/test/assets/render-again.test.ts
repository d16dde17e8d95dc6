import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PreviewRung } from '@vitrine/contract/previews';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { resumeRerender, staleFiles } from '../../src/content/assets/previews/rerender.ts';
import { MAKERS_VERSION } from '../../src/media/renderable.ts';
import { clip } from '../media/clips.ts';
import { pdf } from '../media/documents.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import { requestAs, visit } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, unknownBytes } from '../support/pictures.ts';
import { openSecond } from '../support/second.ts';

const rung = (key: string, max_dim: number, format: PreviewRung['format'] = 'webp', quality = 80) =>
  ({ key, fit: key === 'col' ? 'cover' : 'contain', max_dim, format, quality }) as const;

const small = [rung('col', 100), rung('preview', 500, 'jpeg', 60), rung('tiny', 40, 'avif', 50)];

afterAll(stopTagging);
const library = await openLibrary();
const admin = await library.join('admin', 'admin');
const mara = await library.join('mara');
const { db } = library.deps;
/** The default ladder. */
const defaults = (await admin.ok('getPreviewSettings')).variants;

beforeEach(async () => {
  await sql`delete from assets`.execute(db);
  await sql`delete from files`.execute(db);
  await sql`delete from graphile_worker._private_jobs`.execute(db);
  await pause(false);
});

const progress = async () => (await admin.ok('getPreviewSettings')).rendering;
const pause = (paused: boolean) => admin.ok('pausePreviewRendering', { body: { paused } });
const mediaOf = (id: string) => mara.ok('getAssetMedia', { params: { id } });
/** Changes the recorded type of a file. */
const setType = ({ file_hash }: { file_hash: string | null }, mime: string) =>
  sql`update files set mime = ${mime} where hash = ${file_hash}`.execute(db);
const keysOf = async (id: string) => (await mediaOf(id)).variants.map(({ key }) => key);

async function pictureAt(id: string, key: string) {
  const answer = await requestAs(mara, library, `/assets/${id}/variants/${key}`);
  const { width, height } = await sharp(await answer.bytes()).metadata();
  return { type: answer.headers.get('content-type'), etag: answer.headers.get('etag'), width, height };
}

/** Changes every stored file to what the first release left: it rendered only pictures, and made no tiles. */
async function leaveAsBefore(): Promise<void> {
  await sql`delete from transcodes`.execute(db);
  await sql`update files set makers_version = 0, ladder_version = 1, media = '{}', text = '',
    renditions = case when mime like 'image/%' then renditions - 'tiles' else '{}' end`.execute(db);
  await sql`update assets a set processing_status = 'ready', processing_error = 'no previews are made of this type' from files f
    where f.hash = a.file_hash and f.mime not like 'image/%'`.execute(db);
}

/** Runs the background job to its end, without its pauses. */
async function untilDone(): Promise<void> {
  for (let round = 0; round < 20 && (await progress()).state !== 'done'; round += 1) {
    await sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`.execute(db);
    await library.runJobs();
  }
  expect((await progress()).state).toBe('done');
}

/** Returns a picture with the tag by which cameras name Adobe RGB. */
async function withAdobeRgb(picture: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const path = join(library.config.dataDir, 'adobe.jpg');
  await writeFile(path, picture);
  await tagFile(path, { 'EXIF:ColorSpace': '2' });
  return Uint8Array.from(await readFile(path));
}

/** Adds rows of texts without stored originals. */
async function addRows(count: number, makersVersion: number): Promise<void> {
  await sql`insert into files (hash, size_bytes, mime, makers_version)
    select encode(sha256(n::text::bytea), 'hex'), 1, 'text/plain', ${makersVersion} from generate_series(1, ${count}) n`.execute(
    db,
  );
}

async function queuedRenders() {
  const { rows } = await sql<{ count: number; priority: number | null }>`
    select count(*) as count, min(priority) as priority from graphile_worker.jobs
    where task_identifier = 'render'`.execute(db);
  return rows[0];
}

describe('after an upgrade', () => {
  test('stored files get the tiles, texts, pages and streams that the earlier version did not make', async () => {
    const picture = await upload(mara, await jpeg(4800, 300));
    await library.runJobs();
    const rungs = (await mediaOf(picture.id)).variants;
    const text = await upload(mara, plainText('The heron waits.\n'), {}, 'notes.txt');
    const document = await upload(mara, pdf(['An egret flies.']), {}, 'paper.pdf');
    const video = await clip({ format: 'mp4', video: { encoder: 'libx264' }, seconds: 1 });
    const film = await upload(mara, video, {}, 'film.mp4');
    // Not rendered, to save time: the first release did not do it either.
    await sql`delete from graphile_worker._private_jobs`.execute(db);
    await leaveAsBefore();
    await resumeRerender(db);
    expect(await progress()).toEqual({ state: 'running', waiting: 4, total: 4 });
    await untilDone();

    expect((await mediaOf(picture.id)).tiles).not.toBeNull();
    expect((await mediaOf(picture.id)).variants).toEqual(rungs);
    expect(await keysOf(text.id)).toContain('preview');
    expect(await keysOf(document.id)).toContain('page-1');
    expect(await keysOf(film.id)).toEqual(expect.arrayContaining(['sprites.jpg', 'hls/master.m3u8']));
    for (const [q, id] of [
      ['heron', text.id],
      ['egret', document.id],
    ] as const) {
      const { items } = await mara.ok('search', { query: { q } });
      expect(items.map((item) => (item.kind === 'asset' ? item.asset.id : item.kind))).toEqual([id]);
    }
    const { rows } = await sql`select processing_status as status, processing_error as error from assets
      where id = ${text.id}`.execute(db);
    expect(rows).toEqual([{ status: 'ready', error: null }]);
  });

  // MEDIA-53
  test('what an earlier version drew otherwise is drawn again, and browsers get it', async () => {
    const oneSecond = await clip({ format: 'mp4', video: { encoder: 'libx264' }, seconds: 1 });
    const film = await upload(mara, oneSecond, {}, 'film.mp4');
    // A box that players skip, with the name of a track of timecode.
    const box = Buffer.from('\0\0\0\x0cfreetmcd', 'latin1');
    const timed = await upload(mara, Uint8Array.from(Buffer.concat([oneSecond, box])), {}, 'timed.mp4');
    const reported = (name: string) => readFile(new URL(`../media/reported/${name}`, import.meta.url));
    const plain = await upload(mara, await jpeg(300, 200));
    const photo = await upload(mara, Uint8Array.from(await reported('img/31-motion.jpg')), {}, 'photo.jpg');
    const wide = await upload(mara, await withAdobeRgb(await jpeg(4800, 300)), {}, 'wide.jpg');
    const text = await upload(mara, plainText('東京の夜景\n'), {}, 'notes.txt');
    const drawingOf = (fill: string) =>
      Uint8Array.from(
        Buffer.from(
          `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect fill="${fill}" width="90" height="90"/></svg>`,
        ),
      );
    const drawing = await upload(mara, drawingOf('var(--none, red)'), {}, 'drawing.svg');
    const plainDrawing = await upload(mara, drawingOf('red'), {}, 'plain.svg');
    const layered = await upload(
      mara,
      await clip({ format: 'webm', video: { encoder: 'libvpx' }, seconds: 1 }),
      {},
      'film.webm',
    );
    await library.runJobs();
    const keys: readonly (readonly [asset: { id: string }, key: string, isDrawnAnew: boolean])[] = [
      [film, 'hls/360p.mp4', true],
      [film, 'preview', false],
      [timed, 'preview', true],
      [plain, 'preview', false],
      [photo, 'preview', true],
      [photo, 'motion.mp4', true],
      [wide, 'preview', true],
      [text, 'preview', true],
      [drawing, 'preview', true],
      [plainDrawing, 'preview', false],
      [layered, 'preview', true],
    ];
    const tagOf = async (id: string, key: string) => {
      const answer = await requestAs(mara, library, `/assets/${id}/variants/${key}`);
      await answer.arrayBuffer();
      return [answer.status, answer.headers.get('etag')];
    };
    const tags = () => Promise.all(keys.map(([{ id }, key]) => tagOf(id, key)));
    const before = await tags();
    expect((await mediaOf(wide.id)).tiles).not.toBeNull();
    await sql`update files set makers_version = 2`.execute(db);
    await resumeRerender(db);
    await untilDone();
    const after = await tags();
    expect(after.map(([status]) => status)).toEqual(keys.map(() => 200));
    expect(after.map((tag, at) => tag[1] !== before[at]?.[1])).toEqual(keys.map(([, , isAnew]) => isAnew));
    expect((await mediaOf(wide.id)).tiles).not.toBeNull();
    expect((await mediaOf(film.id)).transcoding).toMatchObject({ state: 'done' });
  });

  test('complete files are not rendered again', async () => {
    const { id } = await upload(mara, await jpeg(300, 200));
    await upload(mara, unknownBytes());
    await library.runJobs();
    await leaveAsBefore();
    const before = await mediaOf(id);
    await resumeRerender(db);
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'done', waiting: 0, total: 2 });
    expect(await queuedRenders()).toEqual({ count: 0, priority: null });
    expect(await mediaOf(id)).toEqual(before);
  });

  // MEDIA-29
  test('a file of unknown type is recognised again; one that cannot be rendered is tried once and stays ready', async () => {
    const unknown = await upload(mara, plainText('Once unknown.\n'), {}, 'notes.txt');
    const broken = await upload(mara, plainText('Away.\n'), {}, 'notes.txt');
    await library.runJobs();
    await leaveAsBefore();
    await setType(unknown, 'application/octet-stream');
    await setType(broken, 'application/pdf');
    await resumeRerender(db);
    await untilDone();
    expect(await mediaOf(unknown.id)).toMatchObject({ mime: 'text/plain' });
    expect(await keysOf(unknown.id)).toContain('preview');
    const ready = { processing_status: 'ready' };
    expect(await mara.ok('getAsset', { params: { id: broken.id } })).toMatchObject(ready);
  });
});

describe('the background job', () => {
  // MEDIA-29
  test('enters the queue fifty files at a time, with the lowest priority', async () => {
    await addRows(120, 0);
    await pause(false);
    // Only the first step; the files it enqueues wait for a later run.
    await sql`update graphile_worker._private_jobs set priority = -1`.execute(db);
    await library.database.pool.query(`
      create function hold() returns trigger language plpgsql as $$
      begin new.run_at := now() + interval '1 day'; return new; end $$;
      create trigger hold before insert on graphile_worker._private_jobs for each row execute function hold()`);
    await library.runJobs();
    expect(await queuedRenders()).toEqual({ count: 50, priority: 10_000 });
    await sql`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs
      where task_identifier = 'render-again'), run_at => now())`.execute(db);
    await library.runJobs();
    expect(await queuedRenders()).toMatchObject({ count: 50 });
    expect((await progress()).waiting).toBe(120);
    await sql`drop function hold cascade`.execute(db);
  });

  test('does not start while it is paused, is listed among the jobs, and continues when it is resumed', async () => {
    const { id } = await upload(mara, plainText('A text.\n'), {}, 'notes.txt');
    await library.runJobs();
    await leaveAsBefore();
    await addRows(4, MAKERS_VERSION);
    await pause(true);
    await resumeRerender(db);
    const { items } = await admin.ok('listJobs', { query: { name: 'render-again' } });
    expect(items).toMatchObject([{ progress: { part: 0.8, done: 4, total: 5, step: null }, file: null }]);
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'paused', waiting: 1, total: 5 });
    expect(await keysOf(id)).toEqual([]);
    await pause(false);
    await untilDone();
    expect(await keysOf(id)).toContain('preview');
  });

  test('finds its files with an index', async () => {
    await addRows(5_000, MAKERS_VERSION);
    await sql`update files set makers_version = 0 where hash like '00%'`.execute(db);
    await sql`analyze files`.execute(db);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${staleFiles(1)}`.execute(db);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('files_by_makers');
    expect(plan).not.toMatch(/Seq Scan on (?:files|_private_jobs)/);
  });
});

describe('PUT /admin/system/previews', () => {
  const configure = (variants: readonly PreviewRung[]) =>
    admin.ok('setPreviewSettings', { body: { variants: [...variants] } });

  /** Restores the default ladder. */
  beforeEach(async () => {
    await configure(defaults);
    await sql`delete from graphile_worker._private_jobs`.execute(db);
    await expect.poll(async () => (await mara.ok('getPreviews')).variants).toHaveLength(defaults.length);
  });

  test('accepts sizes as `GET /previews` lists them, with a quality of 80', async () => {
    const { variants } = await mara.ok('getPreviews');
    const { status, text } = await admin.send('/admin/system/previews', {
      method: 'PUT',
      body: { variants },
    });
    expect(status).toBe(200);
    const written: PreviewRung[] = JSON.parse(text).variants;
    expect(written).toEqual(variants.map((rung) => ({ ...rung, quality: 80 })));
  });

  // MEDIA-23, MEDIA-28
  test('renders new uploads in the configured sizes and formats, in every process', async () => {
    const second = await openSecond(library);
    try {
      await configure(small);
      for (const visitor of [mara, visit(second.address, {}, mara.cookie())])
        await expect
          .poll(async () => (await visitor.ok('getPreviews')).variants.map(({ key }) => key))
          .toEqual(['col', 'preview', 'tiny']);
    } finally {
      await second.close();
    }
    const { id } = await upload(mara, await jpeg(600, 400));
    await library.runJobs();
    const available = { preview_available: true, ladder_available: true };
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject(available);
    expect((await keysOf(id)).sort()).toEqual(['col', 'preview', 'tiny']);
    expect(await pictureAt(id, 'preview')).toMatchObject({ type: 'image/jpeg', width: 500, height: 333 });
    expect(await pictureAt(id, 'tiny')).toMatchObject({ type: 'image/avif', width: 40, height: 27 });
  });

  // MEDIA-23
  test('renders stored files again, and deletes renditions that are no longer configured', async () => {
    const { id } = await upload(mara, await jpeg(600, 400));
    const lost = await upload(mara, await jpeg(90, 60));
    await library.runJobs();
    await setType(lost, 'application/x-unknown');
    const before = await pictureAt(id, 'preview');
    await configure(small);
    expect(await progress()).toEqual({ state: 'running', waiting: 2, total: 2 });
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'done', waiting: 0, total: 2 });
    expect((await keysOf(id)).sort()).toEqual(['col', 'preview', 'tiny']);
    const after = await pictureAt(id, 'preview');
    expect(after).toMatchObject({ type: 'image/jpeg', width: 500 });
    expect(after.etag).not.toBe(before.etag);
    // A file that can no longer be rendered keeps its previews.
    expect((await keysOf(lost.id)).sort()).toEqual(['col', 'hires', 'preview', 'screen']);
  });

  // MEDIA-23
  test('can be paused and resumed without affecting new uploads', async () => {
    await upload(mara, await jpeg(90, 60));
    await library.runJobs();
    await pause(true);
    await configure(small);
    const { id } = await upload(mara, await jpeg(80, 60));
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'paused', waiting: 1, total: 2 });
    expect((await keysOf(id)).sort()).toEqual(['col', 'preview', 'tiny']);
    await pause(false);
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'done', waiting: 0, total: 2 });
  });

  // MEDIA-23
  test('refuses keys that are paths, repeated, reserved or missing', async () => {
    for (const [name, variants] of Object.entries({
      'a key that is a path': [...small, rung('../col', 10)],
      'a duplicate key': [...small, rung('tiny', 20)],
      'a reserved key': [...small, rung('tiles', 20)],
      'a ladder without the key that avatars use': small.slice(1),
      'a ladder without the key that pages of posts use': [rung('col', 100)],
    }))
      expect([name, await admin.status('PUT', '/admin/system/previews', { variants })]).toEqual([name, 400]);
    expect((await admin.ok('getPreviewSettings')).variants).toHaveLength(4);
  });
});
