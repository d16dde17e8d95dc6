import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { uses } from '../../src/content/live-photos/lone-film.ts';
import type { Bytes } from '../media/binary.ts';
import { clip } from '../media/clips.ts';
import { ofPhone } from '../media/phone-photo.ts';
import { stopTagging, tagFile } from '../media/tagged-files.ts';
import { requestAs } from '../support/client.ts';
import { type Account, formOf, openLibrary, upload } from '../support/library.ts';
import { jpeg, sha256 } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const library = await openLibrary();
const [mara, other] = await library.joinAll('mara', 'other');
const folder = await temporaryDirectory();
const filmOf = (seconds: number) => clip({ format: 'mov', video: { encoder: 'libx264' }, seconds });
const [film, otherFilm, longFilm] = await Promise.all([filmOf(1), filmOf(2), filmOf(6)]);
afterAll(stopTagging);

/** Returns a film of six seconds with the identifier of an iPhone. */
async function filmWith(identifier: string): Promise<Bytes> {
  const path = join(folder, `${identifier}.mov`);
  await writeFile(path, longFilm);
  await tagFile(path, { 'Keys:ContentIdentifier': identifier });
  return Uint8Array.from(await readFile(path));
}

/** Uploads a film, and returns the asset of the answer. */
const sendFilm = (account: Account, name: string, bytes: Bytes) =>
  account.ok('createAsset', { body: formOf(bytes, {}, name) });

let seed = 0;

async function sendPhoto(name: string, bytes?: Bytes) {
  seed += 1;
  return upload(mara, bytes ?? (await jpeg(64, 48, { seed })), {}, name);
}

// UPLOAD-16, MEDIA-65
test('a film with the name of a photo becomes the film of its asset, once', async () => {
  const photo = await sendPhoto('IMG_1.JPG');
  const hash = sha256(film);
  expect(await sendFilm(mara, 'img_1.MOV', film)).toMatchObject({
    id: photo.id,
    film: { hash },
    title: 'IMG_1',
  });
  expect(await sendFilm(mara, 'IMG_1.MOV', film)).toMatchObject({ id: photo.id, film: { hash } });
  const { items } = await mara.ok('listAssets', {});
  expect(items.map(({ id }) => id)).toEqual([photo.id]);
  expect((await mara.ok('getOwnQuota', {})).used_bytes).toBeGreaterThan(film.length);
});

// UPLOAD-16, UPLOAD-5
test('a finished resumable upload of a film becomes that of its photo, also when it is used again', async () => {
  const photo = await sendPhoto('IMG_2.JPG');
  const made = await requestAs(mara, library, '/uploads', {
    method: 'POST',
    headers: {
      'tus-resumable': '1.0.0',
      'upload-length': String(film.length),
      'upload-metadata': `filename ${Buffer.from('IMG_2.MOV').toString('base64')}`,
      'content-type': 'application/offset+octet-stream',
    },
    body: film,
  });
  const upload_id = made.headers.get('location')?.split('/').at(-1) ?? '';
  expect(await mara.ok('createAsset', { body: { upload_id } })).toMatchObject({ id: photo.id });
  expect(await mara.ok('createAsset', { body: { upload_id } })).toMatchObject({ id: photo.id });
});

// UPLOAD-16
test('a film belongs to the photo with its content identifier, however old it is', async () => {
  const [ofOther, ofFilm] = [
    await sendPhoto('IMG_3.JPG', await ofPhone('AAAA', 1)),
    await sendPhoto('IMG_3.JPG', await ofPhone('BBBB', 2)),
  ];
  await sql`update assets set created_at = now() - interval '1 year' where id = ${ofFilm.id}`.execute(
    library.deps.db,
  );
  expect((await sendFilm(mara, 'IMG_3.MOV', await filmWith('BBBB'))).id).toBe(ofFilm.id);
  const alone = await sendFilm(mara, 'IMG_3.MOV', await filmWith('CCCC'));
  expect([ofOther.id, ofFilm.id]).not.toContain(alone.id);
});

// UPLOAD-16, UPLOAD-5
test('a photo takes the place of its film that arrived before it, under the same id', async () => {
  const bytes = film ?? new Uint8Array();
  const made = await requestAs(mara, library, '/uploads', {
    method: 'POST',
    headers: {
      'tus-resumable': '1.0.0',
      'upload-length': String(bytes.length),
      'upload-metadata': `filename ${Buffer.from('IMG_4.MOV').toString('base64')}`,
      'content-type': 'application/offset+octet-stream',
    },
    body: bytes,
  });
  const upload_id = made.headers.get('location')?.split('/').at(-1) ?? '';
  const alone = await mara.ok('createAsset', { body: { upload_id } });
  const taken = await mara.ok('createAsset', {
    body: formOf(await jpeg(64, 48, { seed: 400 }), { description: 'The quay' }, 'img_4.jpg'),
  });
  expect(taken.id).toBe(alone.id);
  expect(await mara.ok('getAsset', { params: { id: alone.id } })).toMatchObject({
    asset_type: 1,
    title: 'img_4',
    description: 'The quay',
    film: { hash: sha256(bytes) },
  });
  expect(await mara.ok('createAsset', { body: { upload_id } })).toMatchObject({ id: alone.id });
  const { items } = await mara.ok('listAssets', { query: { q: 'img_4' } });
  expect(items.map(({ id }) => id)).toEqual([alone.id]);
  await library.runJobs();
  expect(await mara.ok('getAsset', { params: { id: alone.id } })).toMatchObject({
    processing_status: 'ready',
    film: { hash: sha256(bytes) },
  });
});

// UPLOAD-16
test.each<[string, (id: string) => Promise<unknown>]>([
  ['is in a post', (id) => mara.ok('createPost', { body: { title: 'Quay', members: [{ asset_id: id }] } })],
  [
    'has a description',
    (id) => mara.ok('updateAsset', { params: { id }, body: { description: 'The quay' } }),
  ],
  [
    'is for other readers',
    (id) => sql`update assets set sensitivity = 'restricted' where id = ${id}`.execute(library.deps.db),
  ],
  [
    'is older than a day and has no identifier',
    (id) =>
      sql`update assets set created_at = now() - interval '2 days' where id = ${id}`.execute(library.deps.db),
  ],
])('a film that %s stays when its photo arrives', async (reason, use) => {
  const name = reason.replaceAll(' ', '-');
  const alone = await upload(mara, film ?? new Uint8Array(), {}, `${name}.mov`);
  await use(alone.id);
  const photo = await sendPhoto(`${name}.jpg`);
  expect(photo.id).not.toBe(alone.id);
  expect(photo.film).toBeUndefined();
  expect(await mara.ok('getAsset', { params: { id: alone.id } })).toMatchObject({ asset_type: 3 });
});

// UPLOAD-16
test('knows every table that refers to assets', async () => {
  const { rows } = await sql<{ reference: string }>`
    select c.conrelid::regclass || '.' || a.attname as reference
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
    where c.contype = 'f' and c.confrelid = 'assets'::regclass`.execute(library.deps.db);
  const derived = [
    'asset_documents.asset_id',
    'asset_field_values.asset_id',
    'asset_gated_documents.asset_id',
    'asset_tags.asset_id',
    'post_gated_documents.asset_id',
    'root_files.asset_id',
    'subtitles.asset_id',
    'uploads.asset_id',
  ];
  expect(rows.map(({ reference }) => reference).toSorted()).toEqual(
    [...uses.map(([table, column]) => `${table}.${column}`), ...derived].toSorted(),
  );
});

// UPLOAD-16
test.each<[string, (name: string) => Promise<unknown>]>([
  [
    'is long and has no identifier',
    async (name) => {
      await sendPhoto(`${name}.jpg`);
      return sendFilm(mara, `${name}.mov`, longFilm);
    },
  ],
  [
    'has the name of a photo of another account',
    async (name) => {
      await sendPhoto(`${name}.jpg`);
      return sendFilm(other, `${name}.mov`, film);
    },
  ],
  [
    'has the name of an older photo without an identifier',
    async (name) => {
      const { id } = await sendPhoto(`${name}.jpg`);
      await sql`update assets set created_at = now() - interval '2 days' where id = ${id}`.execute(
        library.deps.db,
      );
      return sendFilm(mara, `${name}.mov`, film);
    },
  ],
  [
    'has the name of a photo with another film',
    async (name) => {
      await sendPhoto(`${name}.jpg`);
      await sendFilm(mara, `${name}.mov`, film);
      return sendFilm(mara, `${name}.mov`, otherFilm);
    },
  ],
  [
    'has the name of a photo in the trash',
    async (name) => {
      const { id } = await sendPhoto(`${name}.jpg`);
      await mara.ok('deleteAsset', { params: { id } });
      return sendFilm(mara, `${name}.mov`, film);
    },
  ],
])('a film that %s is a file of its own', async (reason, send) => {
  expect(await send(reason.replaceAll(' ', '-'))).toMatchObject({ asset_type: 3 });
});
