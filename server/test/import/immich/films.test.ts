import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callerOf } from '../../../src/access/caller-of.ts';
import { purge, releaseBytes } from '../../../src/content/trash/jobs/purge.ts';
import { writeExport } from '../../../src/operate/export/library.ts';
import { clip } from '../../media/clips.ts';
import { openLibrary } from '../../support/library.ts';
import { jpeg } from '../../support/pictures.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { openFakeImmich } from './immich-server.ts';
import { importAndReport, importedAsset } from './run.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = library.anonymous();
await root.ok('completeSetup', { body: { username: 'root', password: 'correct horse battery' } });
const other = await library.join('other');
const immich = await openFakeImmich();
const film = await clip({
  format: 'mov',
  video: { encoder: 'libx264' },
  audio: { encoder: 'aac' },
  seconds: 2,
});
const movie = immich.addAsset(Buffer.from(film), { name: 'IMG_1.MOV', visibility: 'hidden' });
const photo = immich.addAsset(Buffer.from(await jpeg(64, 48)), {
  name: 'IMG_1.HEIC',
  livePhotoVideoId: movie.id,
});
immich.state.interfere = (request, response) => {
  if (request.url?.includes(movie.id) !== true) return false;
  response.writeHead(404).end();
  return true;
};
const first = await importAndReport(library, immich.url);
immich.state.interfere = null;
const second = await importAndReport(library, immich.url);
const third = await importAndReport(library, immich.url);
await library.runJobs();
const [asset] = (await root.ok('listAssets')).items;
const id = asset?.id ?? '';

const shown = () => importedAsset(library, root, photo.id);

// IMPORT-12
test('imports a live photo as one asset with its film, and tries a film again that could not be read', async () => {
  expect(first.code).toBe(3);
  expect(first.report.left_out).toEqual([
    { kind: 'film', id: photo.id, reason: 'Immich answers with status 404' },
  ]);
  expect(second.report.counts).toEqual({ resources: 1, files: 1, films: 1 });
  expect(second.report.hashes).toMatchObject({ compared: 1, equal: 1 });
  expect(third.report.counts).toEqual({ resources: 1 });
  expect((await root.ok('listAssets')).items).toHaveLength(1);
  expect((await shown()).film?.hash).toMatch(/^[0-9a-f]{64}$/);
});

// MEDIA-65
test('plays the film for those who may get the photo', async () => {
  const { kind, facts, variants, transcoding } = await root.ok('getAssetMedia', { params: { id } });
  expect([kind, facts.motion, transcoding?.state]).toEqual(['image', true, 'done']);
  const keys = variants.map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining(['col', 'film.mp4', 'hls/master.m3u8']));
  const sent = await root.send(`/assets/${id}/variants/film.mp4`);
  expect([sent.status, sent.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  expect((await root.send(`/assets/${id}/variants/hls/master.m3u8`)).status).toBe(200);
  expect((await root.send(`/assets/${id}/variants/col`)).headers.get('content-type')).toMatch(/^image/);
  for (const path of ['variants/film.mp4', 'variants/hls/master.m3u8'])
    expect(await other.status('GET', `/assets/${id}/${path}`)).toBe(404);
});

// MEDIA-65
test('plays the film through a link, unless it has a watermark', async () => {
  const open = async (body: object) => {
    const { url } = await root.ok('createAssetLink', { params: { id }, body });
    return `/links/${url.slice(-32)}/assets/${id}`;
  };
  const visitor = library.anonymous();
  const plain = await open({});
  expect(await visitor.status('GET', `${plain}/variants/film.mp4`)).toBe(200);
  expect((await visitor.send(`${plain}/media`)).text).toContain('film.mp4');
  const marked = await open({ watermark: 'for Zed' });
  expect(await visitor.status('GET', `${marked}/variants/film.mp4`)).toBe(404);
  expect((await visitor.send(`${marked}/media`)).text).not.toContain('film.mp4');
});

// MEDIA-65, EXPORT-1
test('exports the film beside the photo', async () => {
  const directory = join(await temporaryDirectory(), 'export');
  await writeExport(
    db,
    library.deps.storage,
    directory,
    await callerOf(db, (await shown()).owner_user_ref ?? 0),
  );
  const files = await readdir(directory, { recursive: true });
  expect(files.filter((name) => / film\.mov$/.test(name))).toHaveLength(1);
});

// MEDIA-65
test('counts the film towards the quota, and removes it with the photo', async () => {
  const { used_bytes } = await root.ok('getOwnQuota');
  expect(used_bytes).toBe(photo.bytes.length + film.length);
  const hash = (await shown()).film?.hash ?? '';
  await releaseBytes(library.deps, hash);
  expect(await db.selectFrom('files').select('hash').where('hash', '=', hash).execute()).toHaveLength(1);
  await root.ok('deleteAsset', { params: { id }, body: {} });
  await sql`update assets set deleted_at = now() - interval '400 days' where id = ${id}`.execute(db);
  await purge(db);
  await library.runJobs();
  expect(await db.selectFrom('files').select('hash').where('hash', '=', hash).execute()).toEqual([]);
});
