import type { ShownAsset } from '@vitrine/contract/assets';

import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addPosts, everyPage } from './people.ts';

let library: Library;
/** The owner of the assets, which others post. */
let owner: Account;
let poster: Account;
let stranger: Account;

let pictures: Account;
let root: Account;

const another = (fields: Record<string, string> = {}) => upload(owner, plainFile(), fields);
const usage = (who: Visitor, { id }: { id: string }) => who.ok('listAssetPosts', { params: { id } });
const featuring = (who: Visitor, { id }: { id: string }) => who.ok('listPostsByAsset', { params: { id } });
const idsOf = (posts: readonly { id: string }[]) => posts.map(({ id }) => id);

/** One post for each way to refer to the asset, all by other authors than its owner; newest last. */
async function everyKind(asset: ShownAsset) {
  const body = (visibility: 'public' | 'org-only' | 'followers' | 'explicit-share' | 'private') => ({
    visibility,
  });
  const made = {
    public: await publish(poster, [asset], body('public')),
    'org-only': await publish(poster, [asset], body('org-only')),
    followers: await publish(poster, [asset], body('followers')),
    shared: await publish(poster, [asset], body('explicit-share')),
    private: await publish(poster, [asset], body('private')),
    draft: await publish(poster, [asset], { ...body('public'), draft: true }),
    'own private': await publish(owner, [asset], body('private')),
    'own draft': await publish(owner, [asset], { draft: true }),
  };
  const deleted = await publish(poster, [asset]);
  await poster.ok('deletePost', { params: { id: deleted.id }, body: undefined });
  return made;
}

beforeAll(async () => {
  library = await openLibrary();
  owner = await library.join('owner');
  poster = await library.join('poster');
  stranger = await library.join('stranger');

  pictures = await library.join('pictures');
  root = await library.join('root', 'admin');

  await grant(library, pictures, 'assets.admin');
});

// POST-39
describe('GET /assets/{id}/posts', () => {
  // POST-39
  test('lists the posts its owner can read, and counts the others, drafts included', async () => {
    const asset = await another();
    const made = await everyKind(asset);
    const names = Object.entries(made).map(([name, { id }]) => [id, name] as const);
    const nameOf = new Map(names);
    const given = async (who: Visitor) => {
      const { items, withheld_count } = await usage(who, asset);
      return { given: items.map(({ id }) => nameOf.get(id)).sort(), withheld_count };
    };
    const plain = ['org-only', 'own draft', 'own private', 'public'];
    expect(await given(owner)).toEqual({ given: plain, withheld_count: 4 });
    await owner.ok('followUser', { params: { ref: poster.ref } });
    await poster.ok('putShare', { params: { id: made.shared.id, user_ref: owner.ref } });
    const closer = [...plain, 'followers', 'shared'].sort();
    expect(await given(owner)).toEqual({ given: closer, withheld_count: 2 });
    expect(await given(await actAs(library, root, owner))).toEqual({ given: closer, withheld_count: 2 });
    expect(await given(await bearer(library, owner, ['read']))).toEqual({ given: closer, withheld_count: 2 });
    // assets.admin may call it, but sees no additional posts; system.admin sees all posts.
    expect(await given(pictures)).toEqual({ given: ['org-only', 'public'], withheld_count: 6 });
    expect(await given(root)).toEqual({ given: [...nameOf.values()].sort(), withheld_count: 0 });
    await owner.ok('unfollowUser', { params: { ref: poster.ref } });
  });

  // POST-39
  test('has two keys, and each post as GET /posts/{id} shows it, newest first', async () => {
    const asset = await another();
    const made = await everyKind(asset);
    const body: Record<string, unknown> = JSON.parse((await owner.send(`/assets/${asset.id}/posts`)).text);
    expect(Object.keys(body)).toEqual(['items', 'withheld_count']);
    const { items } = await usage(owner, asset);
    for (const post of items) expect(post).toEqual(await owner.ok('getPost', { params: { id: post.id } }));
    const newest = ['own draft', 'own private', 'org-only', 'public'] as const;
    expect(idsOf(items)).toEqual(newest.map((name) => made[name].id));
  });

  test('ignores the query', async () => {
    const asset = await another();
    await everyKind(asset);
    const first = await owner.send(`/assets/${asset.id}/posts`);
    const queries = ['?limit=1', '?cursor=x', '?visibility=private', '?author_ref=1&draft=true&tag=a&q=b'];
    for (const query of queries) {
      const { text } = await owner.send(`/assets/${asset.id}/posts${query}`);
      expect([query, text]).toEqual([query, first.text]);
    }
  });

  // POST-39
  test('counts memberships only, not thumbnails', async () => {
    const asset = await another();
    const member = await another();
    expect(await usage(owner, asset)).toEqual({ items: [], withheld_count: 0 });
    await publish(poster, [member], { cover_thumbnail_asset_id: asset.id, visibility: 'private' });
    expect(await usage(owner, asset)).toEqual({ items: [], withheld_count: 0 });
    expect(await usage(owner, member)).toEqual({ items: [], withheld_count: 1 });
  });

  test('follows every change of a post: published, unpublished, private, deleted, restored, asset removed', async () => {
    const [asset, other] = [await another(), await another()];
    const { id } = await publish(poster, [asset, other], { draft: true });
    const counts = async () => {
      const { items, withheld_count } = await usage(owner, asset);
      return [items.length, withheld_count];
    };
    const steps: [() => Promise<unknown>, number[]][] = [
      [() => poster.ok('publishPost', { params: { id } }), [1, 0]],
      [() => poster.ok('updatePost', { params: { id }, body: { visibility: 'private' } }), [0, 1]],
      [() => poster.ok('unpublishPost', { params: { id } }), [0, 1]],
      [() => poster.ok('deletePost', { params: { id }, body: undefined }), [0, 0]],
      [() => poster.ok('restorePost', { params: { id } }), [0, 1]],
      [
        () => poster.ok('updatePost', { params: { id }, body: { members: [{ asset_id: other.id }] } }),
        [0, 0],
      ],
    ];
    expect(await counts()).toEqual([0, 1]);
    for (const [act, expected] of steps) {
      await act();
      expect(await counts()).toEqual(expected);
    }
  });

  // POST-39
  test('lists the newest 200 of 205 readable posts, and does not count the rest as withheld', async () => {
    const asset = await another();
    const readable = await addPosts(library, { author: poster, members: [asset.id], count: 205 });
    await addPosts(library, { author: poster, members: [asset.id], count: 3, visibility: 'private' });
    await addPosts(library, {
      author: poster,
      members: [asset.id],
      count: 2,
      visibility: 'public',
      draft: true,
    });
    const { items, withheld_count } = await usage(owner, asset);
    expect(idsOf(items)).toEqual(readable.slice(0, 200));
    expect(withheld_count).toBe(5);
    const everything = await usage(root, asset);
    expect([everything.items.length, everything.withheld_count]).toEqual([200, 0]);
  });

  test('is exact while posts change concurrently', async () => {
    const asset = await another();
    const posts = await Promise.all(Array.from({ length: 12 }, () => publish(poster, [asset])));
    const totals: number[] = [];
    await Promise.all([
      ...posts.map(({ id }, i) =>
        i % 2
          ? poster.ok('updatePost', { params: { id }, body: { visibility: 'private' } })
          : poster.ok('unpublishPost', { params: { id } }),
      ),
      ...Array.from({ length: 12 }, async () => {
        const { items, withheld_count } = await usage(owner, asset);
        totals.push(withheld_count + items.length);
      }),
    ]);
    // Every post is always in exactly one of the two.
    expect(totals).toEqual(Array.from({ length: 12 }, () => 12));
    expect(await usage(owner, asset)).toEqual({ items: [], withheld_count: 12 });
  });

  // POST-40
  test('is open only to administrators for an asset without an owner', async () => {
    const asset = await another();
    await publish(poster, [asset], { visibility: 'private' });
    await library.deps.db
      .updateTable('assets')
      .set({ owner_user_ref: null })
      .where('id', '=', asset.id)
      .execute();
    expect((await owner.refused('listAssetPosts', { params: { id: asset.id } })).status).toBe(404);
    for (const [who, withheld_count] of [
      [pictures, 1],
      [root, 0],
    ] as const) {
      expect((await usage(who, asset)).withheld_count).toBe(withheld_count);
    }
  });
});

// POST-41
describe('GET /posts/by-asset/{id}', () => {
  // POST-41
  test('lists the posts of each caller’s feed, newest first, without drafts', async () => {
    const asset = await another();
    const {
      public: open,
      'org-only': org,
      followers,
      shared,
      private: hidden,
      ...own
    } = await everyKind(asset);
    const expected: [string, Visitor, { id: string }[]][] = [
      ['a reader', pictures, [org, open]],
      ['the owner', owner, [own['own private'], org, open]],
      ['the author', poster, [hidden, shared, followers, org, open]],
    ];
    for (const [name, who, listed] of expected) {
      const posts = await featuring(who, asset);
      expect([name, idsOf(posts)]).toEqual([name, idsOf(listed)]);
      expect([name, (await everyPage(who, { asset: asset.id, limit: 2 })).flat()]).toEqual([
        name,
        idsOf(listed),
      ]);
      for (const post of posts) expect(post).toEqual(await who.ok('getPost', { params: { id: post.id } }));
    }
  });

  // HTTP-9, POST-41
  test('is an array of at most the 200 newest; empty for a deleted, unknown or unused asset', async () => {
    const asset = await another();
    expect((await stranger.send(`/posts/by-asset/${asset.id}`)).text).toBe('[]');
    expect((await stranger.send(`/posts/by-asset/${nowhere}`)).text).toBe('[]');
    const ids = await addPosts(library, { author: poster, members: [asset.id], count: 205, together: true });
    expect(idsOf(await featuring(stranger, asset))).toEqual(ids.slice(0, 200));
    await owner.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
    for (const who of [stranger, owner, poster, root]) expect(await featuring(who, asset)).toEqual([]);
  });

  // POST-41
  test('keeps the placeholder of a withheld asset, as GET /posts/{id} does', async () => {
    const withheld = await another({ sensitivity: 'restricted', title: 'secret' });
    const shown = await another();
    const { id } = await publish(owner, [withheld, shown]);
    const answer = await stranger.send(`/posts/by-asset/${withheld.id}`);
    expect(answer.text).not.toContain('secret');
    const [post] = await featuring(stranger, withheld);
    expect(post).toEqual(await stranger.ok('getPost', { params: { id } }));
    expect(post?.members[0]).toEqual({
      asset_id: withheld.id,
      sort_order: 0,
      restricted: true,
      owner_display_name: 'owner',
    });
  });
});
