import type { ShownAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { actAs, addPosts, addTeam, arrive, bearer, everyPage, grant, lasting, nowhere } from './people.ts';

let library: Library;
/** The owner of the assets, which others post. */
let owner: Account;
let poster: Account;
let stranger: Account;
let editor: Account;
let pictures: Account;
let root: Account;
let picture: Uint8Array<ArrayBuffer>;

const another = (fields: Record<string, string> = {}) => upload(owner, picture, fields);
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
  owner = await arrive(library, 'owner');
  poster = await arrive(library, 'poster');
  stranger = await arrive(library, 'stranger');
  editor = await arrive(library, 'editor');
  pictures = await arrive(library, 'pictures');
  root = await arrive(library, 'root', 'admin');
  await grant(library, editor, 'posts.admin');
  await grant(library, pictures, 'assets.admin');
  picture = plainFile();
  await another();
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
    const queries = [
      '',
      '?limit=1',
      '?cursor=x',
      '?visibility=private',
      '?author_ref=1&draft=true',
      '?tag=a&q=b',
    ];
    const again = await Promise.all(
      [...queries, ...queries].map((q) => owner.send(`/assets/${asset.id}/posts${q}`)),
    );
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set([first.text]));
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
  test('lists the newest 200 of 250 readable posts, and does not count the rest as withheld', async () => {
    const asset = await another();
    const readable = await addPosts(library, { author: poster, members: [asset.id], count: 250 });
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
    const pages = await everyPage(owner, { asset: asset.id, limit: 100 });
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(pages.flat()).toEqual(readable);
    expect((await usage(root, asset)).withheld_count).toBe(0);
    expect((await usage(root, asset)).items).toHaveLength(200);
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
  test('answers everyone else with the 404 of a missing asset', async () => {
    const teammate = await arrive(library, 'teammate');
    const reader = await arrive(library, 'reader');
    const elsewhere = await arrive(library, 'elsewhere');
    const team = await addTeam(library, 'studio', [owner, teammate]);
    for (const capability of ['content.read.all', 'share.grant', 'users.read'] as const)
      await grant(library, reader, capability);
    await grant(library, elsewhere, 'assets.admin', await addTeam(library, 'elsewhere'));
    await stranger.ok('followUser', { params: { ref: owner.ref } });
    const open = await another({ team_id: team });
    const withheld = await another({ sensitivity: 'restricted' });
    const hidden = await another({ status: 'draft' });
    const deleted = await another();
    await owner.ok('deleteAsset', { params: { id: deleted.id }, body: undefined });
    for (const asset of [open, withheld, hidden]) await publish(owner, [asset], { visibility: 'public' });
    const script = await bearer(library, stranger, ['admin']);
    const people = { stranger, poster, teammate, editor, reader, elsewhere, script };
    for (const [name, who] of Object.entries(people)) {
      const missing = lasting(await who.send(`/assets/${nowhere}/posts`));
      expect(missing).toMatchObject({ status: 404, text: '{"error":"not found"}' });
      for (const asset of [open, withheld, hidden, deleted]) {
        expect([name, lasting(await who.send(`/assets/${asset.id}/posts`))]).toEqual([name, missing]);
      }
    }
    for (const who of [owner, pictures, root]) {
      expect((await who.send(`/assets/${deleted.id}/posts`)).status).toBe(404);
    }
    expect((await owner.send('/assets/x/posts')).status).toBe(400);
    await owner.ok('restoreAsset', { params: { id: deleted.id } });
    expect(await usage(owner, deleted)).toEqual({ items: [], withheld_count: 0 });
  });

  // POST-40
  test('is open to assets.admin of a team for that team’s assets', async () => {
    const team = await addTeam(library, 'press', [owner]);
    const lead = await arrive(library, 'lead');
    await grant(library, lead, 'assets.admin', team);
    const [inside, outside] = [await another({ team_id: team }), await another()];
    await publish(poster, [inside], { visibility: 'private' });
    expect(await usage(lead, inside)).toEqual({ items: [], withheld_count: 1 });
    expect((await lead.refused('listAssetPosts', { params: { id: outside.id } })).status).toBe(404);
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
    const made = await everyKind(asset);
    const follower = await arrive(library, 'follower');
    await follower.ok('followUser', { params: { ref: poster.ref } });
    await poster.ok('putShare', { params: { id: made.shared.id, user_ref: stranger.ref } });
    const own = made['own private'].id;
    const { public: open, 'org-only': org, followers, shared, private: hidden } = made;
    const expected: [string, Visitor, string[]][] = [
      ['a sharee', stranger, [shared.id, org.id, open.id]],
      ['a follower', follower, [followers.id, org.id, open.id]],
      ['assets.admin', pictures, [org.id, open.id]],
      ['the owner', owner, [own, org.id, open.id]],
      ['the owner worn', await actAs(library, root, owner), [own, org.id, open.id]],
      ['the owner’s script', await bearer(library, owner, ['read']), [own, org.id, open.id]],
      ['the author', poster, [hidden.id, shared.id, followers.id, org.id, open.id]],
      ['posts.admin', editor, [own, hidden.id, shared.id, followers.id, org.id, open.id]],
      ['system.admin', root, [own, hidden.id, shared.id, followers.id, org.id, open.id]],
    ];
    for (const [name, who, ids] of expected) {
      const posts = await featuring(who, asset);
      expect([name, idsOf(posts)]).toEqual([name, ids]);
      expect([name, (await everyPage(who, { asset: asset.id, limit: 2 })).flat()]).toEqual([name, ids]);
      for (const post of posts) expect(post).toEqual(await who.ok('getPost', { params: { id: post.id } }));
    }
    expect((await library.anonymous().refused('listPostsByAsset', { params: { id: asset.id } })).status).toBe(
      401,
    );
    await library.setPublicMode(true);
    expect(idsOf(await featuring(library.anonymous(), asset))).toEqual([open.id]);
    await library.setPublicMode(false);
    const writing = await bearer(library, owner, ['posts.write']);
    expect((await writing.refused('listPostsByAsset', { params: { id: asset.id } })).status).toBe(403);
  });

  // HTTP-9, POST-41
  test('is an array of at most the 200 newest; empty for a deleted, unknown or unused asset', async () => {
    const asset = await another();
    expect((await stranger.send(`/posts/by-asset/${asset.id}`)).text).toBe('[]');
    expect((await stranger.send(`/posts/by-asset/${nowhere}`)).text).toBe('[]');
    expect((await stranger.send('/posts/by-asset/x')).status).toBe(400);
    const ids = await addPosts(library, { author: poster, members: [asset.id], count: 230, together: true });
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

  // POST-30
  test('liked, author and previews depend on the caller', async () => {
    const asset = await another();
    const { id } = await publish(poster, [asset], { visibility: 'public' });
    await stranger.ok('likePost', { params: { id } });
    await library.setPublicMode(true);
    await library.deps.db
      .updateTable('users')
      .set({ hide_from_anonymous: true })
      .where('ref', '=', poster.ref)
      .execute();
    const anonymous = library.anonymous();
    for (let round = 0; round < 2; round += 1) {
      const seen = await Promise.all([stranger, owner, anonymous].map((who) => featuring(who, asset)));
      expect(seen.map(([post]) => [post?.liked, post?.like_count, post?.author?.username])).toEqual([
        [true, 1, 'poster'],
        [false, 1, 'poster'],
        [false, 1, undefined],
      ]);
    }
    await sql`update users set hide_from_anonymous = false where ref = ${poster.ref}`.execute(
      library.deps.db,
    );
    await library.setPublicMode(false);
  });
});
