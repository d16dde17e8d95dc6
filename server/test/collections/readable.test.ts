import type { Post } from '@vitrine/contract/posts';
import type { Visibility } from '@vitrine/contract/values';
import { beforeAll, describe, expect, test } from 'vitest';
import { arrive, everyPage, grant, lasting, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, everyCollection, expire } from './shelves.ts';

/** The access matrix (server/test/access) shows who opens and edits collections; these tests show what changes it. */

let library: Library;
let mara: Account;
let stranger: Account;
let sharee: Account;
let root: Account;
let post: Post;

beforeAll(async () => {
  library = await openLibrary();
  [mara, stranger, sharee, root] = await Promise.all([
    arrive(library, 'mara'),
    arrive(library, 'stranger'),
    arrive(library, 'sharee'),
    arrive(library, 'root', 'admin'),
  ]);
  post = await publish(mara, [await upload(mara, plainFile())], { visibility: 'public' });
});

/** A collection of mara's, shared with sharee whatever its visibility. */
async function made(visibility: Visibility): Promise<string> {
  const { id } = await collect(mara, `for ${visibility}`, [post], { visibility });
  await mara.ok('putCollectionShare', { params: { id, user_ref: sharee.ref } });
  return id;
}

/** Returns whether a caller opens a collection; fails unless all lists agree. */
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

// COLLECTION-1
describe('who opens a collection', () => {
  // COLLECTION-1
  test('every signed-in caller by default', async () => {
    expect((await collect(mara, 'without')).visibility).toBe('org-only');
  });

  // COLLECTION-1
  test('all lists agree for each caller and visibility', async () => {
    await library.setPublicMode(true);
    const [open, shared] = [await made('public'), await made('explicit-share')];
    const callers = [library.anonymous(), stranger, sharee, mara, root];
    for (const caller of callers) expect(await opens(caller, open)).toBe(true);
    const seen: boolean[] = [];
    for (const caller of callers) seen.push(await opens(caller, shared));
    expect(seen).toEqual([false, false, true, true, true]);
  });

  // COLLECTION-3
  test('an expired collection is opened only by its owner and system.admin', async () => {
    const id = await made('public');
    await expire(library, id);
    const seen: boolean[] = [];
    for (const caller of [stranger, sharee, mara, root]) seen.push(await opens(caller, id));
    expect(seen).toEqual([false, false, true, true]);
  });

  // COLLECTION-17
  test('shares, follows and their removal take effect immediately', async () => {
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

  test('a share of a post in it does not open the collection', async () => {
    const late = await arrive(library, 'sharee of a post');
    const { id } = await collect(mara, 'for private', [post], { visibility: 'private' });
    await mara.ok('putShare', { params: { id: post.id, user_ref: late.ref } });
    expect(await opens(late, id)).toBe(false);
  });
});

// COLLECTION-2
describe('who changes a collection', () => {
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

  test('its owner and system.admin; others get 403 if they may open it and 404 otherwise', async () => {
    for (const who of [mara, root]) expect(await statuses(who, await made('private'))).toEqual(done);
    const before = await mara.ok('getCollection', { params: { id: await made('public') } });
    expect(await statuses(sharee, before.id)).toEqual(done.map(() => 403));
    expect(await mara.ok('getCollection', { params: { id: before.id } })).toEqual(before);
    expect(await statuses(stranger, await made('private'))).toEqual(done.map(() => 404));
  });

  // COLLECTION-3
  test('its owner can change an expired collection and remove the expiry', async () => {
    const id = await made('public');
    await expire(library, id);
    const body = { clear_expires_at: true };
    expect((await mara.ok('updateCollection', { params: { id }, body })).expires_at).toBe(null);
    expect(await opens(library.anonymous(), id)).toBe(true);
  });
});

// COLLECTION-4
describe('POST /collections requires collections.create', () => {
  test('members hold it, viewers after a grant', async () => {
    const viewer = await arrive(library, 'viewer', 'viewer');
    expect(await viewer.refused('createCollection', { body: { name: 'x' } })).toEqual({
      status: 403,
      error: 'missing capability collections.create',
    });
    await grant(library, viewer, 'collections.create');
    const made = await viewer.ok('createCollection', { body: { name: 'x' } });
    expect(made.owner_user_ref).toBe(viewer.ref);
  });

  test('an owner without it still changes and deletes existing collections', async () => {
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
describe('the owner of a collection', () => {
  // IDENTITY-3
  test('is withheld from anonymous callers when they hide from them', async () => {
    const hidden = await arrive(library, 'hidden');
    const { id } = await collect(hidden, 'hidden one', [], { visibility: 'public' });
    await hidden.ok('updateUser', { params: { ref: hidden.ref }, body: { hide_from_anonymous: true } });
    const seen = await library.anonymous().ok('getCollection', { params: { id } });
    expect([seen.owner, seen.owner_user_ref]).toEqual([undefined, hidden.ref]);
    const known = await mara.ok('getCollection', { params: { id } });
    expect(known.owner).toMatchObject({ ref: hidden.ref, username: 'hidden' });
  });
});
