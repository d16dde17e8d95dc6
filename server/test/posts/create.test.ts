import type { ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { actAs, addTeam, arrive, bearer, everyPage } from './people.ts';

let library: Library;
let mara: Account;
let one: ShownAsset;
let two: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  one = await upload(mara, await jpeg(60, 40, { seed: 1 }));
  two = await upload(mara, await jpeg(60, 40, { seed: 2 }));
  await library.runJobs();
});

const member = (asset: { id: string }, sort_order?: number) =>
  sort_order === undefined ? { asset_id: asset.id } : { asset_id: asset.id, sort_order };

// POST-15
describe('POST /posts', () => {
  // POST-1
  test('has every field, and its defaults', async () => {
    const post = await publish(mara, [one, two]);
    expect(post).toMatchObject({
      author_user_ref: mara.ref,
      author: { ref: mara.ref, username: 'mara', display_name: 'mara', avatar_url: null },
      title: '',
      description: '',
      visibility: 'org-only',
      cover_asset_id: one.id,
      cover_thumbnail_asset_id: null,
      cover_focal_x: null,
      cover_focal_y: null,
      draft: false,
      comments_enabled: true,
      ai_provenance: null,
      like_count: 0,
      liked: false,
      comment_count: 0,
      tags: [],
    });
    expect(post).not.toHaveProperty('comments_preview');
    expect(post).not.toHaveProperty('team_id');
    expect(post.members.map(({ asset_id, sort_order }) => [asset_id, sort_order])).toEqual([
      [one.id, 0],
      [two.id, 1],
    ]);
    expect(await mara.ok('getPost', { params: { id: post.id } })).toEqual(post);
  });

  // POST-18
  test('members have the requested order, and the cover is the chosen one', async () => {
    const post = await mara.ok('createPost', {
      body: {
        members: [member(one, 5), member(two, 2)],
        cover_asset_id: one.id,
        cover_focal_x: 0.25,
        cover_focal_y: 1,
        tags: ['a', 'b', 'a'],
      },
    });
    expect(post.members.map(({ asset_id }) => asset_id)).toEqual([two.id, one.id]);
    expect(post).toMatchObject({
      cover_asset_id: one.id,
      cover_focal_x: 0.25,
      cover_focal_y: 1,
      tags: ['a', 'b'],
    });
  });

  test('a draft is in state wip, seen by its author, and on no shared surface', async () => {
    const post = await publish(mara, [one], { draft: true, visibility: 'public' });
    expect(post).toMatchObject({ draft: true, state_id: '00000000-0000-4000-8000-000000000201' });
    const stranger = await library.join('stranger');
    expect((await stranger.refused('getPost', { params: { id: post.id } })).status).toBe(404);
    for (const visitor of [mara, stranger]) {
      const { items } = await visitor.ok('listPosts');
      expect(items.map(({ id }) => id)).not.toContain(post.id);
      const featuring = await visitor.ok('listPostsByAsset', { params: { id: one.id } });
      expect(featuring.map(({ id }) => id)).not.toContain(post.id);
    }
    const drafts = await mara.ok('listPosts', { query: { draft: true } });
    expect(drafts.items.map(({ id }) => id)).toContain(post.id);
  });

  // POST-16
  test.each([
    ['a member twice', () => ({ members: [member(one), member(one)] })],
    [
      'a member twice in another case',
      () => ({ members: [member(one), { asset_id: one.id.toUpperCase() }] }),
    ],
    ['a cover that is no member', () => ({ members: [member(one)], cover_asset_id: two.id })],
    ['half a focal pair', () => ({ members: [member(one)], cover_focal_x: 0.5 })],
    [
      'half a focal pair beside null',
      () => ({ members: [member(one)], cover_focal_x: 0.5, cover_focal_y: null }),
    ],
  ])('is 400 with %s', async (_, make) => {
    const body = typeof make === 'function' ? make() : make;
    const sent = await mara.send('/posts', { method: 'POST', body });
    expect([sent.status, JSON.parse(sent.text)]).toEqual([400, { error: expect.any(String) }]);
  });

  // POST-17
  test('is 404 for a missing asset, and for one that its author may not read', async () => {
    const other = await library.join('other');
    const kept = await upload(other, await jpeg(50, 50, { seed: 9 }), { status: 'draft' });
    for (const asset of [kept, { id: crypto.randomUUID() }]) {
      const refused = await mara.refused('createPost', { body: { members: [member(one), member(asset)] } });
      expect(refused).toEqual({ status: 404, error: `asset ${asset.id} not found` });
    }
    const body = { members: [member(one)], team_id: crypto.randomUUID() };
    expect(await mara.refused('createPost', { body })).toEqual({ status: 404, error: 'team not found' });
  });

  // POST-15
  test('needs posts.create, and posts.publish unless it is a draft', async () => {
    const viewer = await library.join('viewer', 'viewer');
    const body = { members: [member(one)] };
    expect((await viewer.refused('createPost', { body })).status).toBe(403);
    await library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: viewer.ref, capability: 'posts.create' })
      .execute();
    expect(await viewer.refused('createPost', { body })).toEqual({
      status: 403,
      error: 'missing capability posts.publish',
    });
    expect(await viewer.ok('createPost', { body: { ...body, draft: true } })).toMatchObject({ draft: true });
  });
});

// POST-29
describe('ai_provenance of a post is derived from its live contributors', () => {
  const declared = async (value: 'none' | 'assisted' | 'generated' | null) =>
    upload(mara, await jpeg(45, 45, { seed: 50 }), value === null ? {} : { ai_provenance: value });

  // POST-29
  test.each([
    [['none', 'none'], 'none'],
    [['none', 'assisted'], 'assisted'],
    [['assisted', 'generated'], 'generated'],
    [['none', null], null],
    [['generated', null], 'generated'],
    [['assisted', null], 'assisted'],
    [[null], null],
  ] as const)('%j comes to %j', async (values, expected) => {
    const members = await Promise.all(values.map(declared));
    expect(await publish(mara, members)).toMatchObject({ ai_provenance: expected });
  });

  test('a cover thumbnail counts, a deleted asset does not', async () => {
    const [plain, made] = await Promise.all([declared('none'), declared('generated')]);
    if (plain === undefined || made === undefined) throw new Error('no assets');
    const post = await publish(mara, [plain], { cover_thumbnail_asset_id: made.id });
    expect(post.ai_provenance).toBe('generated');
    const db = library.deps.db;
    await db
      .updateTable('assets')
      .set({ deleted_at: '2026-01-01T00:00:00Z' })
      .where('id', '=', made.id)
      .execute();
    const after = await mara.ok('getPost', { params: { id: post.id } });
    expect(after.ai_provenance).toBe('none');
    await db
      .updateTable('assets')
      .set({ deleted_at: '2026-01-01T00:00:00Z' })
      .where('id', '=', plain.id)
      .execute();
    expect(await mara.ok('getPost', { params: { id: post.id } })).toMatchObject({
      ai_provenance: null,
      members: [],
    });
  });
});

describe('POST /posts, who and how', () => {
  test('belongs to the account of the token, or to the impersonated account', async () => {
    const root = await arrive(library, 'root', 'admin');
    const script = await bearer(library, mara, ['posts.write']);
    for (const who of [script, await actAs(library, root, mara)]) {
      expect(await publish(who, [one])).toMatchObject({
        author_user_ref: mara.ref,
        author: { username: 'mara' },
      });
    }
  });

  // POST-17
  test('posts an asset of another account, but not one whose columns are withheld', async () => {
    const lender = await arrive(library, 'lender');
    const lent = await upload(lender, await jpeg(50, 50));
    const withheld = await upload(lender, await jpeg(50, 50), { sensitivity: 'restricted', title: 'secret' });
    await publish(mara, [lent]);
    for (const body of [
      { members: [member(lent), member(withheld)] },
      { members: [member(lent)], cover_thumbnail_asset_id: withheld.id },
    ]) {
      const refused = await mara.refused('createPost', { body });
      expect(refused).toEqual({ status: 404, error: `asset ${withheld.id} not found` });
    }
  });

  // POST-35
  test('accepts a team of the caller, and returns 404 for any other', async () => {
    const other = await arrive(library, 'outsider');
    const mine = await addTeam(library, 'mine', [mara]);
    const theirs = await addTeam(library, 'theirs', [other]);
    expect(await publish(mara, [one], { team_id: mine })).toMatchObject({ team_id: mine });
    const body = { members: [member(one)], team_id: theirs };
    expect(await mara.refused('createPost', { body })).toEqual({ status: 404, error: 'team not found' });
  });

  // POST-16
  test.each([
    ['the other half of a focal pair', { cover_focal_y: 0.5 }],
    ['comments_enabled as null', { comments_enabled: null }],
  ])('is 400 with %s, and no post is made', async (_, more) => {
    const before = (await everyPage(mara, { author_ref: mara.ref })).flat();
    const sent = await mara.send('/posts', { method: 'POST', body: { members: [member(one)], ...more } });
    expect([sent.status, JSON.parse(sent.text)]).toEqual([400, { error: expect.any(String) }]);
    expect((await everyPage(mara, { author_ref: mara.ref })).flat()).toEqual(before);
  });

  test('concurrent requests each create a post, and all lists have the same order', async () => {
    const author = await arrive(library, 'busy');
    const posts = await Promise.all(Array.from({ length: 20 }, () => publish(author, [one, two])));
    const ids = posts.map(({ id }) => id).sort();
    const whole = (await everyPage(mara, { author_ref: author.ref })).flat();
    expect([...whole].sort()).toEqual(ids);
    expect((await everyPage(mara, { author_ref: author.ref, limit: 3 })).flat()).toEqual(whole);
  });
});
