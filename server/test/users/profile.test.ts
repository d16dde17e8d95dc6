import type { BodyOf } from '@vitrine/contract/operation';
import type { updateUser } from '@vitrine/contract/users';
import { sql, type Updateable } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Tables } from '../../src/platform/database/tables.ts';
import { comparable, type Visitor } from '../support/client.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { actAs, grant, nowhere, withdrawGrants } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

type Edit = BodyOf<typeof updateUser>;

const UNKNOWN_USER = 999_999;

const library = await openLibrary();
const mara = await library.join('Mara');
const ines = await library.join('ines', 'viewer');
const root = await library.join('root', 'admin');

async function setColumns({ ref }: Account, columns: Updateable<Tables['users']>): Promise<void> {
  await library.deps.db.updateTable('users').set(columns).where('ref', '=', ref).execute();
}

const blank = {
  display_name: null,
  fullname: null,
  email: null,
  bio: '',
  avatar_asset_id: null,
  banner_asset_id: null,
  hide_from_anonymous: false,
};

const profileOf = (visitor: Visitor, { ref }: { ref: number }) => visitor.ok('getUser', { params: { ref } });
const edit = (visitor: Visitor, { ref }: { ref: number }, body: Edit) =>
  visitor.ok('updateUser', { params: { ref }, body });
const editRefused = async (visitor: Visitor, { ref }: { ref: number }, body: Edit) =>
  (await visitor.refused('updateUser', { params: { ref }, body })).status;

// USER-1
describe('a profile', () => {
  beforeEach(() => setColumns(mara, { ...blank, fullname: 'Mara Lind', bio: 'Photographs ice.' }));
  afterEach(() => library.setPublicMode(false));

  // USER-1
  test('is found by ref and by username in any case', async () => {
    const profile = await profileOf(ines, mara);
    expect(profile).toEqual({
      ref: mara.ref,
      username: 'Mara',
      display_name: 'Mara Lind',
      fullname: 'Mara Lind',
      bio: 'Photographs ice.',
      avatar_url: null,
      banner_asset_id: null,
      links: [],
      pinned_post_ids: [],
      created_at: expect.any(String),
      follower_count: 0,
      following_count: 0,
    });
    for (const username of ['Mara', 'mara', 'MARA'])
      expect(await ines.ok('getUserByUsername', { params: { username } })).toEqual(profile);
    const zoe = await library.join('Zoë/Ångström ?#%');
    for (const username of ['Zoë/Ångström ?#%', 'ZOË/ÅNGSTRÖM ?#%'])
      expect((await ines.ok('getUserByUsername', { params: { username } })).ref).toBe(zoe.ref);
  });

  // USER-2
  test('has no full name for anonymous callers, and is 404 for them if the account hides from visitors', async () => {
    await setColumns(mara, { hide_from_anonymous: true });
    await library.setPublicMode(true);
    const nobody = library.anonymous();
    const missing = comparable(await nobody.send(`/users/${UNKNOWN_USER}`));
    expect(missing.status).toBe(404);
    for (const path of [`/users/${mara.ref}`, '/users/by-username/Mara', '/users/by-username/no-such-name'])
      expect(comparable(await nobody.send(path))).toEqual(missing);
    expect((await profileOf(ines, mara)).ref).toBe(mara.ref);
    await setColumns(mara, { hide_from_anonymous: false });
    for (const path of [`/users/${mara.ref}`, '/users/by-username/mARA']) {
      const { text } = await nobody.send(path);
      expect(JSON.parse(text)).toMatchObject({ ref: mara.ref, display_name: 'Mara' });
      for (const secret of ['fullname', 'Lind']) expect(text).not.toContain(secret);
    }
  });
});

describe('PATCH /users/{ref}', () => {
  beforeEach(() => setColumns(mara, blank));

  const full = {
    display_name: 'Marlin',
    bio: 'Photographs ice.',
    fullname: 'Mara Lind',
    email: 'mara@example.org',
    hide_from_anonymous: true,
  };
  const stored = () => mara.ok('getAccountProfile');

  // USER-3
  test('changes the own profile and returns it', async () => {
    const answer = await edit(mara, mara, full);
    expect(answer).toMatchObject({ display_name: 'Marlin', bio: full.bio, fullname: 'Mara Lind' });
    expect(answer).toEqual(await profileOf(ines, mara));
    expect(await stored()).toMatchObject(full);
  });

  // HTTP-17
  test('ignores absent and null properties, and accepts an empty `bio`', async () => {
    await edit(mara, mara, full);
    await edit(mara, mara, {});
    await edit(mara, mara, Object.fromEntries(Object.keys(full).map((property) => [property, null])));
    expect(await stored()).toMatchObject(full);
    await edit(mara, mara, { bio: '', hide_from_anonymous: false });
    expect(await stored()).toMatchObject({ ...full, bio: '', hide_from_anonymous: false });
  });

  // HTTP-17
  test('`clear_*` removes only its own value', async () => {
    for (const column of ['display_name', 'fullname', 'email'] as const) {
      await edit(mara, mara, full);
      await edit(mara, mara, { [`clear_${column}`]: false });
      expect(await stored()).toMatchObject(full);
      await edit(mara, mara, { [`clear_${column}`]: true });
      expect(await stored()).toMatchObject({ ...full, [column]: null });
    }
  });

  // HTTP-17
  test('`clear_*` beside its value is 400 and changes nothing', async () => {
    const id = nowhere;
    for (const body of [
      { clear_display_name: true, display_name: 'x', bio: 'changed' },
      { clear_fullname: true, fullname: 'x', bio: 'changed' },
      { clear_email: true, email: 'x@y', bio: 'changed' },
      { clear_avatar: true, avatar_asset_id: id, bio: 'changed' },
      { clear_banner: true, banner_asset_id: id, bio: 'changed' },
    ]) {
      expect(await editRefused(mara, mara, body)).toBe(400);
    }
    expect(await stored()).toMatchObject(blank);
    await edit(mara, mara, { clear_email: true, email: null, clear_fullname: false, fullname: 'Mara Lind' });
    expect(await stored()).toMatchObject({ ...blank, fullname: 'Mara Lind' });
  });

  test('takes values at their limits, and refuses blank texts and malformed addresses with 400', async () => {
    const at = (length: number) => `${'x'.repeat(length - 2)}@y`;
    for (const body of [
      { display_name: 'x'.repeat(100), bio: 'x'.repeat(5000), fullname: 'x'.repeat(200), email: at(320) },
      { display_name: '李小龍 \u{1f9ca}', email: 'a@b' },
    ]) {
      await edit(mara, mara, body);
      expect(await stored()).toMatchObject(body);
    }
    const before = await stored();
    for (const body of [
      { display_name: ' \t ' },
      { fullname: '   ' },
      { email: 'a' },
      { email: 'no address' },
      { email: 'a b@c' },
      { email: 'a@b@c' },
      { username: 'Other' },
      { role: 'admin' },
    ])
      expect([body, await mara.status('PATCH', `/users/${mara.ref}`, body)]).toEqual([body, 400]);
    expect(await stored()).toEqual(before);
  });

  // USER-3, ROLE-10
  test('needs `users.write` for another account, which must not hold more than the caller', async () => {
    const manager = await library.join('manager');
    expect(await manager.refused('updateUser', { params: { ref: mara.ref }, body: { bio: 'x' } })).toEqual({
      status: 403,
      error: 'missing capability users.write',
    });
    expect(await editRefused(manager, { ref: UNKNOWN_USER }, { bio: 'x' })).toBe(403);
    await grant(library, manager, 'users.write');
    expect((await edit(manager, mara, { bio: 'Written for her.' })).bio).toBe('Written for her.');
    expect(await editRefused(manager, { ref: UNKNOWN_USER }, { bio: 'x' })).toBe(404);
    expect(await editRefused(manager, root, { email: 'taken@over.example' })).toBe(403);
    await grant(library, mara, 'jobs.read');
    expect(await editRefused(manager, mara, { bio: 'x' })).toBe(403);
    await withdrawGrants(library, mara);
    expect((await edit(await actAs(library, root, mara), mara, { bio: 'by a mask' })).bio).toBe('by a mask');
  });
});

// USER-4
test('a picture becomes the avatar at the moment at which it is rendered', async () => {
  await setColumns(mara, blank);
  const { id, file_hash } = await upload(mara, await jpeg(61, 40));
  const { db } = library.deps;
  const rendering = await db.startTransaction().execute();
  await sql`update files set renditions = '{"col": {}}' where hash = ${file_hash}`.execute(rendering);
  await sql`update assets set processing_status = 'ready' where id = ${id}`.execute(rendering);
  const editing = edit(mara, mara, { avatar_asset_id: id });
  expect(await comeToWait(db)).toBe(true);
  await rendering.commit().execute();
  expect((await editing).avatar_url).toContain(id);
  await setColumns(mara, blank);
});

// IDENTITY-7, USER-4, ASSET-41
test('an avatar is an own public picture and can be removed', async () => {
  await setColumns(mara, blank);
  const { id } = await upload(mara, await jpeg(60, 40));
  await library.runJobs();
  const shown = await edit(mara, mara, { avatar_asset_id: id });
  const avatar_url = `/api/v1/assets/${id}/variants/col`;
  expect(shown.avatar_url).toBe(avatar_url);
  expect((await profileOf(ines, mara)).avatar_url).toBe(avatar_url);
  expect(await mara.ok('getAccountProfile')).toMatchObject({ avatar_asset_id: id, avatar_url });
  const listed = async (query: { owner_ref?: number }) => {
    const { items } = await ines.ok('listAssets', { query });
    const { total } = await ines.ok('countAssets', { query });
    return [items.some((asset) => asset.id === id), total === items.length];
  };
  expect(await listed({})).toEqual([false, true]);
  expect(await listed({ owner_ref: mara.ref })).toEqual([true, true]);
  await library.setPublicMode(true);
  expect((await profileOf(library.anonymous(), mara)).avatar_url).toBe(avatar_url);
  const bytes = await fetch(library.address + avatar_url);
  expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'image/webp']);
  await library.setPublicMode(false);
  await edit(mara, mara, { clear_avatar: true });
  expect((await profileOf(ines, mara)).avatar_url).toBeNull();
});

// IDENTITY-7
test('an avatar that not everyone may see any more is removed from the identity, and does not return', async () => {
  await setColumns(mara, blank);
  const { id } = await upload(mara, await jpeg(61, 40));
  await library.runJobs();
  const changes = [
    [{ sensitivity: 'org' }, { sensitivity: 'public' }],
    [{ mature: true }, { mature: false }],
  ] as const;
  for (const [narrower, wider] of changes) {
    await edit(mara, mara, { avatar_asset_id: id });
    await mara.ok('updateAsset', { params: { id }, body: { title: 'Face' } });
    expect((await profileOf(ines, mara)).avatar_url).toContain(id);
    await mara.ok('updateAsset', { params: { id }, body: narrower });
    expect((await profileOf(ines, mara)).avatar_url).toBeNull();
    await mara.ok('updateAsset', { params: { id }, body: wider });
    expect((await profileOf(ines, mara)).avatar_url).toBeNull();
  }
});

// USER-21
test('a banner is a picture that the caller may see, shown to those who may see it', async () => {
  await setColumns(mara, blank);
  const { id } = await upload(mara, await jpeg(64, 48), { sensitivity: 'org' });
  const secret = await upload(root, await jpeg(65, 48), { sensitivity: 'restricted' });
  const text = await upload(mara, plainFile());
  await library.runJobs();
  expect((await edit(mara, mara, { banner_asset_id: id })).banner_asset_id).toBe(id);
  expect((await profileOf(ines, mara)).banner_asset_id).toBe(id);
  expect((await mara.ok('getAccountProfile')).banner_asset_id).toBe(id);
  for (const other of [secret.id, text.id, nowhere])
    expect(await editRefused(mara, mara, { banner_asset_id: other })).toBe(404);
  await library.setPublicMode(true);
  expect((await profileOf(library.anonymous(), mara)).banner_asset_id).toBeNull();
  await library.setPublicMode(false);
  await mara.ok('updateAsset', { params: { id }, body: { sensitivity: 'restricted' } });
  expect((await profileOf(ines, mara)).banner_asset_id).toBeNull();
  await edit(mara, mara, { clear_banner: true });
  expect((await profileOf(mara, mara)).banner_asset_id).toBeNull();
});

// USER-22
test('a profile has up to ten links, which are replaced as a whole', async () => {
  const links = Array.from({ length: 10 }, (_, n) => ({
    label: `Link ${n}`,
    url: `https://example.org/${n}?a=b#c`,
  }));
  expect((await edit(mara, mara, { links })).links).toEqual(links);
  expect((await profileOf(ines, mara)).links).toEqual(links);
  const refused = [
    { label: ' ', url: 'https://example.org' },
    { label: 'x', url: 'javascript:alert(1)' },
    { label: 'x', url: 'https://name:word@example.org' },
    { label: 'x', url: 'https://a b' },
    { label: 'x', url: 'ftp://example.org' },
  ];
  for (const link of refused)
    expect([link, await editRefused(mara, mara, { links: [link] })]).toEqual([link, 400]);
  expect(await editRefused(mara, mara, { links: [...links, { label: 'x', url: 'http://x' }] })).toBe(400);
  expect((await edit(mara, mara, { links: [] })).links).toEqual([]);
});

// USER-16
test('GET /account/profile returns the own account with its private data', async () => {
  const given = { fullname: 'Mara Lind', email: 'mara@example.org' };
  await setColumns(mara, { ...blank, ...given });
  const own = {
    ...blank,
    ...given,
    ref: mara.ref,
    username: 'Mara',
    pending_email: null,
    avatar_url: null,
    links: [],
    provider: 'password',
    created_at: expect.any(String),
  };
  for (const visitor of [mara, await actAs(library, root, mara)])
    expect(await visitor.ok('getAccountProfile')).toEqual(own);
});
