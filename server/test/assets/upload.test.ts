import { readdir, readFile } from 'node:fs/promises';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { asForm, headOf, openWire, partHead, sessionOf } from '../platform/wire.ts';
import { openLibrary, upload } from '../support/library.ts';
import { emptyFile, jpeg, plainFile, plainText, sha256, truncatedJpeg } from '../support/pictures.ts';

const library = await openLibrary({ VITRINE_MAX_FILE_BYTES: String(3 * 1024 * 1024) });
const [mara, other] = await library.joinAll('mara', 'other');
const { db, storage } = library.deps;

const countAssets = async () => (await db.selectFrom('assets').select('id').execute()).length;
const originals = () => Array.fromAsync(storage.list('originals'), ({ key }) => key);

type Part = [name: string, value: string | Blob, fileName?: string];

function form(...parts: Part[]): FormData {
  const made = new FormData();
  for (const [name, value, file] of parts) {
    if (typeof value === 'string') made.append(name, value);
    else made.append(name, value, file ?? 'a.jpg');
  }
  return made;
}

// ASSET-14, ASSET-25
describe('POST /assets stores a file and returns its asset', () => {
  // UPLOAD-9
  test('accepts fields before and after the file, and repeated tags', async () => {
    const bytes = await jpeg(64, 48, { seed: 7 });
    const body = form(
      ['title', 'Ridge'],
      ['tags', 'one'],
      ['file', new Blob([bytes]), 'ridge.jpg'],
      ['tags', 'two'],
      ['description', 'Four mornings'],
      ['ai_provenance', 'none'],
      ['metadata', '{"film":"HP5"}'],
      ['sensitivity', 'restricted'],
    );
    const asset = await mara.ok('createAsset', { body });
    expect(asset).toMatchObject({
      restricted: false,
      title: 'Ridge',
      description: 'Four mornings',
      asset_type: 1,
      owner_user_ref: mara.ref,
      owner: { ref: mara.ref, username: 'mara', display_name: 'mara', avatar_url: null },
      status: 'active',
      sensitivity: 'restricted',
      mature: false,
      ai_provenance: 'none',
      file_hash: sha256(bytes),
      file_extension: 'jpg',
      file_size_bytes: bytes.length,
      tags: ['one', 'two'],
      metadata: { film: 'HP5' },
      processing_status: 'pending',
      preview_available: false,
      ladder_available: false,
      anonymously_visible: false,
      thumbhash: null,
      pixel_width: null,
      subtitle_tracks: [],
    });
    expect(asset.tag_details[0]).toMatchObject({ value: 'one', source: 'manual', confidence: null });
    expect(asset).not.toHaveProperty('team_id');
  });

  // ASSET-16
  test('accepts tags as one JSON array, and uses the file name as default title', async () => {
    const asset = await upload(mara, plainFile(), { tags: '["a","b","a"]' }, 'IMG 0042.final.jpg');
    expect([asset.tags, asset.title]).toEqual([['a', 'b'], 'IMG 0042.final']);
  });

  // FILE-7, MEDIA-4
  test('stores the same bytes once, and an asset of rendered bytes is ready immediately', async () => {
    const bytes = await jpeg(80, 50, { seed: 99 });
    const [first, second] = await Promise.all([upload(mara, bytes), upload(other, bytes)]);
    expect(first.file_hash).toBe(second.file_hash);
    await library.runJobs();
    const third = await upload(other, bytes);
    expect(third).toMatchObject({ processing_status: 'ready', ladder_available: true, pixel_width: 80 });
    expect((await originals()).filter((key) => key.endsWith(sha256(bytes)))).toHaveLength(1);
  });

  // ASSET-15, HTTP-6
  test('accepts the hash of bytes that the caller uploaded before, not of those of others', async () => {
    const file_hash = (await upload(mara, plainFile('own'))).file_hash ?? '';
    // A nullable key may be sent as null.
    const body = { file_hash, title: 'Again', ai_provenance: null, team_id: null };
    const again = await mara.ok('createAsset', { body });
    expect(again).toMatchObject({ file_hash, title: 'Again', ai_provenance: null });
    expect(again).not.toHaveProperty('team_id');
    expect((await other.refused('createAsset', { body: { file_hash } })).status).toBe(404);
  });
});

describe('a file that cannot be rendered', () => {
  // MEDIA-1, MEDIA-5
  test('is stored as a plain file if it is empty or of another type than its name says', async () => {
    const empty = await upload(mara, emptyFile(), {}, 'nothing.jpg');
    expect(empty).toMatchObject({ file_size_bytes: 0, processing_status: 'ready', preview_available: false });
    expect(await mara.status('GET', `/assets/${empty.id}/file`)).toBe(200);
    const text = await upload(mara, plainText(), {}, 'picture.jpg');
    expect(text).toMatchObject({ asset_type: 7, file_extension: 'txt' });
  });

  // MEDIA-6, MEDIA-33
  test('is ready and readable by others if decoders only remark on it', async () => {
    const bytes = await jpeg(40, 30);
    const { id } = await upload(mara, bytes.slice(0, -2), { sensitivity: 'public' });
    await library.runJobs();
    const shown = { processing_status: 'ready', preview_available: true, anonymously_visible: true };
    expect(await other.ok('getAsset', { params: { id } })).toMatchObject(shown);
    expect(await other.status('GET', `/assets/${id}/file`)).toBe(200);
  });

  // MEDIA-6
  test('fails if it is damaged, is visible only to its owner, and can be processed again', async () => {
    const { id } = await upload(mara, await truncatedJpeg());
    const failed = { processing_status: 'failed', preview_available: false };
    const reprocess = `/assets/${id}/reprocess`;
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject(failed);
    expect((await other.refused('getAsset', { params: { id } })).status).toBe(404);
    expect(await other.status('POST', reprocess)).toBe(404);
    const again = await mara.ok('reprocessAsset', { params: { id } });
    expect(again.processing_status).toBe('pending');
    expect(await other.status('POST', reprocess)).toBe(403);
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id } })).toMatchObject(failed);
  });
});

// UPLOAD-11
test('a file keeps its name, and is downloaded under a safe one', async () => {
  for (const [name, kept] of [
    ['../../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['a"b;c\'.jpg', 'a"b;c\'.jpg'],
    ['日本語 ünïcödé.jpg', '日本語 ünïcödé.jpg'],
    ['photo\u202egpj.exe', 'photogpj.exe'],
    ['\u2066a\u2069\u202d.jpg', 'a.jpg'],
    ['עברית\u200f.jpg', 'עברית\u200f.jpg'],
    [`${'ß'.repeat(5000)}.jpg`, `${'ß'.repeat(251)}.jpg`],
  ] as const) {
    const { id } = await upload(mara, plainFile(), {}, name);
    const assets = db.selectFrom('assets').select('file_name').where('id', '=', id);
    expect(await assets.execute()).toEqual([{ file_name: kept }]);
    const sent = await mara.send(`/assets/${id}/file`);
    const header = sent.headers.get('content-disposition') ?? '';
    const safe = decodeURIComponent(/filename\*=UTF-8''(\S*)$/.exec(header)?.[1] ?? '');
    expect([sent.status, safe]).toEqual([200, kept]);
  }
});

// UPLOAD-11
test.each([
  ['.gitignore', '.gitignore'],
  ['.env.local', '.env'],
  ['holiday.jpg', 'holiday'],
  ['photo\u202egpj.exe', 'photogpj'],
])('a file named %j has the title %j', async (name, title) => {
  const { id } = await upload(mara, plainFile(), {}, name);
  const assets = db.selectFrom('assets').select('title').where('id', '=', id);
  expect(await assets.execute()).toEqual([{ title }]);
});

// UPLOAD-15
test('names and titles that reverse the text after them are shown without that, also those of earlier versions', async () => {
  const reversed = 'photo\u202egpj.exe';
  const asset = await upload(mara, plainFile(), { title: reversed });
  const params = { id: asset.id };
  const post = await mara.ok('createPost', {
    body: { title: `\u2066${reversed}`, members: [{ asset_id: asset.id }] },
  });
  const collection = await mara.ok('createCollection', { body: { name: reversed } });
  expect([asset.title, post.title, collection.name]).toEqual(Array(3).fill('photogpj.exe'));
  expect((await mara.ok('createCollection', { body: { name: '\u202e' } })).name).toBe('-');
  expect(await mara.ok('updateAsset', { params, body: { title: reversed } })).toMatchObject({
    title: 'photogpj.exe',
  });

  // As an earlier version stored them.
  await sql`alter table assets disable trigger assets_directions`.execute(db);
  await sql`update assets set title = ${reversed}, file_name = ${reversed} where id = ${asset.id}`.execute(
    db,
  );
  expect(await mara.ok('getAsset', { params })).toMatchObject({ title: reversed });
  await sql`alter table assets enable trigger assets_directions`.execute(db);
  const migration = new URL('../../migrations/0082_direction_of_names.sql', import.meta.url);
  await library.database.pool.query(await readFile(migration, 'utf8'));
  expect(await mara.ok('getAsset', { params })).toMatchObject({ title: 'photogpj.exe' });
  expect(await mara.ok('getAssetMedia', { params })).toMatchObject({ file_name: 'photogpj.exe' });
});

describe('an invalid upload is refused and leaves nothing behind', () => {
  const file: Part = ['file', new Blob([plainFile('refused')])];
  const refused = async (...parts: Part[]) => mara.refused('createAsset', { body: form(...parts) });

  beforeEach(async () => {
    const before = [await countAssets(), (await originals()).length];
    return async () => {
      expect([await countAssets(), (await originals()).length]).toEqual(before);
      expect(await readdir(storage.incomingDir)).toEqual([]);
    };
  });

  // UPLOAD-9
  test('an unknown field, which the error names', async () => {
    const refusal = { status: 400, error: 'unknown property colour' };
    expect(await refused(['colour', 'red'], file)).toEqual(refusal);
  });

  // ASSET-17, ASSET-18
  test('an invalid value, a team of others, and a mature rating if the library does not allow it', {
    tags: ['disk'],
  }, async () => {
    const forbidden = { key: 'mature_allowed', value: 'false' };
    await db.insertInto('settings').values(forbidden).execute();
    for (const [name, value, due] of [
      ['status', 'gone', 400],
      ['mature', 'perhaps', 400],
      ['mature', 'true', 400],
      ['asset_type', '1e3', 400],
      ['asset_type', '4711', 400],
      ['metadata', '[1', 400],
      ['metadata', '"text"', 400],
      ['tags', '', 400],
      ['title', 'x'.repeat(501), 400],
      ['title', 'nul\0byte', 400],
      ['team_id', 'no-uuid', 400],
      ['team_id', crypto.randomUUID(), 404],
    ] as const)
      expect([name, value, (await refused(file, [name, value])).status]).toEqual([name, value, due]);
    await db.deleteFrom('settings').where('key', '=', 'mature_allowed').execute();
  });

  // UPLOAD-9
  test('51 tags, a repeated field, no file, two files, an unknown part, or a truncated form', async () => {
    const title: Part = ['title', 'a'];
    const many = Array.from({ length: 51 }, (_, i): Part => ['tags', `t${i}`]);
    const unknown: Part = ['picture', file[1]];
    for (const parts of [[...many, file], [title, title, file], [title], [file, file], [unknown]])
      expect((await refused(...parts)).status).toBe(400);
    const body = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await mara.send('/assets', { method: 'POST', body, headers })).status).toBe(400);
  });

  // UPLOAD-8
  test('a file over the limit, with 413', async () => {
    const big = new Blob([new Uint8Array(3 * 1024 * 1024 + 1)]);
    expect((await refused(['file', big])).status).toBe(413);
  });

  // ASSET-14
  test('a caller who may not upload', async () => {
    const viewer = await library.join('viewer', 'viewer');
    expect((await viewer.refused('createAsset', { body: form(file) })).status).toBe(403);
  });
});

// UPLOAD-10
test('an interrupted upload leaves no row, and no file after the sweep', async () => {
  const rows = await countAssets();
  const wire = await openWire(library);
  const headers = { ...asForm, ...sessionOf(mara) };
  await wire.send(headOf('POST', `${basePath}/assets`, 2_000_000, headers) + partHead);
  await wire.send(Buffer.alloc(500_000, 7));
  const incoming = () => readdir(storage.incomingDir);
  await expect.poll(incoming).toHaveLength(1);
  wire.close();
  const afterSweep = async () => {
    await sweep(library.deps, Date.now() + 60_000, 0);
    return incoming();
  };
  await expect.poll(afterSweep).toEqual([]);
  expect(await countAssets()).toBe(rows);
});

// FILE-8
test('the sweep of stored files removes only originals and renditions that no row refers to', async () => {
  const asset = await upload(mara, await jpeg(20, 20, { seed: 31 }));
  const orphan = await upload(mara, await jpeg(21, 20, { seed: 32 }));
  await library.runJobs();
  const hash = orphan.file_hash ?? '';
  await db.deleteFrom('assets').where('id', '=', orphan.id).execute();
  await db.deleteFrom('files').where('hash', '=', hash).execute();
  expect(await sweep(library.deps, Date.now() + 60_000, 0)).toBeGreaterThanOrEqual(2);
  expect((await originals()).filter((key) => key.endsWith(hash))).toEqual([]);
  for (const path of ['file', 'variants/col'])
    expect([path, await mara.status('GET', `/assets/${asset.id}/${path}`)]).toEqual([path, 200]);
});
