import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweep } from '../../src/sweep/stored-files.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainText, pngBomb, truncatedJpeg } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let other: Account;

beforeAll(async () => {
  library = await openLibrary({ VITRINE_MAX_FILE_BYTES: String(3 * 1024 * 1024) });
  mara = await library.join('mara');
  other = await library.join('other');
});

async function countAssets(): Promise<number> {
  const { count } = await library.deps.db
    .selectFrom('assets')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function originals(): Promise<string[]> {
  const keys: string[] = [];
  for await (const object of library.deps.storage.list('originals')) keys.push(object.key);
  return keys;
}

function form(parts: [string, string | Blob, string?][]): FormData {
  const made = new FormData();
  for (const [name, value, file] of parts) {
    if (typeof value === 'string') made.append(name, value);
    else made.append(name, value, file ?? 'a.jpg');
  }
  return made;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

// ASSET-14, ASSET-25
describe('POST /assets stores a file and returns its asset', () => {
  // UPLOAD-9
  test('accepts fields before and after the file, and repeated tags', async () => {
    const bytes = await jpeg(640, 480, { seed: 7 });
    const asset = await mara.ok('createAsset', {
      body: form([
        ['title', 'Ridge'],
        ['tags', 'one'],
        ['file', new Blob([bytes]), 'ridge.jpg'],
        ['tags', 'two'],
        ['description', 'Four mornings'],
        ['ai_provenance', 'none'],
        ['metadata', '{"film":"HP5"}'],
        ['sensitivity', 'restricted'],
      ]),
    });
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
    const asset = await upload(mara, await jpeg(50, 50), { tags: '["a","b","a"]' }, 'IMG 0042.final.jpg');
    expect(asset.tags).toEqual(['a', 'b']);
    expect(asset.title).toBe('IMG 0042.final');
  });

  // FILE-7, MEDIA-4
  test('stores the same bytes once, and an asset of rendered bytes is ready immediately', async () => {
    const bytes = await jpeg(800, 500, { seed: 99 });
    const [first, second] = await Promise.all([upload(mara, bytes), upload(other, bytes)]);
    expect(first.file_hash).toBe(second.file_hash);
    await library.runJobs();
    const third = await upload(other, bytes);
    expect(third).toMatchObject({ processing_status: 'ready', ladder_available: true, pixel_width: 800 });
    const stored = await originals();
    expect(stored.filter((key) => key.endsWith(sha256(bytes)))).toHaveLength(1);
  });

  // ASSET-15
  test('accepts the hash of bytes that the caller uploaded before, not of those of others', async () => {
    const bytes = await jpeg(300, 300, { seed: 5 });
    const { file_hash } = await upload(mara, bytes);
    if (file_hash === null) throw new Error('no hash');
    const again = await mara.ok('createAsset', {
      body: { file_hash, sensitivity: 'public', title: 'Again' },
    });
    expect(again).toMatchObject({ file_hash, title: 'Again' });
    expect((await other.refused('createAsset', { body: { file_hash } })).status).toBe(404);
    // HTTP-6: a nullable key may be sent as null.
    const body = { file_hash, ai_provenance: null, team_id: null };
    const undeclared = await mara.ok('createAsset', { body });
    expect([undeclared.ai_provenance, 'team_id' in undeclared]).toEqual([null, false]);
  });
});

// MEDIA-5
describe('a file that cannot be rendered is stored as a plain file', () => {
  // MEDIA-5
  test('a 0-byte file', async () => {
    const asset = await upload(mara, new Uint8Array(0), {}, 'nothing.jpg');
    expect(asset).toMatchObject({ file_size_bytes: 0, processing_status: 'ready', preview_available: false });
    expect((await mara.send(`/assets/${asset.id}/file`)).status).toBe(200);
  });

  // MEDIA-1
  test('a text file named .jpg', async () => {
    const asset = await upload(mara, plainText(), {}, 'picture.jpg');
    expect(asset).toMatchObject({ asset_type: 7, file_extension: 'txt' });
  });

  // MEDIA-5
  test('a PNG bomb of 50,000 x 50,000 pixels is ready without renditions', async () => {
    const asset = await upload(mara, pngBomb(), {}, 'bomb.png');
    await library.runJobs();
    const after = await mara.ok('getAsset', { params: { id: asset.id } });
    expect(after).toMatchObject({
      processing_status: 'ready',
      preview_available: false,
      ladder_available: false,
    });
    expect((await mara.send(`/assets/${asset.id}/variants/col`)).status).toBe(404);
  });

  // MEDIA-6
  test('a truncated JPEG fails, is visible only to its owner, and can be processed again', async () => {
    const asset = await upload(mara, await truncatedJpeg());
    await library.runJobs();
    const after = await mara.ok('getAsset', { params: { id: asset.id } });
    expect(after).toMatchObject({ processing_status: 'failed', preview_available: false });
    expect((await other.refused('getAsset', { params: { id: asset.id } })).status).toBe(404);
    expect((await other.refused('reprocessAsset', { params: { id: asset.id } })).status).toBe(404);
    const again = await mara.ok('reprocessAsset', { params: { id: asset.id } });
    expect((await other.refused('reprocessAsset', { params: { id: again.id } })).status).toBe(403);
    expect(again.processing_status).toBe('pending');
    await library.runJobs();
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
      processing_status: 'failed',
    });
  });

  // UPLOAD-11
  test.each([
    ['../../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['a"b;c\'.jpg', 'a"b;c\'.jpg'],
    ['日本語 ünïcödé \u202e.jpg', '日本語 ünïcödé \u202e.jpg'],
    [`${'ß'.repeat(5000)}.jpg`, `${'ß'.repeat(251)}.jpg`],
  ])('a file named %j is stored, and downloaded under a safe name', async (name, kept) => {
    const asset = await upload(mara, await jpeg(40, 30), {}, name);
    const row = await library.deps.db
      .selectFrom('assets')
      .select('file_name')
      .where('id', '=', asset.id)
      .executeTakeFirstOrThrow();
    expect(row.file_name).toBe(kept);
    const sent = await mara.send(`/assets/${asset.id}/file`);
    expect(sent.status).toBe(200);
    const header = sent.headers.get('content-disposition') ?? '';
    expect(decodeURIComponent(/filename\*=UTF-8''(\S*)$/.exec(header)?.[1] ?? '')).toBe(kept);
  });
});

// UPLOAD-9
describe('an invalid upload is refused and leaves nothing behind', () => {
  let rows: number;
  let files: number;

  beforeEach(async () => {
    rows = await countAssets();
    files = (await originals()).length;
    return async () => {
      expect(await countAssets()).toBe(rows);
      expect((await originals()).length).toBe(files);
      expect(await readdir(library.deps.storage.incomingDir)).toEqual([]);
    };
  });

  const picture = async () => new Blob([await jpeg(64, 64, { seed: 4242 })]);

  // UPLOAD-9
  test('an unknown field, which the error names', async () => {
    const refused = await mara.refused('createAsset', {
      body: form([
        ['colour', 'red'],
        ['file', await picture()],
      ]),
    });
    expect(refused).toEqual({ status: 400, error: 'unknown property colour' });
  });

  test.each([
    ['status', 'gone'],
    ['mature', 'perhaps'],
    ['asset_type', '1e3'],
    ['asset_type', '4711'],
    ['metadata', '[1'],
    ['metadata', '"text"'],
    ['tags', ''],
    ['tags', 'x'.repeat(65)],
    ['title', 'x'.repeat(501)],
    ['title', 'nul\0byte'],
    ['team_id', 'no-uuid'],
  ])('an invalid value of %s: %j', async (name, value) => {
    const refused = await mara.refused('createAsset', {
      body: form([
        ['file', await picture()],
        [name, value],
      ]),
    });
    expect(refused.status).toBe(400);
  });

  // UPLOAD-9
  test('51 tags, a repeated field, no file, two files, or an unknown part', async () => {
    const file = await picture();
    const many: [string, string][] = Array.from({ length: 51 }, (_, i) => ['tags', `t${i}`]);
    const forms: [string, string | Blob, string?][][] = [
      [...many, ['file', file]],
      [
        ['title', 'a'],
        ['title', 'b'],
        ['file', file],
      ],
      [['title', 'a']],
      [
        ['file', file],
        ['file', file],
      ],
      [['picture', file]],
    ];
    for (const parts of forms) {
      expect((await mara.refused('createAsset', { body: form(parts) })).status).toBe(400);
    }
  });

  // ASSET-18
  test('a team that the caller does not belong to', async () => {
    const parts: [string, string | Blob][] = [
      ['team_id', crypto.randomUUID()],
      ['file', await picture()],
    ];
    const refused = await mara.refused('createAsset', { body: form(parts) });
    expect(refused).toEqual({ status: 404, error: 'team not found' });
  });

  // ASSET-17
  test('the mature rating if the library does not allow it', async () => {
    const db = library.deps.db;
    await db.insertInto('settings').values({ key: 'mature_allowed', value: 'false' }).execute();
    const refused = await mara.refused('createAsset', {
      body: form([
        ['mature', 'true'],
        ['file', await picture()],
      ]),
    });
    await db.deleteFrom('settings').where('key', '=', 'mature_allowed').execute();
    expect(refused.status).toBe(400);
  });

  // UPLOAD-8
  test('a file over the limit, with 413', async () => {
    const big = new Blob([new Uint8Array(3 * 1024 * 1024 + 1)]);
    expect((await mara.refused('createAsset', { body: form([['file', big]]) })).status).toBe(413);
  });

  // UPLOAD-9
  test('a truncated form, with 400', async () => {
    const body = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await mara.send('/assets', { method: 'POST', body, headers })).status).toBe(400);
  });

  // ASSET-14
  test('refuses callers who may not upload: a viewer, an anonymous visitor', async () => {
    const viewer = await library.join('viewer', 'viewer');
    const body = form([['file', await picture()]]);
    expect((await viewer.refused('createAsset', { body })).status).toBe(403);
    expect((await library.anonymous().refused('createAsset', { body })).status).toBe(401);
    await library.setPublicMode(true);
    expect((await library.anonymous().refused('createAsset', { body })).status).toBe(401);
    await library.setPublicMode(false);
  });
});

// UPLOAD-10
describe('an interrupted upload', () => {
  // UPLOAD-10
  test('leaves no row, and no file after the sweep', async () => {
    const rows = await countAssets();
    const { hostname, port } = new URL(library.address);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /api/v1/assets HTTP/1.1',
      `Host: ${hostname}`,
      `Cookie: user=${mara.cookie()}`,
      'Content-Type: multipart/form-data; boundary=x',
      'Content-Length: 2000000',
      '',
      '--x',
      'Content-Disposition: form-data; name="file"; filename="a.jpg"',
      '',
      '',
    ];
    socket.write(head.join('\r\n'));
    socket.write(Buffer.alloc(500_000, 7));
    await sleep(200);
    socket.destroy();
    await sleep(300);
    expect(await countAssets()).toBe(rows);
    await sweep(library.deps, Date.now() + 60_000, 0);
    expect(await readdir(library.deps.storage.incomingDir)).toEqual([]);
  });
});

// FILE-8
describe('the sweep of stored files', () => {
  // FILE-8
  test('removes only originals and renditions that no row refers to', async () => {
    const bytes = await jpeg(200, 200, { seed: 31 });
    const asset = await upload(mara, bytes);
    await library.runJobs();
    const orphan = await upload(mara, await jpeg(210, 200, { seed: 32 }));
    await library.runJobs();
    const db = library.deps.db;
    await db.deleteFrom('assets').where('id', '=', orphan.id).execute();
    await db
      .deleteFrom('files')
      .where('hash', '=', orphan.file_hash ?? '')
      .execute();
    const removed = await sweep(library.deps, Date.now() + 60_000, 0);
    expect(removed).toBeGreaterThanOrEqual(2);
    expect((await originals()).some((key) => key.endsWith(orphan.file_hash ?? 'none'))).toBe(false);
    expect((await mara.send(`/assets/${asset.id}/file`)).status).toBe(200);
    expect((await mara.send(`/assets/${asset.id}/variants/col`)).status).toBe(200);
  });
});
