import type { ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, describe, expect, test } from 'vitest';
import { arrive, nowhere } from '../posts/people.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { collect, everyCollection } from './shelves.ts';

let library: Library;
let mara: Account;
let ann: Account;
let asset: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ann] = await Promise.all([arrive(library, 'mara'), arrive(library, 'ann')]);
  asset = await upload(mara, plainFile());
});

const create = (body: unknown) => mara.send('/collections', { method: 'POST', body });
const patch = (id: string, body: unknown) => mara.send(`/collections/${id}`, { method: 'PATCH', body });
const get = (id: string) => mara.ok('getCollection', { params: { id } });

const badNames: [string, unknown][] = [
  ['of blanks', ' \t '],
  ['of two lines', 'one\ntwo'],
  ['with a bell', 'ding\u0007'],
  ['with a line separator', 'a\u2028b'],
  ['with an escape of 8 bits', 'a\u009bb'],
];

const badBodies: [string, unknown][] = [
  ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }],
  ['an expiry on a day there never was', { expires_at: '2099-02-31T00:00:00Z' }],
  ['an expiry at a leap second', { expires_at: '2099-12-31T23:59:60Z' }],
  ['an expiry in a zone there is not', { expires_at: '2099-01-01T00:00:00+23:59' }],
];

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
      expires_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  // COLLECTION-4
  test('takes a name of 200 characters of any script, a description of 20,000 and every member', async () => {
    for (const name of ['x'.repeat(200), '山'.repeat(200), '👩‍👩‍👧'.repeat(20), ' a  b ']) {
      const body = {
        name,
        description: 'y\n'.repeat(10_000),
        visibility: 'private' as const,
        expires_at: '2099-01-01T00:00:00Z',
      };
      expect(await mara.ok('createCollection', { body })).toMatchObject(body);
    }
  });

  // COLLECTION-4
  test.each(badNames)('a name %s is 400', async (_, name) => {
    const before = (await everyCollection(mara, { mine: true, limit: 200 })).length;
    expect((await create({ name })).status).toBe(400);
    expect((await everyCollection(mara, { mine: true, limit: 200 })).length).toBe(before);
  });

  test.each(badBodies)('%s is 400', async (_, body) => {
    expect((await create({ name: 'x', ...Object(body) })).status).toBe(400);
  });
});

describe('PATCH /collections/{id}', () => {
  test('changes the given properties; absent and null ones stay unchanged', async () => {
    const { id } = await collect(mara, 'before', [], {
      description: 'stays',
      visibility: 'private',
      expires_at: '2099-01-01T00:00:00.000Z',
    });
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
    const body = { description: '', visibility: 'public' as const, clear_expires_at: true };
    expect(await mara.ok('updateCollection', { params: { id }, body })).toMatchObject({
      description: '',
      visibility: 'public',
      expires_at: null,
    });
  });

  test.each(badNames)('a name %s is 400 and changes nothing', async (_, name) => {
    const { id } = await collect(mara, 'kept');
    expect((await patch(id, { name, description: 'new' })).status).toBe(400);
    expect(await get(id)).toMatchObject({ name: 'kept', description: '' });
  });

  test.each(badBodies)('%s is 400', async (_, body) => {
    const { id } = await collect(mara, 'kept');
    expect((await patch(id, body)).status).toBe(400);
  });

  test('returns 409 with the current time if the value has changed since it was read', async () => {
    const { id, updated_at } = await collect(mara, 'raced');
    const first = await mara.ok('updateCollection', {
      params: { id },
      body: { name: 'first', if_unchanged_since: updated_at },
    });
    const second = await patch(id, { name: 'second', if_unchanged_since: updated_at });
    expect([second.status, JSON.parse(second.text)]).toEqual([
      409,
      { error: 'it has changed; reload it', updated_at: first.updated_at },
    ]);
    expect((await get(id)).name).toBe('first');
  });

  // COLLECTION-13
  test('adding posts does not change updated_at, which would reveal hidden posts', async () => {
    const before = await collect(mara, 'filled');
    const post = await publish(mara, [asset]);
    await mara.ok('addToCollection', { params: { id: before.id, post_id: post.id } });
    expect((await get(before.id)).updated_at).toBe(before.updated_at);
  });

  test('is 404 for a missing id and 400 for a malformed one', async () => {
    expect((await patch(nowhere, { name: 'x' })).status).toBe(404);
    expect((await patch('x', { name: 'x' })).status).toBe(400);
  });
});

describe('GET /collections', () => {
  // COLLECTION-18
  test('has them newest first, in pages, each once', async () => {
    const made: string[] = [];
    const zoe = await arrive(library, 'zoe');
    for (let n = 0; n < 7; n += 1) made.unshift((await collect(zoe, `page ${n}`)).id);
    for (const limit of [1, 2, 3, 6, 7, 200]) {
      const ids = (await everyCollection(ann, { owner_ref: zoe.ref, limit })).map(({ id }) => id);
      expect(ids).toEqual(made);
    }
  });

  // COLLECTION-18
  test('`mine` lists the caller’s own, `owner_ref` those of an account that the caller may open, both together the intersection', async () => {
    const kim = await arrive(library, 'kim');
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

  // COLLECTION-18
  test('`q` does not find collections that the caller may not open', async () => {
    await collect(ann, 'secretissimo', [], { visibility: 'private' });
    expect(await everyCollection(mara, { q: 'secretissimo' })).toEqual([]);
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
    expect((await mara.ok('listCollectionShares', { params: { id } })).items).toEqual([
      JSON.parse(first.text),
    ]);
    expect([(await send('DELETE')).status, (await send('DELETE')).status]).toEqual([204, 404]);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'subject_user_ref', 'target_kind'])
      .where('target_id', '=', id)
      .orderBy('occurred_at')
      .execute();
    const row = { actor_user_ref: mara.ref, subject_user_ref: ann.ref, target_kind: 'collection' };
    expect(events).toEqual([
      { ...row, event: 'collection.shared' },
      { ...row, event: 'collection.unshared' },
    ]);
  });

  test('paginates by account, and rejects unknown accounts', async () => {
    const { id } = await collect(mara, 'shared with many');
    const people = await Promise.all(['p1', 'p2', 'p3'].map((name) => arrive(library, name)));
    for (const { ref } of people) await mara.ok('putCollectionShare', { params: { id, user_ref: ref } });
    const first = await mara.ok('listCollectionShares', { params: { id }, query: { limit: 2 } });
    const query = { limit: 2, cursor: first.next_cursor ?? '' };
    const second = await mara.ok('listCollectionShares', { params: { id }, query });
    const refs = [...first.items, ...second.items].map(({ user_ref }) => user_ref);
    expect([refs, second.next_cursor]).toEqual([people.map(({ ref }) => ref).sort((a, b) => a - b), null]);
    expect(await mara.refused('putCollectionShare', { params: { id, user_ref: 404_000 } })).toEqual({
      status: 404,
      error: 'user not found',
    });
  });

  // COLLECTION-17
  test('a sharee may not pass it on, nor see who else has it', async () => {
    const { id } = await collect(mara, 'not passed on', [], { visibility: 'explicit-share' });
    await mara.ok('putCollectionShare', { params: { id, user_ref: ann.ref } });
    expect((await ann.refused('listCollectionShares', { params: { id } })).status).toBe(403);
    expect((await ann.refused('putCollectionShare', { params: { id, user_ref: ann.ref } })).status).toBe(403);
  });
});
