import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { AssetVersion } from '@vitrine/contract/versions';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { purge } from '../../src/content/trash/jobs/purge.ts';
import { removeOrphans } from '../../src/operate/storage/sweep/orphans.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { auditEvents } from '../support/audit.ts';
import { requestAs } from '../support/client.ts';
import { type Account, formOf, objectPath, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, plainText, png, sha256, unknownBytes } from '../support/pictures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [mara, reader] = await library.joinAll('mara', 'reader');
const { db } = library.deps;

let seed = 10;

/** A picture that no other test has. */
async function picture(width = 40): Promise<Uint8Array<ArrayBuffer>> {
  seed += 1;
  return png(width, 30, seed);
}

const listOf = async (id: string, as = mara) => (await as.ok('listAssetVersions', { params: { id } })).items;

function add(
  id: string,
  bytes: Uint8Array<ArrayBuffer>,
  { note, name = 'new.png', as = mara }: { note?: string; name?: string; as?: Account } = {},
): Promise<AssetVersion> {
  const body = formOf(bytes, note === undefined ? {} : { note }, name);
  return as.ok('addAssetVersion', { params: { id }, body });
}

const assetOf = async (id: string, as = mara) => {
  const asset = await as.ok('getAsset', { params: { id } });
  if (asset.restricted) throw new Error('the asset is withheld');
  return asset;
};

const bytesAt = async (path: string, as = mara) => {
  const answer = await requestAs(as, library, path);
  return { status: answer.status, etag: answer.headers.get('etag'), bytes: await answer.bytes() };
};

const isStored = (hash: string) => existsSync(objectPath(library, originalKey(hash)));

const usedBy = async (as: Account) => (await as.ok('getOwnQuota')).used_bytes;

describe('a new version', () => {
  // VERSION-1
  test('gives the asset another file under the same id, with number, note, account and time', async () => {
    const [first, second] = [await picture(), await picture(60)];
    const asset = await upload(mara, first, { title: 'Harbour', tags: 'sea' }, 'old.png');
    await library.runJobs();
    const post = await publish(mara, [asset]);
    const made = await add(asset.id, second, { note: 'Brighter sky.' });
    expect(made).toMatchObject({
      number: 2,
      current: true,
      file_hash: sha256(second),
      file_extension: 'png',
      file_size_bytes: second.length,
      note: 'Brighter sky.',
      created_by: { ref: mara.ref },
    });
    await library.runJobs();
    const [newest, oldest, ...more] = await listOf(asset.id);
    expect(newest).toMatchObject({ number: 2, current: true, pixel_width: 60, pixel_height: 30 });
    expect(oldest).toMatchObject({
      number: 1,
      current: false,
      file_hash: sha256(first),
      pixel_width: 40,
      note: '',
    });
    expect(oldest?.created_at).toBe(asset.created_at);
    expect(more).toEqual([]);
    expect(await assetOf(asset.id)).toMatchObject({
      title: 'Harbour',
      tags: ['sea'],
      file_hash: sha256(second),
      file_size_bytes: second.length,
      pixel_width: 60,
      processing_status: 'ready',
    });
    expect((await bytesAt(`/assets/${asset.id}/file`)).bytes).toEqual(second);
    expect((await bytesAt(`/assets/${asset.id}/file?version=1`)).bytes).toEqual(first);
    const { members } = await mara.ok('getPost', { params: { id: post.id } });
    expect(members.map(({ asset_id }) => asset_id)).toEqual([asset.id]);
  });

  // VERSION-1
  test('is made from a finished upload, and the repeated request returns it', async () => {
    const [first, second] = [await picture(), await picture()];
    const { id } = await upload(mara, first);
    const headers = {
      'tus-resumable': '1.0.0',
      'upload-length': String(second.length),
      'upload-metadata': `filename ${Buffer.from('b.png').toString('base64')}`,
      'content-type': 'application/offset+octet-stream',
    };
    const created = await requestAs(mara, library, '/uploads', { method: 'POST', headers, body: second });
    expect(created.status).toBe(201);
    const body = { upload_id: created.headers.get('location')?.split('/').at(-1) ?? '', note: 'Again' };
    const send = () => mara.send(`/assets/${id}/versions`, { method: 'POST', body });
    const atOnce = await Promise.all([send(), send()]);
    expect(atOnce.map(({ status }) => status).toSorted()).toEqual([200, 201]);
    for (const { text } of atOnce)
      expect(JSON.parse(text)).toMatchObject({ number: 2, note: 'Again', file_hash: sha256(second) });
    const repeated = await send();
    expect([repeated.status, JSON.parse(repeated.text).number]).toEqual([200, 2]);
    const other = await upload(mara, await picture());
    expect((await mara.refused('addAssetVersion', { params: { id: other.id }, body })).error).toBe(
      'another request has just used this upload',
    );
    const unknown = { upload_id: randomUUID() };
    expect((await mara.refused('addAssetVersion', { params: { id }, body: unknown })).status).toBe(404);
    expect(await listOf(id)).toHaveLength(2);
  });

  // VERSION-2
  test('is refused with 409 for the current bytes and for a file of another kind, and stores nothing', async () => {
    const [first, text] = [await picture(), plainText(`A text. ${randomUUID()}\n`)];
    const { id } = await upload(mara, first);
    const same = await mara.refused('addAssetVersion', { params: { id }, body: formOf(first) });
    expect(same).toMatchObject({ status: 409, error: 'these are the bytes of the current version' });
    for (const bytes of [text, unknownBytes(7), new Uint8Array()]) {
      const other = await mara.refused('addAssetVersion', { params: { id }, body: formOf(bytes) });
      expect(other).toMatchObject({ status: 409, error: expect.stringMatching(/of another kind/) });
      expect(isStored(sha256(bytes))).toBe(false);
    }
    expect(await listOf(id)).toMatchObject([{ number: 1, current: true }]);
    // Another format of the same kind is no other kind.
    expect(await add(id, await jpeg(30, 30), { name: 'c.jpg' })).toMatchObject({ file_extension: 'jpg' });
  });

  test('is refused with 400 for a form without a file, with another part, or with a note that is too long', async () => {
    const { id } = await upload(mara, await picture());
    const bytes = await picture();
    const empty = new FormData();
    empty.append('note', 'No file');
    for (const body of [empty, formOf(bytes, { note: 'x'.repeat(2001) }), formOf(bytes, { title: 'No' })])
      expect((await mara.refused('addAssetVersion', { params: { id }, body })).status).toBe(400);
    expect(await mara.status('POST', `/assets/${id}/versions`, {})).toBe(400);
    for (const number of ['0', '-1', 'x', '1.5', '2147483648'])
      expect(await mara.status('GET', `/assets/${id}/file?version=${number}`)).toBe(400);
    expect(isStored(sha256(bytes))).toBe(false);
  });

  // VERSION-6
  test('leaves the renditions of the version before in place until its own replace all of them', async () => {
    const [first, second] = [await picture(40), await picture(60)];
    const asset = await upload(mara, first);
    const post = await publish(mara, [asset], { visibility: 'public' });
    await library.setPublicMode(true);
    await library.runJobs();
    const path = `/assets/${asset.id}/variants/preview`;
    const before = await bytesAt(path);
    await add(asset.id, second);
    const visitor = library.anonymous();
    for (const as of [mara, reader, visitor]) {
      expect(await as.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
        file_hash: sha256(second),
        processing_status: 'pending',
        preview_available: true,
        ladder_available: true,
        pixel_width: 40,
        anonymously_visible: true,
      });
      const { members } = await as.ok('getPost', { params: { id: post.id } });
      expect(members).toMatchObject([{ asset: { restricted: false, preview_available: true } }]);
    }
    const meanwhile = await bytesAt(path);
    expect([meanwhile.etag, meanwhile.bytes]).toEqual([before.etag, before.bytes]);
    // The address names the new bytes, so it must not make the old picture immutable.
    const named = await requestAs(mara, library, `${path}?v=${sha256(second)}`);
    expect(named.headers.get('cache-control')).toBe('private, no-cache');
    const { variants } = await mara.ok('getAssetMedia', { params: { id: asset.id } });
    expect(variants.find(({ key }) => key === 'preview')).toMatchObject({ width: 40 });
    expect((await bytesAt(`/assets/${asset.id}/file`)).bytes).toEqual(second);
    await library.runJobs();
    const after = await bytesAt(path);
    expect(after.status).toBe(200);
    expect(after.etag).not.toBe(before.etag);
    expect(after.etag).toContain(sha256(second));
    expect(after.bytes).not.toEqual(before.bytes);
    const earlier = await bytesAt(`${path}?version=1`);
    expect([earlier.etag, earlier.bytes]).toEqual([before.etag, before.bytes]);
    await library.setPublicMode(false);
  });

  // VERSION-3
  test('exists only for those who may edit the asset', async () => {
    const { id } = await upload(mara, await picture());
    await library.runJobs();
    await add(id, await picture());
    await library.runJobs();
    const bytes = await picture();
    const params = { id };
    for (const path of ['file?version=1', 'file?version=2', 'variants/col?version=1', 'file?version=3']) {
      expect(await reader.status('GET', `/assets/${id}/${path}`)).toBe(404);
      const due = path === 'file?version=3' ? 404 : 200;
      for (const editor of [mara, root])
        expect(await editor.status('GET', `/assets/${id}/${path}`)).toBe(due);
    }
    expect((await reader.refused('listAssetVersions', { params })).status).toBe(404);
    expect((await reader.refused('addAssetVersion', { params, body: formOf(bytes) })).status).toBe(404);
    expect(
      (await reader.refused('addAssetVersion', { params, body: { upload_id: randomUUID() } })).status,
    ).toBe(404);
    for (const number of [1, 2, 3]) {
      const version = { id, number };
      expect((await reader.refused('restoreAssetVersion', { params: version })).status).toBe(404);
      expect((await reader.refused('deleteAssetVersion', { params: version })).status).toBe(404);
    }
    expect(isStored(sha256(bytes))).toBe(false);
    expect(await reader.status('GET', `/assets/${id}/file`)).toBe(200);
    expect(await listOf(id, root)).toHaveLength(2);
    await mara.ok('deleteAsset', { params, body: undefined });
    expect((await mara.refused('listAssetVersions', { params })).status).toBe(404);
    expect(await mara.status('GET', `/assets/${id}/file?version=1`)).toBe(404);
  });

  // VERSION-7
  test('is not lost when two are uploaded at once', async () => {
    const { id } = await upload(mara, await picture());
    const bytes = await Promise.all([picture(), picture(), picture()]);
    const made = await Promise.all(bytes.map((one) => add(id, one)));
    expect(made.map(({ number }) => number).sort()).toEqual([2, 3, 4]);
    const list = await listOf(id);
    expect(list.map(({ number, current }) => [number, current])).toEqual([
      [4, true],
      [3, false],
      [2, false],
      [1, false],
    ]);
    for (const [place, one] of made.entries()) {
      const { bytes: stored } = await bytesAt(`/assets/${id}/file?version=${one.number}`);
      expect(stored).toEqual(bytes[place]);
    }
    const same = await picture();
    const body = () => formOf(same);
    const both = await Promise.all(
      [0, 1].map(
        async () => (await mara.send(`/assets/${id}/versions`, { method: 'POST', body: body() })).status,
      ),
    );
    expect(both.sort()).toEqual([201, 409]);
    expect(await listOf(id)).toHaveLength(5);
  });

  // VERSION-12
  test('is an audit event, as are restoring and deleting one', async () => {
    const { id } = await upload(mara, await picture());
    await add(id, await picture(), { as: root });
    await mara.ok('restoreAssetVersion', { params: { id, number: 1 } });
    await mara.ok('deleteAssetVersion', { params: { id, number: 2 } });
    const events = (await auditEvents(library, { target_id: id })).filter(({ event }) =>
      event.startsWith('asset.version.'),
    );
    expect(events.map(({ event, metadata }) => [event, metadata])).toEqual([
      ['asset.version.added', { number: 2 }],
      ['asset.version.restored', { number: 3, restored: 1 }],
      ['asset.version.deleted', { number: 2 }],
    ]);
  });
});

describe('restoring a version', () => {
  // VERSION-4
  test('makes a new version with its bytes and its file name, at once if these were rendered', async () => {
    const [first, second] = [await picture(), await picture()];
    const { id } = await upload(mara, first, {}, 'first.png');
    await library.runJobs();
    await add(id, second, { name: 'second.png' });
    await library.runJobs();
    const made = await mara.ok('restoreAssetVersion', { params: { id, number: 1 } });
    expect(made).toMatchObject({ number: 3, current: true, file_hash: sha256(first) });
    expect(await assetOf(id)).toMatchObject({
      file_hash: sha256(first),
      processing_status: 'ready',
      preview_available: true,
    });
    expect((await mara.ok('getAssetMedia', { params: { id } })).file_name).toBe('first.png');
    // Both have the same bytes as the current version.
    for (const number of [1, 3])
      expect((await mara.refused('restoreAssetVersion', { params: { id, number } })).status).toBe(409);
    expect((await mara.refused('restoreAssetVersion', { params: { id, number: 4 } })).status).toBe(404);
    expect((await listOf(id)).map(({ number }) => number)).toEqual([3, 2, 1]);
  });

  test('is refused for damaged bytes', async () => {
    const first = await picture();
    const { id } = await upload(mara, first);
    await add(id, await picture());
    await writeFile(objectPath(library, originalKey(sha256(first))), 'damaged');
    expect((await mara.refused('restoreAssetVersion', { params: { id, number: 1 } })).status).toBe(409);
    expect(await listOf(id)).toHaveLength(2);
  });
});

describe('deleting a version', () => {
  // VERSION-5, QUOTA-1
  test('removes its bytes and counts them no longer at once; the current version stays', async () => {
    const owner = await library.join(`owner ${randomUUID()}`);
    const [first, second] = [await picture(), await picture(60)];
    const { id } = await upload(owner, first);
    await add(id, second, { as: owner });
    await library.runJobs();
    expect(await usedBy(owner)).toBe(first.length + second.length);
    const installed = (await root.ok('getQuotas')).used_bytes;
    expect((await owner.refused('deleteAssetVersion', { params: { id, number: 2 } })).status).toBe(409);
    await owner.ok('deleteAssetVersion', { params: { id, number: 1 } });
    expect(await usedBy(owner)).toBe(second.length);
    expect((await root.ok('getQuotas')).used_bytes).toBe(installed - first.length);
    expect((await owner.refused('deleteAssetVersion', { params: { id, number: 1 } })).status).toBe(404);
    expect(await listOf(id, owner)).toMatchObject([{ number: 2, current: true }]);
    await library.runJobs();
    expect([isStored(sha256(first)), isStored(sha256(second))]).toEqual([false, true]);
    // Numbers are not used again.
    expect(await add(id, first, { as: owner })).toMatchObject({ number: 3 });
  });

  // VERSION-5
  test('keeps bytes that another version or another asset has', async () => {
    const [first, second] = [await picture(), await picture()];
    const { id } = await upload(mara, first);
    await add(id, second);
    await mara.ok('restoreAssetVersion', { params: { id, number: 1 } });
    await upload(reader, second);
    for (const number of [1, 2]) await mara.ok('deleteAssetVersion', { params: { id, number } });
    await library.runJobs();
    expect([isStored(sha256(first)), isStored(sha256(second))]).toEqual([true, true]);
    expect((await bytesAt(`/assets/${id}/file`)).bytes).toEqual(first);
  });

  // VERSION-6
  test('ends the interim in which its renditions are shown', async () => {
    const { id } = await upload(mara, await picture());
    await library.runJobs();
    await add(id, await picture());
    expect(await mara.status('GET', `/assets/${id}/variants/col`)).toBe(200);
    await mara.ok('deleteAssetVersion', { params: { id, number: 1 } });
    expect(await mara.status('GET', `/assets/${id}/variants/col`)).toBe(404);
    expect(await assetOf(id)).toMatchObject({ processing_status: 'pending', preview_available: false });
    await library.runJobs();
    expect(await mara.status('GET', `/assets/${id}/variants/col`)).toBe(200);
  });
});

describe('files of earlier versions', () => {
  // FILE-8, ASSET-15
  test('are kept by the sweep, and may be named by their hash as bytes that the account uploaded', async () => {
    const [first, second] = [await picture(), await picture()];
    const { id } = await upload(mara, first);
    await library.runJobs();
    await add(id, second);
    await library.runJobs();
    await removeOrphans(library.deps, Date.now() + 60_000);
    await root.ok('countStorage');
    await library.runJobs();
    expect((await root.ok('getStorage')).counted?.unreferenced.count).toBe(0);
    for (const path of ['file?version=1', 'variants/preview?version=1', 'variants/hires?version=1'])
      expect(await mara.status('GET', `/assets/${id}/${path}`)).toBe(200);
    expect(await mara.ok('createAsset', { body: { file_hash: sha256(first) } })).toMatchObject({
      file_hash: sha256(first),
    });
  });

  // QUOTA-2
  test('count towards the quota of the owner, also for a version that someone else adds', async () => {
    const owner = await library.join(`owner ${randomUUID()}`);
    const [first, second] = [await picture(), await picture()];
    const { id } = await upload(owner, first);
    const own_bytes = first.length + second.length - 1;
    await root.ok('setUserQuota', { params: { ref: owner.ref }, body: { own_bytes } });
    for (const as of [owner, root])
      expect((await as.refused('addAssetVersion', { params: { id }, body: formOf(second) })).status).toBe(
        413,
      );
    expect(await listOf(id, owner)).toHaveLength(1);
    await root.ok('setUserQuota', { params: { ref: owner.ref }, body: { own_bytes: own_bytes + 1 } });
    await add(id, second, { as: owner });
  });

  // VERSION-12
  test('are purged with their asset', async () => {
    const bytes = await Promise.all([picture(), picture(), picture()]);
    const [first, ...later] = bytes;
    if (first === undefined) throw new Error('there is no picture');
    const { id } = await upload(mara, first);
    for (const one of later) await add(id, one);
    await mara.ok('deleteAsset', { params: { id }, body: undefined });
    expect(bytes.map((one) => isStored(sha256(one)))).toEqual([true, true, true]);
    await sql`update assets set deleted_at = now() - interval '40 days' where id = ${id}`.execute(db);
    await root.ok('setTrashRetention', { body: { retention_days: 30 } });
    await purge(db);
    await library.runJobs();
    await root.ok('setTrashRetention', { body: { retention_days: null } });
    expect(bytes.map((one) => isStored(sha256(one)))).toEqual([false, false, false]);
  });
});

describe('the number of kept versions', () => {
  const keep = (number: number | null) => root.ok('setVersionSettings', { body: { keep: number } });

  // VERSION-8
  test('removes the oldest when a version is added, and those of every asset when it becomes smaller', async () => {
    expect(await root.ok('getVersionSettings')).toEqual({ keep: null });
    const [one, other] = [await upload(mara, await picture()), await upload(mara, await picture())];
    for (let number = 2; number <= 4; number += 1) {
      await add(one.id, await picture());
      await add(other.id, await picture());
    }
    const oldest = (await listOf(one.id)).at(-1);
    await keep(2);
    await library.runJobs();
    expect((await listOf(one.id)).map(({ number }) => number)).toEqual([4, 3, 2]);
    expect((await listOf(other.id)).map(({ number }) => number)).toEqual([4, 3, 2]);
    expect(isStored(oldest?.file_hash ?? '')).toBe(false);
    await add(one.id, await picture());
    expect((await listOf(one.id)).map(({ number }) => number)).toEqual([5, 4, 3]);
    await keep(0);
    await library.runJobs();
    expect((await listOf(other.id)).map(({ number }) => number)).toEqual([4]);
    await add(other.id, await picture());
    expect(await listOf(other.id)).toMatchObject([{ number: 5, current: true }]);
    // Its renditions stand in for those of the new version, although it is no version any more.
    expect(await mara.status('GET', `/assets/${other.id}/variants/col`)).toBe(200);
    const before = (await bytesAt(`/assets/${other.id}/variants/col`)).etag?.slice(1, 65) ?? '';
    await library.runJobs();
    expect(isStored(before)).toBe(false);
    await keep(null);
  });

  // VERSION-8
  test('is for operators, from 0 to 1,000 or null', async () => {
    expect((await mara.refused('setVersionSettings', { body: { keep: 1 } })).status).toBe(403);
    for (const value of [-1, 1001, 1.5, '2'])
      expect(await root.status('PATCH', '/admin/system/versions', { keep: value })).toBe(400);
    expect(await root.status('PATCH', '/admin/system/versions', {})).toBe(400);
    expect(await root.ok('getVersionSettings')).toEqual({ keep: null });
  });
});

describe('a link', () => {
  const open = (token: string) => library.anonymous().ok('openLink', { params: { link: token } });
  const bytesOf = async (token: string, id: string) => {
    const answer = await requestAs(library.anonymous(), library, `/links/${token}/assets/${id}/file`);
    return answer.status === 200 ? sha256(await answer.bytes()) : answer.status;
  };

  // VERSION-9
  test('shows the current version, or always the one that it names', async () => {
    const [first, second] = [await picture(40), await picture(60)];
    const { id } = await upload(mara, first);
    await library.runJobs();
    const body = { allow_download: true };
    const current = await mara.ok('createAssetLink', { params: { id }, body });
    const pinned = await mara.ok('createAssetLink', { params: { id }, body: { ...body, version: 1 } });
    expect([current.version, pinned.version]).toEqual([undefined, 1]);
    await add(id, second);
    expect((await open(current.token)).items).toMatchObject([
      { pixel_width: 40, processing_status: 'pending' },
    ]);
    expect((await open(pinned.token)).items).toMatchObject([{ pixel_width: 40, processing_status: 'ready' }]);
    await library.runJobs();
    expect((await open(current.token)).items).toMatchObject([{ pixel_width: 60 }]);
    expect((await open(pinned.token)).items).toMatchObject([{ pixel_width: 40 }]);
    expect(await bytesOf(current.token, id)).toBe(sha256(second));
    expect(await bytesOf(pinned.token, id)).toBe(sha256(first));
    const preview = `/links/${pinned.token}/assets/${id}/variants/preview`;
    expect((await bytesAt(preview)).etag).toBe(
      (await bytesAt(`/assets/${id}/variants/preview?version=1`)).etag,
    );
    const archive = await requestAs(library.anonymous(), library, `/links/${pinned.token}/archive`);
    expect(Buffer.from(await archive.bytes()).includes(Buffer.from(first))).toBe(true);
    const changed = await mara.ok('updateLink', { params: { link: pinned.id }, body: { version: 2 } });
    expect(changed.version).toBe(2);
    const cleared = await mara.ok('updateLink', {
      params: { link: pinned.id },
      body: { clear_version: true },
    });
    expect(cleared.version).toBeUndefined();
  });

  // VERSION-8, VERSION-9
  test('keeps its version from being removed, and ends with it', async () => {
    const { id } = await upload(mara, await picture());
    await library.runJobs();
    const pinned = await mara.ok('createAssetLink', { params: { id }, body: { version: 1 } });
    await root.ok('setVersionSettings', { body: { keep: 0 } });
    await add(id, await picture());
    await add(id, await picture());
    await root.ok('setVersionSettings', { body: { keep: null } });
    expect((await listOf(id)).map(({ number }) => number)).toEqual([3, 1]);
    await open(pinned.token);
    await mara.ok('deleteAssetVersion', { params: { id, number: 1 } });
    expect((await library.anonymous().refused('openLink', { params: { link: pinned.token } })).status).toBe(
      404,
    );
    expect(await library.anonymous().status('GET', `/links/${pinned.token}/assets/${id}/variants/col`)).toBe(
      404,
    );
  });

  // VERSION-9
  test('cannot name a version that the asset does not have, or one of a post', async () => {
    const asset = await upload(mara, await picture());
    const params = { id: asset.id };
    expect((await mara.refused('createAssetLink', { params, body: { version: 2 } })).status).toBe(404);
    const post = await publish(mara, [asset]);
    const ofPost = { params: { id: post.id }, body: { version: 1 } };
    expect((await mara.refused('createPostLink', ofPost)).status).toBe(400);
    const link = await mara.ok('createPostLink', { params: { id: post.id }, body: {} });
    const change = { params: { link: link.id }, body: { version: 1 } };
    expect((await mara.refused('updateLink', change)).status).toBe(400);
  });
});

describe('what belongs to the file', () => {
  // VERSION-10
  test('is replaced if it came with the file, as subtitles inside it, and returns when it is restored', async () => {
    const film = await readFile(new URL('../media/files/subtitles.mkv', import.meta.url));
    const silent = await readFile(new URL('../media/files/subtitles.mkv', import.meta.url));
    // An empty language: no track that could be taken.
    silent.write('V_UNKNOWN  ', silent.indexOf('S_TEXT/UTF8'), 'latin1');
    const { id } = await upload(mara, Uint8Array.from(film), {}, 'film.mkv');
    const added = new FormData();
    added.append('file', new Blob(['1\n00:00:00,000 --> 00:00:01,000\nHallo\n']), 'de.srt');
    await mara.ok('putSubtitles', { params: { id, lang: 'de' }, body: added });
    await library.runJobs();
    const languages = async () => (await assetOf(id)).subtitle_tracks.map(({ lang }) => lang);
    expect(await languages()).toEqual(['de', 'en']);
    await add(id, Uint8Array.from(silent), { name: 'silent.mkv' });
    await library.runJobs();
    expect(await languages()).toEqual(['de']);
    await mara.ok('restoreAssetVersion', { params: { id, number: 1 } });
    await library.runJobs();
    expect(await languages()).toEqual(['de', 'en']);
    expect((await mara.send(`/assets/${id}/subtitles/en`)).text).toContain('Embedded wallaby');
  });

  test('is found by the text of the current version only', async () => {
    const [first, second] = ['kingfisher', 'bittern'].map((word) =>
      plainText(`A ${word}. ${randomUUID()}\n`),
    );
    if (first === undefined || second === undefined) throw new Error('there is no text');
    const { id } = await upload(mara, first, { title: 'Notes' }, 'notes.txt');
    await library.runJobs();
    const finds = async (q: string) =>
      (await mara.ok('search', { query: { q, kind: 'asset' } })).items.length;
    expect([await finds('kingfisher'), await finds('bittern')]).toEqual([1, 0]);
    await add(id, second, { name: 'notes.txt' });
    expect(await finds('kingfisher')).toBe(0);
    await library.runJobs();
    expect([await finds('kingfisher'), await finds('bittern')]).toEqual([0, 1]);
    await mara.ok('restoreAssetVersion', { params: { id, number: 1 } });
    expect([await finds('kingfisher'), await finds('bittern')]).toEqual([1, 0]);
  });
});
