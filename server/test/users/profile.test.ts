import type { BodyOf } from '@vitrine/contract/operation';
import type { updateUser } from '@vitrine/contract/users';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { comparable, type Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { bearer, grant, withdrawGrants } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

type Edit = BodyOf<typeof updateUser>;

const UNKNOWN_USER = 999_999;

let library: Library;
let mara: Account;
let ines: Account;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('Mara');
  ines = await library.join('ines', 'viewer');
  root = await library.join('root', 'admin');
});

type Columns = Partial<Record<'display_name' | 'fullname' | 'email' | 'avatar_asset_id', string | null>> & {
  bio?: string;
  hide_from_anonymous?: boolean;
};

async function setColumns({ ref }: Account, columns: Columns): Promise<void> {
  await library.deps.db.updateTable('users').set(columns).where('ref', '=', ref).execute();
}

const blank = {
  display_name: null,
  fullname: null,
  email: null,
  bio: '',
  avatar_asset_id: null,
  hide_from_anonymous: false,
};

const profileOf = (visitor: Visitor, { ref }: { ref: number }) => visitor.ok('getUser', { params: { ref } });
const edit = (visitor: Visitor, { ref }: { ref: number }, body: Edit) =>
  visitor.ok('updateUser', { params: { ref }, body });
const editRefused = async (visitor: Visitor, { ref }: { ref: number }, body: Edit) =>
  (await visitor.refused('updateUser', { params: { ref }, body })).status;

/** An administrator who acts as this account. */
async function mask(account: Account): Promise<Visitor> {
  const admin = await library.join(`mask of ${account.username} ${Math.random()}`, 'admin');
  await admin.ok('impersonate', { params: { ref: account.ref }, body: {} });
  return admin;
}

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
      created_at: expect.any(String),
      follower_count: 0,
      following_count: 0,
    });
    for (const username of ['Mara', 'mara', 'MARA']) {
      expect(await ines.ok('getUserByUsername', { params: { username } })).toEqual(profile);
    }
  });

  test('is found by a username with a slash or letters beyond ASCII', async () => {
    const zoe = await library.join('Zoë/Ångström ?#%');
    for (const username of ['Zoë/Ångström ?#%', 'ZOË/ÅNGSTRÖM ?#%']) {
      expect((await ines.ok('getUserByUsername', { params: { username } })).ref).toBe(zoe.ref);
    }
  });

  // USER-1, USER-2
  test.each([
    [{ display_name: 'Marlin', fullname: 'Mara Lind' }, 'Marlin', 'Marlin'],
    [{ display_name: null, fullname: 'Mara Lind' }, 'Mara Lind', 'Mara'],
    [{ display_name: '  ', fullname: 'Mara Lind' }, 'Mara Lind', 'Mara'],
    [{ display_name: null, fullname: ' ' }, 'Mara', 'Mara'],
    [{ display_name: null, fullname: null }, 'Mara', 'Mara'],
  ])('%j shows %j to the signed-in and %j to anonymous callers', async (columns, signedIn, anonymous) => {
    await setColumns(mara, columns);
    await library.setPublicMode(true);
    for (const visitor of [ines, mara, root, await bearer(library, ines, ['read']), await mask(ines)]) {
      const profile = await profileOf(visitor, mara);
      expect(profile.display_name).toBe(signedIn);
      expect(profile.fullname).toBe(columns.fullname);
    }
    for (const path of [`/users/${mara.ref}`, '/users/by-username/mARA']) {
      const { text } = await library.anonymous().send(path);
      expect(JSON.parse(text)).toMatchObject({ ref: mara.ref, display_name: anonymous });
      expect(text).not.toContain('fullname');
      expect(text).not.toContain('Lind');
    }
  });

  // USER-2
  test('of a hidden account is the same 404 as a missing one for anonymous callers', async () => {
    await setColumns(mara, { hide_from_anonymous: true });
    await library.setPublicMode(true);
    const nobody = library.anonymous();
    const missing = comparable(await nobody.send(`/users/${UNKNOWN_USER}`));
    expect(missing.status).toBe(404);
    expect(comparable(await nobody.send(`/users/${mara.ref}`))).toEqual(missing);
    expect(comparable(await nobody.send('/users/by-username/Mara'))).toEqual(missing);
    expect(comparable(await nobody.send('/users/by-username/no-such-name'))).toEqual(missing);
    expect((await profileOf(ines, mara)).ref).toBe(mara.ref);
    await setColumns(mara, { hide_from_anonymous: false });
    expect((await profileOf(nobody, mara)).ref).toBe(mara.ref);
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
    await edit(mara, mara, {
      display_name: null,
      bio: null,
      fullname: null,
      email: null,
      hide_from_anonymous: null,
      avatar_asset_id: null,
    });
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
    const id = '00000000-0000-4000-8000-00000000aaaa';
    for (const body of [
      { clear_display_name: true, display_name: 'x', bio: 'changed' },
      { clear_fullname: true, fullname: 'x', bio: 'changed' },
      { clear_email: true, email: 'x@y', bio: 'changed' },
      { clear_avatar: true, avatar_asset_id: id, bio: 'changed' },
    ]) {
      expect(await editRefused(mara, mara, body)).toBe(400);
    }
    expect(await stored()).toMatchObject(blank);
    await edit(mara, mara, { clear_email: true, email: null, clear_fullname: false, fullname: 'Mara Lind' });
    expect(await stored()).toMatchObject({ ...blank, fullname: 'Mara Lind' });
  });

  const at = (length: number) => `${'x'.repeat(length - 2)}@y`;

  test.each([
    { display_name: 'x'.repeat(100) },
    { bio: 'x'.repeat(5000) },
    { fullname: 'x'.repeat(200) },
    { email: at(320) },
    { email: 'a@b' },
    { display_name: '李小龍 \u{1f9ca}' },
  ])('takes a value at its limit %#', async (body) => {
    await edit(mara, mara, body);
    expect(await stored()).toMatchObject(body);
  });

  test.each([
    { display_name: ' \t ' },
    { fullname: '   ' },
    { email: at(321) },
    { email: 'a' },
    { email: 'no address' },
    { email: 'a b@c' },
    { email: 'a@b@c' },
    { username: 'Other' },
    { role: 'admin' },
    { status: 'active' },
  ])('refuses %j with 400', async (body) => {
    const answer = await mara.send(`/users/${mara.ref}`, { method: 'PATCH', body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    expect(await stored()).toMatchObject({ ...blank, username: 'Mara' });
  });

  // USER-3
  test('needs `users.write` for another account', async () => {
    const manager = await library.join('manager');
    expect(await manager.refused('updateUser', { params: { ref: mara.ref }, body: { bio: 'x' } })).toEqual({
      status: 403,
      error: 'missing capability users.write',
    });
    expect(await editRefused(manager, { ref: UNKNOWN_USER }, { bio: 'x' })).toBe(403);
    await grant(library, manager, 'users.write');
    expect((await edit(manager, mara, { bio: 'Written for her.' })).bio).toBe('Written for her.');
    expect(await editRefused(manager, { ref: UNKNOWN_USER }, { bio: 'x' })).toBe(404);
  });

  // ROLE-10
  test('answers 403 for an account that may do more than the caller', async () => {
    const manager = await library.join('manager2');
    await grant(library, manager, 'users.write');
    expect(await editRefused(manager, root, { email: 'taken@over.example' })).toBe(403);
    await grant(library, mara, 'jobs.read');
    expect(await editRefused(manager, mara, { bio: 'x' })).toBe(403);
    await withdrawGrants(library, mara);
    await edit(manager, mara, { bio: 'x' });
    await edit(root, mara, { bio: 'y' });
    expect((await stored()).bio).toBe('y');
  });

  test('is 401 for anonymous callers, needs the scope `admin`, and works while impersonating', async () => {
    for (const publicMode of [true, false]) {
      await library.setPublicMode(publicMode);
      expect(await editRefused(library.anonymous(), mara, { bio: 'x' })).toBe(401);
    }
    const reader = await bearer(library, mara, ['read', 'posts.write', 'assets.write']);
    expect(await editRefused(reader, mara, { bio: 'x' })).toBe(403);
    expect((await edit(await bearer(library, mara, ['admin']), mara, { bio: 'by script' })).bio).toBe(
      'by script',
    );
    expect((await edit(await mask(mara), mara, { bio: 'behind a mask' })).bio).toBe('behind a mask');
    expect(await editRefused(await mask(mara), ines, { bio: 'x' })).toBe(403);
  });

  // USER-14
  test('records the changed properties without their values', async () => {
    await edit(root, mara, { email: 'mara@example.org', bio: 'secret' });
    const event = await library.deps.db
      .selectFrom('audit_events')
      .selectAll()
      .where('event', '=', 'user.updated')
      .orderBy('occurred_at', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    expect(event).toMatchObject({ actor_user_ref: root.ref, subject_user_ref: mara.ref });
    expect(event.metadata).toEqual({ changed: ['bio', 'email'] });
  });
});

describe('an avatar', () => {
  let picture: string;
  let hash: string;

  beforeAll(async () => {
    const asset = await upload(mara, await jpeg(300, 200));
    await library.runJobs();
    if (asset.file_hash === null) throw new Error('the upload has no hash');
    picture = asset.id;
    hash = asset.file_hash;
  });

  beforeEach(() => setColumns(mara, blank));
  afterEach(() => library.setPublicMode(false));

  // IDENTITY-7, USER-4
  test('is an own public picture and can be removed', async () => {
    const shown = await edit(mara, mara, { avatar_asset_id: picture });
    expect(shown.avatar_url).toBe(`/api/v1/assets/${picture}/variants/col`);
    expect((await profileOf(ines, mara)).avatar_url).toBe(shown.avatar_url);
    expect(await mara.ok('getAccountProfile')).toMatchObject({
      avatar_asset_id: picture,
      avatar_url: shown.avatar_url,
    });
    await library.setPublicMode(true);
    const { avatar_url } = await profileOf(library.anonymous(), mara);
    const bytes = await fetch(library.address + avatar_url);
    expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'image/webp']);
    await edit(mara, mara, { clear_avatar: true });
    expect((await profileOf(ines, mara)).avatar_url).toBeNull();
  });

  test.each([
    ['a draft', { status: 'draft' }],
    ['an archived one', { status: 'archived' }],
    ['a restricted one', { sensitivity: 'restricted' }],
    ['one for the team', { sensitivity: 'team' }],
    ['a mature one', { mature: true }],
  ] as const)('is not %s: 404', async (_, fields) => {
    const { id } = await mara.ok('createAsset', {
      body: { file_hash: hash, sensitivity: 'public', ...fields },
    });
    expect(
      await mara.refused('updateUser', { params: { ref: mara.ref }, body: { avatar_asset_id: id } }),
    ).toEqual({ status: 404, error: 'asset not found' });
    expect((await mara.ok('getAccountProfile')).avatar_asset_id).toBeNull();
  });

  // USER-4
  test('answers 404 for a deleted, missing or foreign picture', async () => {
    const { id } = await mara.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
    const deleted = { deleted_at: '2026-01-01T00:00:00Z' };
    await library.deps.db.updateTable('assets').set(deleted).where('id', '=', id).execute();
    const member = await library.join('member');
    for (const avatar_asset_id of [id, '00000000-0000-4000-8000-00000000aaaa']) {
      expect(await editRefused(mara, mara, { avatar_asset_id })).toBe(404);
    }
    expect(await editRefused(member, member, { avatar_asset_id: picture })).toBe(404);
    const own = await upload(root, await jpeg(60, 40));
    expect(await editRefused(root, mara, { avatar_asset_id: own.id })).toBe(404);
    expect((await edit(root, mara, { avatar_asset_id: picture })).avatar_url).toContain(picture);
  });

  // USER-4
  test('answers 404 for a file that is no picture', async () => {
    const text = await upload(mara, plainFile(), {}, 'note.txt');
    expect(await editRefused(mara, mara, { avatar_asset_id: text.id })).toBe(404);
  });
});

describe('following', () => {
  const follow = (visitor: Visitor, { ref }: { ref: number }) =>
    visitor.ok('followUser', { params: { ref } });
  const unfollow = (visitor: Visitor, { ref }: { ref: number }) =>
    visitor.ok('unfollowUser', { params: { ref } });
  const counts = async (account: Account) => {
    const { follower_count, following_count } = await profileOf(root, account);
    return [follower_count, following_count];
  };

  test('twice is following once, and so is the end of it', async () => {
    await Promise.all([follow(ines, mara), follow(ines, mara), follow(ines, mara)]);
    await follow(root, mara);
    expect([await counts(mara), await counts(ines)]).toEqual([
      [2, 0],
      [0, 1],
    ]);
    await unfollow(root, mara);
    await unfollow(ines, mara);
    await unfollow(ines, mara);
    expect([await counts(mara), await counts(ines)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('following oneself is 400, and an unknown account is 404', async () => {
    expect((await ines.refused('followUser', { params: { ref: ines.ref } })).status).toBe(400);
    expect((await ines.refused('followUser', { params: { ref: UNKNOWN_USER } })).status).toBe(404);
    expect((await ines.refused('unfollowUser', { params: { ref: UNKNOWN_USER } })).status).toBe(404);
    expect(await counts(ines)).toEqual([0, 0]);
  });

  test('makes posts for followers readable until it ends', async () => {
    const asset = await upload(mara, await jpeg(40, 30));
    const post = await publish(mara, [asset], { visibility: 'followers' });
    const params = { id: post.id };
    const listed = async () => (await ines.ok('listPosts')).items.map(({ id }) => id);
    expect((await ines.refused('getPost', { params })).status).toBe(404);
    await follow(ines, mara);
    expect((await ines.ok('getPost', { params })).id).toBe(post.id);
    expect(await listed()).toContain(post.id);
    await unfollow(ines, mara);
    expect((await ines.refused('getPost', { params })).status).toBe(404);
    expect(await listed()).not.toContain(post.id);
  });

  test('is 401 to anonymous callers, needs the scope `admin` of a token, and a mask follows for its wearer', async () => {
    await library.setPublicMode(true);
    const reader = await bearer(library, ines, ['read', 'posts.write']);
    for (const operation of ['followUser', 'unfollowUser'] as const) {
      const params = { ref: mara.ref };
      expect((await library.anonymous().refused(operation, { params })).status).toBe(401);
      expect((await reader.refused(operation, { params })).status).toBe(403);
    }
    await library.setPublicMode(false);
    await follow(await mask(ines), mara);
    expect([await counts(mara), await counts(ines)]).toEqual([
      [1, 0],
      [0, 1],
    ]);
    await unfollow(await bearer(library, ines, ['admin']), mara);
    expect(await counts(mara)).toEqual([0, 0]);
  });
});

describe('GET /account/profile', () => {
  // USER-16
  test('returns the own account with its private data', async () => {
    await setColumns(mara, { ...blank, fullname: 'Mara Lind', email: 'mara@example.org' });
    const own = {
      ref: mara.ref,
      username: 'Mara',
      display_name: null,
      fullname: 'Mara Lind',
      email: 'mara@example.org',
      bio: '',
      hide_from_anonymous: false,
      avatar_asset_id: null,
      avatar_url: null,
      provider: 'password',
      created_at: expect.any(String),
    };
    for (const visitor of [mara, await bearer(library, mara, ['read']), await mask(mara)]) {
      expect(await visitor.ok('getAccountProfile')).toEqual(own);
    }
  });
});
