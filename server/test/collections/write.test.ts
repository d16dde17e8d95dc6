import { describe, expect, test } from 'vitest';
import { everyPost } from '../posts/people.ts';
import { auditEvents } from '../support/audit.ts';
import { comparable } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere, revoke } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, everyCollection, expire } from './shelves.ts';

const library = await openLibrary();
const [mara, ann] = await library.joinAll('mara', 'ann');
const asset = await upload(mara, plainFile());

const create = (body: unknown) => mara.send('/collections', { method: 'POST', body });
const patch = (id: string, body: unknown) => mara.send(`/collections/${id}`, { method: 'PATCH', body });
const get = (id: string) => mara.ok('getCollection', { params: { id } });

const bad: Record<string, object> = {
  'a name of blanks': { name: ' \t ' },
  'a name of two lines': { name: 'one\ntwo' },
  'a name with a bell': { name: 'ding\u0007' },
  'a name with a line separator': { name: 'a\u2028b' },
  'a name with an escape of 8 bits': { name: 'a\u009bb' },
  'an expiry in the past': { expires_at: '2020-01-01T00:00:00Z' },
  'an expiry on a day there never was': { expires_at: '2099-02-31T00:00:00Z' },
  'an expiry at a leap second': { expires_at: '2099-12-31T23:59:60Z' },
  'an expiry in a zone there is not': { expires_at: '2099-01-01T00:00:00+23:59' },
};

describe('POST /collections', () => {
  // COLLECTION-4
  test('returns 201 with the collection, which is empty and open to every signed-in caller', async () => {
    const answer = await create({ name: 'Ridges' });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toEqual({
      id: expect.any(String),
      owner_user_ref: mara.ref,
      owner: { ref: mara.ref, username: 'mara', display_name: 'mara', avatar_url: null },
      name: 'Ridges',
      description: '',
      visibility: 'org-only',
      cover_post_id: null,
      cover_focal_x: null,
      cover_focal_y: null,
      covers: [],
      item_count: 0,
      smart: false,
      has_files: false,
      expires_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  // COLLECTION-4
  test('takes a name of 200 characters of any script, a description of 20,000 and every member', async () => {
    const rest = { visibility: 'private', expires_at: '2099-01-01T00:00:00Z' } as const;
    for (const name of ['x'.repeat(200), '山'.repeat(200), '👩‍👩‍👧'.repeat(20), ' a  b ']) {
      const body = { ...rest, name, description: 'y\n'.repeat(10_000) };
      expect(await mara.ok('createCollection', { body })).toMatchObject(body);
    }
  });

  // COLLECTION-4
  test('refuses control characters in a name and an impossible expiry with 400, as a change does', async () => {
    const kept = await collect(mara, 'kept');
    const before = (await everyCollection(mara, { mine: true, limit: 200 })).length;
    for (const [name, body] of Object.entries(bad)) {
      const created = await create({ name: 'x', ...body });
      const patched = await patch(kept.id, { description: 'x', ...body });
      expect([name, created.status, patched.status]).toEqual([name, 400, 400]);
    }
    expect((await everyCollection(mara, { mine: true, limit: 200 })).length).toBe(before);
    expect(await get(kept.id)).toEqual(kept);
  });
});

describe('PATCH /collections/{id}', () => {
  test('changes the given properties; absent and null ones stay unchanged', async () => {
    const rest = { description: 'stays', visibility: 'private', expires_at: '2099-01-01T00:00:00Z' } as const;
    const { id } = await collect(mara, 'before', [], rest);
    const before = await get(id);
    const after = await mara.ok('updateCollection', { params: { id }, body: { name: 'after' } });
    expect(after).toEqual({ ...before, name: 'after', updated_at: after.updated_at });
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    const nulls = {
      name: null,
      description: null,
      visibility: null,
      expires_at: null,
      cover_post_id: null,
      cover_focal_x: null,
      cover_focal_y: null,
      if_unchanged_since: null,
    };
    for (const nothing of [nulls, {}, { clear_cover: false }])
      expect(await mara.ok('updateCollection', { params: { id }, body: nothing })).toEqual(after);
    const changes = { description: '', visibility: 'public' } as const;
    const body = { ...changes, clear_expires_at: true };
    const changed = await mara.ok('updateCollection', { params: { id }, body });
    expect(changed).toMatchObject({ ...changes, expires_at: null });
  });

  test('returns 409 with the current time if the value has changed since it was read', async () => {
    const { id, updated_at } = await collect(mara, 'raced');
    expect((await patch(id, { name: 'first', if_unchanged_since: updated_at })).status).toBe(200);
    const second = await patch(id, { name: 'second', if_unchanged_since: updated_at });
    const first = await get(id);
    expect([second.status, first.name]).toEqual([409, 'first']);
    const { text } = second;
    expect(JSON.parse(text)).toEqual({ error: 'it has changed; reload it', updated_at: first.updated_at });
  });

  // COLLECTION-13
  test('adding posts does not change updated_at, which would reveal hidden posts', async () => {
    const before = await collect(mara, 'filled');
    const post = await publish(mara, [asset]);
    await mara.ok('addToCollection', { params: { id: before.id, post_id: post.id } });
    expect((await get(before.id)).updated_at).toBe(before.updated_at);
  });
});

describe('GET /collections', () => {
  // COLLECTION-18
  test('has them newest first, in pages, each once', async () => {
    const made: string[] = [];
    const zoe = await library.join('zoe');
    for (let n = 0; n < 5; n += 1) made.unshift((await collect(zoe, `page ${n}`)).id);
    for (const limit of [2, 5, 200]) {
      const ids = (await everyCollection(ann, { owner_ref: zoe.ref, limit })).map(({ id }) => id);
      expect(ids).toEqual(made);
    }
  });

  // COLLECTION-18
  test('`mine` lists the caller’s own, `owner_ref` those of an account that the caller may open, both together the intersection', async () => {
    const kim = await library.join('kim');
    const open = await collect(kim, 'open');
    const closed = await collect(kim, 'closed', [], { visibility: 'private' });
    const ids = async (who: Account, query: object) =>
      (await everyCollection(who, query)).map(({ id }) => id);
    expect(await ids(kim, { mine: true })).toEqual([closed.id, open.id]);
    expect(await ids(ann, { owner_ref: kim.ref })).toEqual([open.id]);
    expect(await ids(ann, { owner_ref: kim.ref, mine: true })).toEqual([]);
    expect(await ids(ann, { owner_ref: 404_000 })).toEqual([]);
    await library.setPublicMode(true);
    expect((await library.anonymous().ok('listCollections', { query: { mine: true } })).items).toEqual([]);
    await library.setPublicMode(false);
  });

  test('`q` matches part of a name literally, ignoring case', async () => {
    const names = ['100% Wool', 'snake_case', 'back\\slash', 'Überblick'];
    for (const name of names) await collect(ann, name);
    const found = async (q: string) =>
      (await everyCollection(mara, { q, owner_ref: ann.ref })).map(({ name }) => name);
    expect(await found('0% w')).toEqual(['100% Wool']);
    expect(await found('%')).toEqual(['100% Wool']);
    expect(await found('_')).toEqual(['snake_case']);
    expect(await found('\\')).toEqual(['back\\slash']);
    expect(await found('über')).toEqual(['Überblick']);
    expect(await found(' wool ')).toEqual(['100% Wool']);
    expect(await found('nothing of the kind')).toEqual([]);
  });
});

describe('GET, PUT and DELETE /collections/{id}/shares/{user_ref}', () => {
  // COLLECTION-17
  test('is 201 when created, 200 when repeated, 204 when deleted, and then 404', async () => {
    const { id } = await collect(mara, 'shared', [], { visibility: 'explicit-share' });
    const path = `/collections/${id}/shares/${ann.ref}`;
    const send = (method: string) => mara.send(path, { method });
    expect((await send('GET')).status).toBe(404);
    const [first, again] = [await send('PUT'), await send('PUT')];
    expect([first.status, again.status, again.text]).toEqual([201, 200, first.text]);
    expect(JSON.parse(first.text)).toEqual({
      user_ref: ann.ref,
      user: { ref: ann.ref, username: 'ann', display_name: 'ann', avatar_url: null },
      created_at: expect.any(String),
    });
    const { items } = await mara.ok('listCollectionShares', { params: { id } });
    expect(items).toEqual([JSON.parse(first.text)]);
    expect([(await send('DELETE')).status, (await send('DELETE')).status]).toEqual([204, 404]);
    const row = { actor_user_ref: mara.ref, subject_user_ref: ann.ref, target_kind: 'collection' };
    expect(await auditEvents(library, { target_id: id })).toMatchObject([
      { ...row, event: 'collection.shared' },
      { ...row, event: 'collection.unshared' },
    ]);
  });

  test('paginates by account, and rejects unknown accounts', async () => {
    const { id } = await collect(mara, 'shared with many');
    const people = await Promise.all(['p1', 'p2', 'p3'].map((name) => library.join(name)));
    for (const { ref } of people) await mara.ok('putCollectionShare', { params: { id, user_ref: ref } });
    const list = (query: object) => mara.ok('listCollectionShares', { params: { id }, query });
    const pages = await pagesOf((from) => list({ limit: 2, ...from }));
    const [first = 0, second = 0, third = 0] = people.map(({ ref }) => ref).sort((a, b) => a - b);
    expect(pages).toMatchObject([[{ user_ref: first }, { user_ref: second }], [{ user_ref: third }]]);
    expect(await mara.refused('putCollectionShare', { params: { id, user_ref: 404_000 } })).toEqual({
      status: 404,
      error: 'user not found',
    });
  });

  // COLLECTION-1, COLLECTION-17
  test('open the collection immediately, as follows do, in every list; sharees may not pass it on or delete it', async () => {
    const late = await library.join('late');
    const post = await publish(mara, [asset], { visibility: 'public' });
    /** Returns whether the caller opens a collection; all operations agree. */
    const opens = async (id: string) => {
      const single = await late.send(`/collections/${id}`);
      if (single.status !== 200)
        expect(comparable(single)).toEqual(comparable(await late.send(`/collections/${nowhere}`)));
      const lists = await Promise.all([
        everyCollection(late, { limit: 200 }),
        everyCollection(late, { owner_ref: mara.ref }),
        everyCollection(late, { containing: post.id }),
        everyCollection(late, { q: 'opened' }),
      ]);
      const seen = [
        (await late.status('GET', `/collections/${id}/posts`)) === 200,
        (await everyPost(late, { collection: id })).includes(post.id),
        ...lists.map((list) => list.some((one) => one.id === id)),
      ];
      expect(seen).toEqual(seen.map(() => single.status === 200));
      return single.status === 200;
    };
    const { id } = await collect(mara, 'opened by shares', [post], { visibility: 'explicit-share' });
    const followed = await collect(mara, 'opened by follows', [post], { visibility: 'followers' });
    // A share of a post in it does not open the collection.
    await mara.ok('putShare', { params: { id: post.id, user_ref: late.ref } });
    expect([await opens(id), await opens(followed.id)]).toEqual([false, false]);
    const share = { params: { id, user_ref: late.ref } };
    await mara.ok('putCollectionShare', share);
    await late.ok('followUser', { params: { ref: mara.ref } });
    expect([await opens(id), await opens(followed.id)]).toEqual([true, true]);
    expect((await late.refused('listCollectionShares', { params: { id } })).status).toBe(403);
    expect((await late.refused('putCollectionShare', share)).status).toBe(403);
    expect((await late.refused('deleteCollection', { params: { id }, body: undefined })).status).toBe(403);
    await mara.ok('deleteCollectionShare', share);
    await late.ok('unfollowUser', { params: { ref: mara.ref } });
    expect([await opens(id), await opens(followed.id)]).toEqual([false, false]);
  });
});

// COLLECTION-2, COLLECTION-3
test('an owner changes an expired collection and removes the expiry, also without collections.create', async () => {
  const owner = await library.join('once a member');
  const { id } = await collect(owner, 'expired');
  await expire(library, id);
  await revoke(library, owner, 'collections.create');
  expect((await owner.refused('createCollection', { body: { name: 'y' } })).status).toBe(403);
  expect((await ann.refused('getCollection', { params: { id } })).status).toBe(404);
  const body = { clear_expires_at: true };
  expect((await owner.ok('updateCollection', { params: { id }, body })).expires_at).toBe(null);
  expect((await ann.ok('getCollection', { params: { id } })).name).toBe('expired');
  await owner.ok('deleteCollection', { params: { id }, body: undefined });
});
