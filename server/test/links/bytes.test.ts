import { createHash } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import sharp from 'sharp';
import { describe, expect, test, vi } from 'vitest';
import { safeName } from '../../src/content/archives/names.ts';
import { releaseBytes } from '../../src/content/trash/jobs/purge.ts';
import { originalKey, renditionsPrefix } from '../../src/platform/storage/object-key.ts';
import { objectPath, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { makeLink, visit } from './visiting.ts';

let seed = 500;

async function newAsset(width = 300, height = 200, name = 'picture.jpg') {
  seed += 1;
  return upload(owner, await jpeg(width, height, { seed }), { sensitivity: 'posts' }, name);
}

/** Returns the bytes at a path of a link. */
async function bytesOf(path: string) {
  const response = await fetch(`${library.address}/api/v1${path}`);
  const { status, headers } = response;
  return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Returns the entries of a ZIP without compression, read from its central directory. */
function unzip(zip: Buffer): { name: string; bytes: Buffer }[] {
  const end = zip.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  const count = zip.readUInt16LE(end + 10);
  const entries = [];
  let at = zip.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    const [size, nameLength] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28)];
    const start = zip.readUInt32LE(at + 42);
    const name = zip.subarray(at + 46, at + 46 + nameLength).toString('utf8');
    const data = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
    entries.push({ name, bytes: zip.subarray(data, data + size) });
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const library = await openLibrary();
const owner = await library.join('owner');

describe('bytes of what a link shows', () => {
  // LINK-9
  test('renditions are sent; originals and downloads only with `allow_download`', async () => {
    const asset = await newAsset();
    await library.runJobs();
    const post = await publish(owner, [asset], { visibility: 'private' });
    const { token, id } = await makeLink(owner, 'posts', post.id);
    const below = `/links/${token}/assets/${asset.id}`;
    const shown = await bytesOf(`${below}/variants/preview`);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(shown.headers.get('cache-control')).toBe('private, no-cache');
    expect(shown.headers.get('content-security-policy')).toContain('sandbox');
    const originals = [`${below}/file`, `${below}/variants/preview?download=true`, `/links/${token}/archive`];
    for (const path of originals) expect((await visit(library, path)).status).toBe(403);
    await owner.ok('updateLink', { params: { link: id }, body: { allow_download: true } });
    const file = await bytesOf(`${below}/file?download=true`);
    expect(sha256(file.bytes)).toBe(asset.file_hash);
    expect(file.headers.get('content-disposition')).toContain('attachment');
    expect((await visit(library, `${below}/variants/none`)).status).toBe(404);
    const headers = { 'if-none-match': shown.headers.get('etag') ?? '' };
    const again = () => library.anonymous().send(`${below}/variants/preview`, { headers });
    expect((await again()).status).toBe(304);
    await owner.ok('revokeLink', { params: { link: id } });
    expect((await again()).status).toBe(404);
  });
});

// MEDIA-6
// LINK-23
test('a link with presets gives files in these forms only, alone and as an archive', async () => {
  const root = await library.join('root', 'admin');
  const presets = [
    { key: 'small', label: 'Small', format: 'jpeg' as const, max_dim: 100 },
    { key: 'png', label: 'PNG', format: 'png' as const },
    { key: 'closed', label: 'Closed', format: 'png' as const, capability: 'system.admin' as const },
  ];
  await root.ok('setDownloadSettings', { body: { presets } });
  const [asset, text] = [
    await newAsset(),
    await upload(owner, plainFile(), { sensitivity: 'posts' }, 'a.txt'),
  ];
  const post = await publish(owner, [asset, text], { visibility: 'private' });
  const terms = { allow_download: true, presets: ['small'] };
  const link = await makeLink(owner, 'posts', post.id, terms);
  expect(link.presets).toEqual(['small']);
  const opened = await library.anonymous().ok('openLink', { params: { link: link.token } });
  expect(opened.presets).toEqual([{ key: 'small', label: 'Small', format: 'jpeg' }]);
  expect(opened.items[0]).not.toHaveProperty('file_size_bytes');
  const below = `/links/${link.token}/assets/${asset.id}`;
  const statusOf = async (path: string) => (await visit(library, path)).status;

  const small = await bytesOf(`${below}/file?preset=small`);
  expect([small.status, small.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  expect((await sharp(small.bytes).metadata()).width).toBe(100);
  expect(small.headers.get('content-disposition')).toContain('picture.jpg');
  expect(await statusOf(`${below}/file`)).toBe(403);
  expect(await statusOf(`${below}/tiles/0/0_0`)).toBe(403);
  for (const key of ['png', 'closed', 'none'])
    expect(await statusOf(`${below}/file?preset=${key}`)).toBe(404);
  expect(await statusOf(`/links/${link.token}/assets/${text.id}/file?preset=small`)).toBe(409);
  expect(await statusOf(`/links/${link.token}/archive`)).toBe(403);
  expect(await statusOf(`/links/${link.token}/archive?preset=png`)).toBe(404);
  const zip = unzip((await bytesOf(`/links/${link.token}/archive?preset=small`)).bytes);
  expect(zip.map(({ name }) => name)).toEqual(['0001 picture.jpg', '_left-out.txt']);
  expect(zip[1]?.bytes.toString()).toContain(text.id);

  const change = (body: object) => owner.ok('updateLink', { params: { link: link.id }, body });
  await change({ watermark: 'Draft' });
  expect(await statusOf(`${below}/file?preset=small`)).toBe(403);
  await change({ clear_watermark: true, allow_download: false });
  expect(await statusOf(`${below}/file?preset=small`)).toBe(403);
  expect(await change({ allow_download: true, clear_presets: true })).not.toHaveProperty('presets');
  expect(await statusOf(`${below}/file`)).toBe(200);
  expect(await statusOf(`${below}/file?preset=small`)).toBe(404);
  const params = { id: post.id };
  for (const key of ['closed', 'none']) {
    const body = { presets: [key] };
    expect((await owner.refused('createPostLink', { params, body })).status).toBe(404);
    expect((await owner.refused('updateLink', { params: { link: link.id }, body })).status).toBe(404);
  }
  expect(await owner.status('POST', `/posts/${post.id}/links`, { presets: [] })).toBe(400);
});

test('a link to a file whose processing failed is 404', async () => {
  const asset = await newAsset();
  const { token } = await makeLink(owner, 'assets', asset.id, { allow_download: true });
  const file = `/links/${token}/assets/${asset.id}/file`;
  expect((await visit(library, file)).status).toBe(200);
  const { db } = library.database;
  await sql`update assets set processing_status = 'failed' where id = ${asset.id}`.execute(db);
  for (const path of [file, `/links/${token}`]) expect((await visit(library, path)).status).toBe(404);
});

// LINK-10
describe('a watermark', () => {
  const marks = async (hash: string) => {
    const found: string[] = [];
    for await (const { key } of library.deps.storage.list(renditionsPrefix(hash)))
      if (key.includes('/marked-')) found.push(key);
    return found;
  };

  // LINK-10, MEDIA-27
  test('covers each rendition, is rendered once per text, and prevents the download of originals', async () => {
    const asset = await newAsset(600, 400);
    await library.runJobs();
    const hash = asset.file_hash ?? '';
    const plainLink = await makeLink(owner, 'assets', asset.id);
    const text = `<b>&'"Nord</b> ${'🎉'}`;
    const marked = await makeLink(owner, 'assets', asset.id, { watermark: text, allow_download: true });
    const at = (token: string) => `/links/${token}/assets/${asset.id}/variants/preview`;
    const [plain, drawn] = [await bytesOf(at(plainLink.token)), await bytesOf(at(marked.token))];
    expect([plain.status, drawn.status]).toEqual([200, 200]);
    expect(drawn.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    const raw = (bytes: Buffer) => sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const [before, after] = [await raw(plain.bytes), await raw(drawn.bytes)];
    expect([after.info.width, after.info.height]).toEqual([600, 400]);
    // Each ninth of the picture has changed, and most of the picture can still be seen.
    const changed = Array.from({ length: 9 }, () => 0);
    for (let y = 0; y < 400; y += 1) {
      for (let x = 0; x < 600; x += 1) {
        const pixel = (y * 600 + x) * 3;
        const shift = (c: number) => Math.abs((before.data[pixel + c] ?? 0) - (after.data[pixel + c] ?? 0));
        const difference = Math.max(...[0, 1, 2].map(shift));
        const ninth = Math.floor(y / 134) * 3 + Math.floor(x / 200);
        if (difference > 40) changed[ninth] = (changed[ninth] ?? 0) + 1;
      }
    }
    for (const pixels of changed) expect(pixels).toBeGreaterThan(200);
    expect(changed.reduce((sum, pixels) => sum + pixels, 0)).toBeLessThan(0.4 * 600 * 400);
    expect(await marks(hash)).toHaveLength(1);
    await Promise.all(Array.from({ length: 5 }, () => bytesOf(at(marked.token))));
    expect(await marks(hash)).toHaveLength(1);
    expect((await visit(library, `/links/${marked.token}/assets/${asset.id}/file`)).status).toBe(403);
    const archive = unzip((await bytesOf(`/links/${marked.token}/archive`)).bytes);
    expect(archive.map(({ name }) => name)).toEqual(['0001 picture.webp']);
    expect(sha256(archive[0]?.bytes ?? Buffer.alloc(0))).not.toBe(hash);
  });

  // MEDIA-27
  test('is deleted with the bytes it was rendered from', async () => {
    const asset = await newAsset();
    await library.runJobs();
    const hash = asset.file_hash ?? '';
    const { token } = await makeLink(owner, 'assets', asset.id, { watermark: true });
    await bytesOf(`/links/${token}/assets/${asset.id}/variants/col`);
    expect(await marks(hash)).toHaveLength(1);
    await sql`delete from assets where id = ${asset.id}`.execute(library.deps.db);
    await releaseBytes(library.deps, hash);
    expect(await marks(hash)).toEqual([]);
  });
});

describe('GET /links/{token}/archive', () => {
  // LINK-11
  test('contains the originals in order under safe and distinct names, with a folder per post of a collection', async () => {
    const first = await newAsset(40, 30, '../../etc/passwd.jpg');
    const second = await newAsset(40, 30, 'same.jpg');
    const third = await newAsset(40, 30, 'same.jpg');
    await library.runJobs();
    const posts = [
      await publish(owner, [second, third], { title: 'A/B: "c"?', visibility: 'private' }),
      await publish(owner, [first], { title: '', visibility: 'private' }),
    ];
    const shelf = await owner.ok('createCollection', { body: { name: 'Für Nord' } });
    for (const { id } of posts) await owner.ok('addToCollection', { params: { id: shelf.id, post_id: id } });
    const { token } = await makeLink(owner, 'collections', shelf.id, { allow_download: true });
    const { status, headers, bytes } = await bytesOf(`/links/${token}/archive`);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(headers.get('content-disposition')).toContain("filename*=UTF-8''F%C3%BCr%20Nord.zip");
    const entries = unzip(bytes);
    for (const { name } of entries) {
      expect(name).toMatch(/^\d{4} [^/\\:*?"<>|]+\/\d{4} [^/\\:*?"<>|]+\.jpg$/);
      expect(name).not.toContain('..');
    }
    expect(new Set(entries.map(({ name }) => name)).size).toBe(3);
    const hashes = [first, second, third].map(({ file_hash }) => file_hash);
    expect(entries.map((entry) => sha256(entry.bytes)).sort()).toEqual(hashes.sort());
  });

  // LINK-10, LINK-11
  test('gives a file the same number with a watermark, and the extension of what it contains', async () => {
    const bytes = plainFile('no picture can be made of this');
    const data = await upload(owner, bytes, { sensitivity: 'posts' }, 'raw.bin');
    const pictures = [await newAsset(40, 30, 'a.b.jpeg'), await newAsset(40, 30, 'harbour.JPG')] as const;
    await library.runJobs();
    const only = await publish(owner, [data], { title: 'Data', visibility: 'private' });
    const both = await publish(owner, [pictures[0], data, pictures[1]], {
      title: 'Both',
      visibility: 'private',
    });
    const shelf = await owner.ok('createCollection', { body: { name: 'Shelf' } });
    for (const post_id of [only.id, both.id])
      await owner.ok('addToCollection', { params: { id: shelf.id, post_id } });
    const namesWith = async (watermark: string | null) => {
      const { token } = await makeLink(owner, 'collections', shelf.id, { allow_download: true, watermark });
      const entries = unzip((await bytesOf(`/links/${token}/archive`)).bytes);
      const formats = entries.map(async (entry) =>
        /\.(?:bin|txt)$/.test(entry.name) ? null : (await sharp(entry.bytes).metadata()).format,
      );
      return { names: entries.map(({ name }) => name), formats: await Promise.all(formats) };
    };
    expect(await namesWith(null)).toEqual({
      names: [
        '0001 Data/0001 raw.bin',
        '0002 Both/0001 a.b.jpg',
        '0002 Both/0002 raw.bin',
        '0002 Both/0003 harbour.jpg',
      ],
      formats: [null, 'jpeg', null, 'jpeg'],
    });
    expect(await namesWith('Draft')).toEqual({
      names: ['0002 Both/0001 a.b.webp', '0002 Both/0003 harbour.webp', '_left-out.txt'],
      formats: ['webp', 'webp', null],
    });
  });

  // LINK-11, FILE-12
  test('is refused when a file is missing or damaged, instead of leaving it out', {
    tags: ['disk'],
  }, async () => {
    const kept = await newAsset();
    const lost = await newAsset();
    await library.runJobs();
    const post = await publish(owner, [kept, lost]);
    const { token } = await makeLink(owner, 'posts', post.id, { allow_download: true });
    const path = objectPath(library, originalKey(lost.file_hash ?? ''));
    const lossOf = async () => {
      const { status, headers } = await bytesOf(`/links/${token}/archive`);
      return [status, headers.get('vitrine-error')];
    };
    await rm(path);
    expect(await lossOf()).toEqual([500, 'file-missing']);
    await writeFile(path, 'short');
    expect(await lossOf()).toEqual([500, 'file-damaged']);
  });

  /** Creates a link to 120 MB in 600 files. */
  async function makeLarge() {
    const asset = await upload(owner, new Uint8Array(200_000).fill(7), { sensitivity: 'posts' });
    const post = await publish(owner, [asset]);
    const shelf = await owner.ok('createCollection', { body: { name: 'Large' } });
    const { db } = library.deps;
    // 10 posts with the same 60 assets each: more than the rows of one query.
    await sql`insert into assets (owner_user_ref, title, description, asset_type, status, sensitivity, file_hash,
        file_name, metadata, processing_status)
      select owner_user_ref, title, description, asset_type, status, sensitivity, file_hash, 'many.jpg', metadata,
        processing_status from assets, generate_series(1, 60) where id = ${asset.id}`.execute(db);
    await sql`insert into posts (author_user_ref, title, description, visibility, state_id)
      select author_user_ref, 'many', description, visibility, state_id
      from posts, generate_series(1, 10) where id = ${post.id}`.execute(db);
    await sql`insert into post_members (post_id, asset_id, sort_order)
      select p.id, a.id, row_number() over (partition by p.id) from posts p, assets a
      where p.title = 'many' and a.file_name = 'many.jpg'`.execute(db);
    await sql`insert into collection_posts (collection_id, post_id, position, added_by)
      select ${shelf.id}, id, row_number() over (), ${owner.ref} from posts where title = 'many'`.execute(db);
    return { asset, link: await makeLink(owner, 'collections', shelf.id, { allow_download: true }) };
  }
  let made: ReturnType<typeof makeLarge> | undefined;
  const large = () => {
    made ??= makeLarge();
    return made;
  };

  // LINK-11
  test('breaks off when a file is lost while it is sent', async () => {
    const { asset, link } = await large();
    const path = objectPath(library, originalKey(asset.file_hash ?? ''));
    const response = await fetch(`${library.address}/api/v1/links/${link.token}/archive`);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await rename(path, `${path}.away`);
    const readAll = async () => {
      for (let done = false; !done; ) done = (await reader?.read())?.done ?? true;
    };
    await expect(readAll()).rejects.toThrow();
    await rename(`${path}.away`, path);
  });

  // LINK-11
  test('of 120 MB in 600 files is read no faster than the client takes it', async () => {
    const { asset, link } = await large();
    const opened = vi.spyOn(library.deps.storage, 'get');
    const response = await fetch(`${library.address}/api/v1/links/${link.token}/archive`);
    const chunks = (response.body ?? new ReadableStream<Uint8Array>())[Symbol.asyncIterator]();
    await chunks.next();
    let seenBefore = -1;
    const hasPaused = () => {
      const hasNone = opened.mock.calls.length === seenBefore;
      seenBefore = opened.mock.calls.length;
      return hasNone;
    };
    await expect.poll(hasPaused, { interval: 300 }).toBe(true);
    // The buffers of the connection take some; all others wait for the client.
    expect(seenBefore).toBeLessThan(150);

    let bytes = 0;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      bytes += next.value.length;
    }
    expect(opened).toHaveBeenCalledTimes(600);
    expect(bytes).toBeGreaterThan(599 * (asset.file_size_bytes ?? 0));
    opened.mockRestore();
  }, 120_000);

  // LINK-9, FILE-9
  test('breaks off within a second after downloads were forbidden', async () => {
    const { link } = await large();
    const response = await fetch(`${library.address}/api/v1/links/${link.token}/archive`);
    const reader = response.body?.getReader();
    await reader?.read();
    await owner.ok('updateLink', { params: { link: link.id }, body: { allow_download: false } });
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 1000);
    const rest = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toThrow();
    clock.mockRestore();
  });

  // LINK-11
  test('names entries without separators, control characters and dots at the end', () => {
    const names = ['', '...', 'a/b\\c:d', '\u202egnp.exe\u0007', '  ünïcode 日本 ', 'x'.repeat(300)];
    const safe = ['', '', 'a_b_c_d', 'gnp.exe', 'ünïcode 日本', 'x'.repeat(100)];
    // Windows keeps the names of devices with any ending, and Linux takes 255 bytes.
    names.push('con', 'NUL.tar', 'aux .old', 'COM¹', 'console', '日'.repeat(100));
    safe.push('_con', '_NUL.tar', '_aux .old', '_COM¹', 'console', '日'.repeat(73));
    expect(names.map(safeName)).toEqual(safe);
  });
});
