import type { Post } from '@vitrine/contract/posts';
import type { Visibility } from '@vitrine/contract/values';
import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, everyPage, grant, lasting, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, everyCollection, expire } from './shelves.ts';

let library: Library;
let mara: Account;
let post: Post;
let callers: Record<string, Visitor>;
let expected: Record<Visibility, string[]>;

const visibilities: Visibility[] = ['public', 'private', 'org-only', 'followers', 'explicit-share'];

beforeAll(async () => {
  library = await openLibrary();
  mara = await arrive(library, 'mara');
  const [stranger, follower, followed, sharee, teammate, editor, powers, root] = await Promise.all(
    ['stranger', 'follower', 'followed', 'sharee', 'teammate', 'editor', 'powers', 'root'].map((name) =>
      arrive(library, name, name === 'root' ? 'admin' : 'member'),
    ),
  );
  if (!stranger || !follower || !followed || !sharee || !teammate || !editor || !powers || !root)
    throw new Error('somebody is missing');
  await follower.ok('followUser', { params: { ref: mara.ref } });
  await mara.ok('followUser', { params: { ref: followed.ref } });
  // Following somebody else opens nothing of hers.
  await stranger.ok('followUser', { params: { ref: sharee.ref } });
  const team = await addTeam(library, 'studio', [mara, teammate]);
  await grant(library, editor, 'posts.admin');
  for (const capability of ['assets.admin', 'content.read.all', 'share.grant', 'teams.write'] as const)
    await grant(library, powers, capability);
  await grant(library, teammate, 'system.admin', team);
  post = await publish(mara, [await upload(mara, plainFile())], { visibility: 'public', team_id: team });
  callers = {
    anonymous: library.anonymous(),
    stranger,
    follower,
    followed,
    sharee,
    teammate,
    editor,
    powers,
    root,
    mara,
    mask: await actAs(library, root, mara),
    'mask of sharee': await actAs(library, root, sharee),
    'token to read': await bearer(library, mara, ['read']),
    'token of sharee': await bearer(library, sharee, ['read']),
  };
  const signedIn = Object.keys(callers).filter((name) => name !== 'anonymous');
  const own = ['root', 'mara', 'mask', 'token to read'];
  expected = {
    public: Object.keys(callers),
    'org-only': signedIn,
    followers: ['follower', ...own],
    'explicit-share': ['sharee', 'mask of sharee', 'token of sharee', ...own],
    private: own,
  };
});

/** A collection of mara's, shared with sharee whatever its visibility. */
async function made(visibility: Visibility): Promise<string> {
  const sharee = (await callers.sharee?.ok('getMe'))?.ref ?? 0;
  const { id } = await collect(mara, `for ${visibility}`, [post], { visibility });
  await mara.ok('putCollectionShare', { params: { id, user_ref: sharee } });
  return id;
}

/** Whether somebody opens a collection, by every door that would show it; all of them agree. */
async function opens(who: Visitor, id: string): Promise<boolean> {
  const single = await who.send(`/collections/${id}`);
  const missing = await who.send(`/collections/${nowhere}`);
  const opened = single.status === 200;
  if (!opened) expect(lasting(single)).toEqual(lasting(missing));
  const doors = [
    (await who.send(`/collections/${id}/posts`)).status === 200,
    (await everyCollection(who, { limit: 200 })).some((one) => one.id === id),
    (await everyCollection(who, { owner_ref: mara.ref })).some((one) => one.id === id),
    (await everyCollection(who, { containing: post.id })).some((one) => one.id === id),
    (await everyCollection(who, { q: 'for' })).some((one) => one.id === id),
    (await everyPage(who, { collection: id })).flat().includes(post.id),
  ];
  expect(doors).toEqual(doors.map(() => opened));
  return opened;
}

async function openers(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, who] of Object.entries(callers)) if (await opens(who, id)) found.push(name);
  return found;
}

// COLLECTION-1
describe('who opens a collection', () => {
  // COLLECTION-1
  test.each(visibilities)('of visibility %s, in public mode', async (visibility) => {
    await library.setPublicMode(true);
    const id = await made(visibility);
    expect((await openers(id)).sort()).toEqual([...expected[visibility]].sort());
  });

  // COLLECTION-1
  test('without a word about it, is everybody signed in', async () => {
    expect((await collect(mara, 'without')).visibility).toBe('org-only');
  });

  test('out of public mode, an anonymous visitor is sent to sign in, whatever they ask for', async () => {
    await library.setPublicMode(false);
    const id = await made('public');
    const anonymous = library.anonymous();
    for (const path of [
      '/collections',
      `/collections/${id}`,
      `/collections/${id}/posts`,
      `/posts?collection=${id}`,
    ])
      expect([path, (await anonymous.send(path)).status]).toEqual([path, 401]);
    await library.setPublicMode(true);
    expect(await opens(anonymous, id)).toBe(true);
  });

  // COLLECTION-3
  test('once it has expired, is its owner and system.admin alone', async () => {
    for (const visibility of ['public', 'explicit-share'] as const) {
      const id = await made(visibility);
      await expire(library, id);
      expect((await openers(id)).sort()).toEqual(['mara', 'mask', 'root', 'token to read']);
    }
  });

  test('in the trash, is nobody', async () => {
    const id = await made('public');
    await mara.ok('deleteCollection', { params: { id }, body: undefined });
    expect(await openers(id)).toEqual([]);
  });

  // COLLECTION-17
  test('follows a share and its end, a follow and its end', async () => {
    const late = await arrive(library, 'late');
    const shared = await made('explicit-share');
    const followed = await made('followers');
    expect([await opens(late, shared), await opens(late, followed)]).toEqual([false, false]);
    await mara.ok('putCollectionShare', { params: { id: shared, user_ref: late.ref } });
    await late.ok('followUser', { params: { ref: mara.ref } });
    expect([await opens(late, shared), await opens(late, followed)]).toEqual([true, true]);
    await mara.ok('deleteCollectionShare', { params: { id: shared, user_ref: late.ref } });
    await late.ok('unfollowUser', { params: { ref: mara.ref } });
    expect([await opens(late, shared), await opens(late, followed)]).toEqual([false, false]);
  });

  test('a share of a post in it opens no collection', async () => {
    const late = await arrive(library, 'sharee of a post');
    const { id } = await collect(mara, 'for private', [post], { visibility: 'private' });
    await mara.ok('putShare', { params: { id: post.id, user_ref: late.ref } });
    expect(await opens(late, id)).toBe(false);
  });
});

// COLLECTION-2
describe('who changes a collection: its owner and system.admin, and no code of a team or of posts', () => {
  const acts = (id: string, ref: number): [string, string, unknown][] => [
    ['PATCH', `/collections/${id}`, { description: 'changed' }],
    ['PUT', `/collections/${id}/posts/${post.id}`, undefined],
    ['PUT', `/collections/${id}/order`, { post_id: post.id, before: null }],
    ['DELETE', `/collections/${id}/posts/${nowhere}`, undefined],
    ['GET', `/collections/${id}/shares`, undefined],
    ['PUT', `/collections/${id}/shares/${ref}`, undefined],
    ['GET', `/collections/${id}/shares/${ref}`, undefined],
    ['DELETE', `/collections/${id}/shares/${ref}`, undefined],
    ['DELETE', `/collections/${id}`, undefined],
  ];

  async function statuses(who: Visitor, id: string, only?: string): Promise<number[]> {
    const found: number[] = [];
    for (const [method, path, body] of acts(id, mara.ref)) {
      if (only !== undefined && method !== only) continue;
      found.push((await who.send(path, { method, body })).status);
    }
    return found;
  }

  const done = [200, 204, 204, 204, 200, 201, 200, 204, 204];

  test.each(['mara', 'root', 'mask'])('%s does', async (name) => {
    expect(await statuses(callers[name] ?? mara, await made('private'))).toEqual(done);
  });

  test.each(['stranger', 'follower', 'sharee', 'teammate', 'editor', 'powers'])(
    '%s does not: 403 for what they open, 404 for what they do not',
    async (name) => {
      const who = callers[name] ?? library.anonymous();
      const before = await mara.ok('getCollection', { params: { id: await made('public') } });
      expect(await statuses(who, before.id)).toEqual(done.map(() => 403));
      expect(await mara.ok('getCollection', { params: { id: before.id } })).toEqual(before);
      expect(await statuses(who, await made('private'))).toEqual(done.map(() => 404));
      const over = await made('public');
      await expire(library, over);
      expect(await statuses(who, over)).toEqual(done.map(() => 404));
    },
  );

  test('nobody without an account, in public mode too', async () => {
    const id = await made('public');
    expect(await statuses(library.anonymous(), id)).toEqual(done.map(() => 401));
    const body = { name: 'mine' };
    expect((await library.anonymous().refused('createCollection', { body })).status).toBe(401);
  });

  // COLLECTION-2
  test('a token with the scope posts.write, and none without it', async () => {
    const id = await made('private');
    const reader = callers['token to read'] ?? mara;
    expect(await statuses(reader, id, 'GET')).toEqual([200, 404]);
    for (const method of ['PATCH', 'PUT', 'DELETE'])
      expect(new Set(await statuses(reader, id, method))).toEqual(new Set([403]));
    expect((await reader.refused('createCollection', { body: { name: 'x' } })).status).toBe(403);
    const writer = await bearer(library, mara, ['posts.write']);
    expect((await writer.refused('getCollection', { params: { id } })).status).toBe(403);
    expect((await writer.refused('listCollections')).status).toBe(403);
    const made2 = await writer.ok('createCollection', { body: { name: 'by a script' } });
    expect(made2.owner_user_ref).toBe(mara.ref);
    expect(await statuses(writer, id, 'DELETE')).toEqual([204, 404, 204]);
  });

  // COLLECTION-3
  test('an owner whose collection expired still changes it, and brings it back', async () => {
    const id = await made('public');
    await expire(library, id);
    const body = { clear_expires_at: true };
    expect((await mara.ok('updateCollection', { params: { id }, body })).expires_at).toBe(null);
    expect(await opens(library.anonymous(), id)).toBe(true);
  });
});

// COLLECTION-4
describe('POST /collections is for who holds collections.create', () => {
  test('a member does, a viewer does not, until it is granted to them', async () => {
    const viewer = await arrive(library, 'viewer', 'viewer');
    expect(await viewer.refused('createCollection', { body: { name: 'x' } })).toEqual({
      status: 403,
      error: 'missing capability collections.create',
    });
    await grant(library, viewer, 'collections.create');
    const made = await viewer.ok('createCollection', { body: { name: 'x' } });
    expect(made.owner_user_ref).toBe(viewer.ref);
  });

  test('a viewer fills and deletes what they had made before it was taken from them', async () => {
    const viewer = await arrive(library, 'once a member', 'member');
    const { id } = await collect(viewer, 'kept');
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: viewer.ref, capability: 'collections.create' })
      .execute();
    expect((await viewer.refused('createCollection', { body: { name: 'y' } })).status).toBe(403);
    await viewer.ok('addToCollection', { params: { id, post_id: post.id } });
    await viewer.ok('deleteCollection', { params: { id }, body: undefined });
  });
});

// IDENTITY-3
describe('the owner as a person', () => {
  // IDENTITY-3
  test('is not told to anonymous visitors when they hide, and to everybody else', async () => {
    const hidden = await arrive(library, 'hidden');
    const { id } = await collect(hidden, 'hidden one', [], { visibility: 'public' });
    await hidden.ok('updateUser', { params: { ref: hidden.ref }, body: { hide_from_anonymous: true } });
    const seen = await library.anonymous().ok('getCollection', { params: { id } });
    expect([seen.owner, seen.owner_user_ref]).toEqual([undefined, hidden.ref]);
    const known = await mara.ok('getCollection', { params: { id } });
    expect(known.owner).toMatchObject({ ref: hidden.ref, username: 'hidden' });
  });
});
