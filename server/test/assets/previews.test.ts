import type { PreviewRung } from '@vitrine/contract/previews';
import { sql } from 'kysely';
import sharp from 'sharp';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { arrive } from '../posts/people.ts';
import { visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { openSecond } from '../support/second.ts';

const rung = (key: string, max_dim: number, format: PreviewRung['format'] = 'webp', quality = 80) =>
  ({ key, fit: key === 'col' ? 'cover' : 'contain', max_dim, format, quality }) as const;

const small = [rung('col', 100), rung('preview', 500, 'jpeg', 60), rung('tiny', 40, 'avif', 50)];

let library: Library;
let admin: Account;
let mara: Account;
let defaults: readonly PreviewRung[];

beforeAll(async () => {
  library = await openLibrary();
  admin = await arrive(library, 'admin', 'admin');
  mara = await arrive(library, 'mara');
  defaults = (await admin.ok('getPreviewSettings')).variants;
});

/** Removes all files and jobs and restores the default ladder. */
beforeEach(async () => {
  const { db } = library.deps;
  await admin.ok('pausePreviewRendering', { body: { paused: false } });
  await configure(defaults);
  await db.deleteFrom('assets').execute();
  await db.deleteFrom('files').execute();
  await sql`delete from graphile_worker._private_jobs`.execute(db);
  await expect.poll(async () => (await mara.ok('getPreviews')).variants).toHaveLength(defaults.length);
});

const configure = (variants: readonly PreviewRung[]) =>
  admin.ok('setPreviewSettings', { body: { variants: [...variants] } });
const progress = async () => (await admin.ok('getPreviewSettings')).rendering;

async function keysOf(id: string) {
  const { variants } = await mara.ok('getAssetMedia', { params: { id } });
  return variants.map(({ key }) => key).sort();
}

async function pictureAt(id: string, key: string) {
  const answer = await fetch(`${library.address}/api/v1/assets/${id}/variants/${key}`, {
    headers: { cookie: `user=${mara.cookie()}` },
  });
  const { width, height } = await sharp(await answer.bytes()).metadata();
  return { type: answer.headers.get('content-type'), etag: answer.headers.get('etag'), width, height };
}

describe('PUT /admin/system/previews', () => {
  // MEDIA-23, MEDIA-28
  test('renders new uploads in the configured sizes and formats', async () => {
    await configure(small);
    await expect
      .poll(async () => (await mara.ok('getPreviews')).variants.map(({ key }) => key))
      .toEqual(['col', 'preview', 'tiny']);
    const { id } = await upload(mara, await jpeg(900, 600));
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject({
      preview_available: true,
      ladder_available: true,
    });
    expect(await keysOf(id)).toEqual(['col', 'preview', 'tiny']);
    expect(await pictureAt(id, 'preview')).toMatchObject({ type: 'image/jpeg', width: 500, height: 333 });
    expect(await pictureAt(id, 'tiny')).toMatchObject({ type: 'image/avif', width: 40, height: 27 });
  });

  // MEDIA-28
  test('applies to every process', async () => {
    const second = await openSecond(library);
    try {
      await configure(small);
      const there = visit(second.address, {}, mara.cookie());
      await expect.poll(async () => (await there.ok('getPreviews')).variants).toHaveLength(3);
    } finally {
      await second.close();
    }
  });

  // MEDIA-23
  test('renders stored files again, and deletes renditions that are no longer configured', async () => {
    const { id } = await upload(mara, await jpeg(900, 600));
    await library.runJobs();
    const before = await pictureAt(id, 'preview');
    await configure(small);
    expect(await progress()).toEqual({ state: 'running', waiting: 1, total: 1 });
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'done', waiting: 0, total: 1 });
    expect(await keysOf(id)).toEqual(['col', 'preview', 'tiny']);
    const after = await pictureAt(id, 'preview');
    expect(after).toMatchObject({ type: 'image/jpeg', width: 500 });
    expect(after.etag).not.toBe(before.etag);
  });

  // MEDIA-23
  test('can be paused and resumed without affecting new uploads', async () => {
    await upload(mara, await jpeg(90, 60));
    await library.runJobs();
    await admin.ok('pausePreviewRendering', { body: { paused: true } });
    await configure(small);
    const { id } = await upload(mara, await jpeg(80, 60));
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'paused', waiting: 1, total: 2 });
    expect(await keysOf(id)).toEqual(['col', 'preview', 'tiny']);
    await admin.ok('pausePreviewRendering', { body: { paused: false } });
    await library.runJobs();
    expect(await progress()).toEqual({ state: 'done', waiting: 0, total: 2 });
  });

  test('keeps the previews of a file that can no longer be rendered', async () => {
    const { id } = await upload(mara, await jpeg(90, 60));
    await library.runJobs();
    await library.deps.db.updateTable('files').set({ mime: 'application/x-unknown' }).execute();
    await configure(small);
    await library.runJobs();
    expect((await progress()).state).toBe('done');
    expect(await keysOf(id)).toEqual(['col', 'hires', 'preview', 'screen']);
  });

  // MEDIA-23
  test.each([
    ['a key that is a path', [...small, rung('../col', 10)]],
    ['a duplicate key', [...small, rung('tiny', 20)]],
    ['a reserved key', [...small, rung('tiles', 20)]],
    ['a ladder without the key that avatars use', small.slice(1)],
    ['a ladder without the key that pages of posts use', [rung('col', 100)]],
  ])('refuses %s', async (_, variants) => {
    const answer = await admin.send('/admin/system/previews', { method: 'PUT', body: { variants } });
    expect(answer.status).toBe(400);
    expect((await admin.ok('getPreviewSettings')).variants).toHaveLength(4);
  });
});
