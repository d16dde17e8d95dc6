import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requestAs } from '../support/client.ts';
import { type Account, formOf, openLibrary, upload } from '../support/library.ts';

const KB = 1024;

let mara: Account;
let seed = 0;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const other = await library.join('other');

beforeEach(async () => {
  mara = await library.join(`member ${randomUUID()}`);
});

afterEach(() => root.ok('setQuotas', { body: { person_bytes: null, install_bytes: null } }));

function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  seed += 1;
  return Uint8Array.from({ length: size }, (_, at) => (at * 13 + seed * 7) % 256);
}

async function begin(as: Account, size: number): Promise<{ status: number; path: string; error: string }> {
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': String(size) };
  const response = await requestAs(as, library, '/uploads', { method: 'POST', headers });
  const text = await response.text();
  const error = text === '' ? '' : JSON.parse(text).error;
  return { status: response.status, path: response.headers.get('location') ?? '', error };
}

const usedBy = async (as: Account) => (await as.ok('getOwnQuota')).used_bytes;

describe('a quota per person', () => {
  // QUOTA-1
  test('counts distinct originals of live assets and waiting uploads', async () => {
    const bytes = bytesOf(10 * KB);
    const { id } = await upload(mara, bytes);
    await upload(mara, bytes);
    expect(await usedBy(mara)).toBe(10 * KB);
    await begin(mara, 5 * KB);
    expect(await usedBy(mara)).toBe(15 * KB);
    const again = await upload(mara, bytesOf(2 * KB));
    await mara.ok('deleteAsset', { params: { id: again.id }, body: undefined });
    expect(await usedBy(mara)).toBe(15 * KB);
    await mara.ok('deleteAsset', { params: { id }, body: undefined });
    expect(await usedBy(mara)).toBe(15 * KB);
    expect(await usedBy(other)).toBe(0);
  });

  // QUOTA-2
  test('refuses a resumable upload and a form above the quota with 413, and stores nothing', async () => {
    const kept = await upload(mara, bytesOf(6 * KB));
    await root.ok('setQuotas', { body: { person_bytes: 10 * KB, install_bytes: null } });
    const refused = await begin(mara, 5 * KB);
    expect(refused).toMatchObject({ status: 413, error: 'this is more than your quota of 10.2 kB' });
    expect((await mara.refused('createAsset', { body: formOf(bytesOf(5 * KB)) })).status).toBe(413);
    expect(await usedBy(mara)).toBe(6 * KB);
    expect((await mara.ok('listUploads')).items).toEqual([]);
    // Accepts a file that fits exactly, and bytes that are stored already.
    expect((await begin(mara, 4 * KB)).status).toBe(201);
    await mara.ok('createAsset', { body: { file_hash: kept.file_hash ?? '' } });
    expect((await begin(mara, 1)).status).toBe(413);
    // Other accounts have their own quota.
    expect((await begin(other, 9 * KB)).status).toBe(201);
  });

  // QUOTA-2
  test('holds for an upload that learns its length later', async () => {
    await root.ok('setUserQuota', { params: { ref: mara.ref }, body: { own_bytes: KB } });
    const headers = { 'tus-resumable': '1.0.0', cookie: `user=${mara.cookie()}` };
    const deferred = { method: 'POST', headers: { ...headers, 'upload-defer-length': '1' } };
    const created = await requestAs(mara, library, '/uploads', deferred);
    const declared = await fetch(new URL(created.headers.get('location') ?? '', library.address), {
      method: 'PATCH',
      headers: {
        ...headers,
        'upload-offset': '0',
        'upload-length': String(2 * KB),
        'content-type': 'application/offset+octet-stream',
      },
      body: bytesOf(2 * KB),
    });
    expect(declared.status).toBe(413);
    expect(await usedBy(mara)).toBe(0);
  });

  // QUOTA-2
  test('holds for the bytes of an upload that never names its length', async () => {
    await root.ok('setUserQuota', { params: { ref: mara.ref }, body: { own_bytes: 3 * KB } });
    const headers = { 'tus-resumable': '1.0.0', cookie: `user=${mara.cookie()}` };
    const deferred = { method: 'POST', headers: { ...headers, 'upload-defer-length': '1' } };
    const created = await requestAs(mara, library, '/uploads', deferred);
    const address = new URL(created.headers.get('location') ?? '', library.address);
    const append = async (offset: number) => {
      const type = { 'content-type': 'application/offset+octet-stream' };
      const at = { ...headers, ...type, 'upload-offset': String(offset) };
      return (await fetch(address, { method: 'PATCH', headers: at, body: bytesOf(2 * KB) })).status;
    };
    expect([await append(0), await append(2 * KB)]).toEqual([204, 413]);
    expect(await usedBy(mara)).toBe(2 * KB);
  });

  // QUOTA-2
  test('refuses to restore an asset that would exceed it, also by an administrator', async () => {
    await root.ok('setUserQuota', { params: { ref: mara.ref }, body: { own_bytes: 10 * KB } });
    const first = await upload(mara, bytesOf(6 * KB));
    await mara.ok('deleteAsset', { params: { id: first.id }, body: undefined });
    const second = await upload(mara, bytesOf(6 * KB));
    const restore = (as: Account) => as.refused('restoreAsset', { params: { id: first.id } });
    expect(await restore(mara)).toEqual({ status: 413, error: 'this is more than your quota of 10.2 kB' });
    expect(await restore(root)).toMatchObject({ error: 'this is more than its owner’s quota of 10.2 kB' });
    await mara.ok('deleteAsset', { params: { id: second.id }, body: undefined });
    await mara.ok('restoreAsset', { params: { id: first.id } });
    expect(await usedBy(mara)).toBe(6 * KB);
  });

  // QUOTA-3
  test('an account may have another quota than everyone', async () => {
    await root.ok('setQuotas', { body: { person_bytes: KB, install_bytes: null } });
    const params = { ref: mara.ref };
    expect(await root.ok('setUserQuota', { params, body: { own_bytes: 8 * KB } })).toEqual({
      own_bytes: 8 * KB,
      limit_bytes: 8 * KB,
      used_bytes: 0,
    });
    expect((await begin(mara, 8 * KB)).status).toBe(201);
    expect((await root.ok('setUserQuota', { params, body: { own_bytes: null } })).limit_bytes).toBe(KB);
    expect((await root.refused('getUserQuota', { params: { ref: 999_999 } })).status).toBe(404);
    const { items } = await root.ok('listAudit', { query: { limit: 10 } });
    expect(items.map(({ event }) => event)).toContain('user.quota.changed');
  });

  // QUOTA-2
  test('requests at the same time do not pass it together', async () => {
    await root.ok('setUserQuota', { params: { ref: mara.ref }, body: { own_bytes: 10 * KB } });
    const begun = await Promise.all([1, 2, 3, 4, 5].map(() => begin(mara, 4 * KB)));
    expect(begun.map(({ status }) => status).sort()).toEqual([201, 201, 413, 413, 413]);
    expect(await usedBy(mara)).toBe(8 * KB);
  });
});

// QUOTA-1
test('a quota of the install holds for everyone together', async () => {
  const { used_bytes } = await root.ok('getQuotas');
  await root.ok('setQuotas', { body: { person_bytes: null, install_bytes: used_bytes + 3 * KB } });
  expect((await begin(mara, 2 * KB)).status).toBe(201);
  const { status, error } = await begin(other, 2 * KB);
  expect([status, error]).toEqual([413, expect.stringContaining('the library may store')]);
  expect((await other.refused('createAsset', { body: formOf(bytesOf(2 * KB)) })).status).toBe(413);
  expect((await root.ok('getQuotas')).used_bytes).toBe(used_bytes + 2 * KB);
});
