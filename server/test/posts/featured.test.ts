import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callersBefore, outcomeOf } from '../appearance/callers.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { actAs, addPosts, addTeam, arrive, bearer, grant, nowhere } from './people.ts';

let library: Library;
let root: Account;
let author: Account;
let stranger: Account;
let follower: Account;
let curator: Account;
let picture: { id: string };
let locked: { id: string };

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  author = await arrive(library, 'author');
  stranger = await arrive(library, 'stranger', 'viewer');
  follower = await arrive(library, 'follower', 'viewer');
  curator = await arrive(library, 'curator', 'viewer');
  await grant(library, curator, 'posts.admin');
  await follower.ok('followUser', { params: { ref: author.ref } });
  picture = await upload(author, plainFile());
  locked = await upload(author, plainFile(), { sensitivity: 'restricted' });
});

beforeEach(async () => {
  await library.deps.db.deleteFrom('featured_posts').execute();
});

const post = async (body: object = {}, asset = picture) =>
  (await publish(author, [asset], { visibility: 'public', ...body })).id;
const feature = (id: string, position?: number, who: Visitor = curator) =>
  who.ok('featurePost', { params: { id }, body: position === undefined ? undefined : { position } });
const rail = async (who: Visitor = root) => (await who.ok('listFeatured')).map(({ id }) => id);
const statusOf = async (who: Visitor, method: string, path: string, body?: unknown) =>
  (await who.send(path, { method, body })).status;

async function featured(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await post());
  for (const id of ids) await feature(id);
  return ids;
}

describe('GET /posts/featured', () => {
  // POST-44
  test('lists the featured posts that the caller can read, in order', async () => {
    const ids = {
      public: await post(),
      org: await post({ visibility: 'org-only' }),
      followers: await post({ visibility: 'followers' }),
      private: await post({ visibility: 'private' }),
      shared: await post({ visibility: 'explicit-share' }),
    };
    await author.ok('putShare', { params: { id: ids.shared, user_ref: stranger.ref } });
    for (const id of Object.values(ids)) await feature(id);
    await library.setPublicMode(true);
    expect(await rail(library.anonymous())).toEqual([ids.public]);
    await library.setPublicMode(false);
    expect(await rail(stranger)).toEqual([ids.public, ids.org, ids.shared]);
    expect(await rail(follower)).toEqual([ids.public, ids.org, ids.followers]);
    for (const who of [author, root, curator]) expect(await rail(who)).toEqual(Object.values(ids));
    expect(await rail(await actAs(library, root, stranger))).toEqual([ids.public, ids.org, ids.shared]);
    expect(await rail(await bearer(library, follower, ['read']))).toEqual([
      ids.public,
      ids.org,
      ids.followers,
    ]);
    const [first] = await stranger.ok('listFeatured');
    expect(first).toEqual(await stranger.ok('getPost', { params: { id: ids.public } }));
  });

  test('applies the feed’s rule on withheld members', async () => {
    const [open, closed] = [await post(), await post({}, locked)];
    for (const id of [open, closed]) await feature(id);
    expect(await rail(stranger)).toEqual([open]);
    expect(await rail(author)).toEqual([open, closed]);
    const reader = await arrive(library, 'keeps placeholders', 'viewer');
    await reader.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
    const [, withheld] = await reader.ok('listFeatured');
    expect(withheld?.members).toMatchObject([{ restricted: true }]);
  });

  test('is public in public mode, and not a post id', async () => {
    expect(await statusOf(library.anonymous(), 'GET', '/posts/featured')).toBe(401);
    const narrow = await bearer(library, stranger, ['assets.write']);
    expect(await statusOf(narrow, 'GET', '/posts/featured')).toBe(403);
    expect(await statusOf(stranger, 'GET', '/posts/featuring')).toBe(400);
    expect(await statusOf(stranger, 'GET', `/posts/${nowhere}`)).toBe(404);
    expect(await rail(stranger)).toEqual([]);
  });
});

describe('PUT and DELETE /posts/{id}/featured', () => {
  test('adds at the end or at a position; again moves it, or leaves it', async () => {
    const [a, b, c] = [await post(), await post(), await post()];
    await feature(a);
    await feature(b);
    await feature(c, 0);
    expect(await rail()).toEqual([c, a, b]);
    await feature(a);
    expect(await rail()).toEqual([c, a, b]);
    await feature(a, 0);
    expect(await rail()).toEqual([a, c, b]);
    await feature(a, 1);
    expect(await rail()).toEqual([c, a, b]);
    await feature(c, 49);
    expect(await rail()).toEqual([a, b, c]);
    await curator.ok('unfeaturePost', { params: { id: b } });
    await curator.ok('unfeaturePost', { params: { id: b } });
    expect(await rail()).toEqual([a, c]);
  });

  // POST-44
  test('answers 404 for unknown and deleted posts, 409 for a draft, 400 for a bad position', async () => {
    const [draft, gone] = [await post({ draft: true }), await post()];
    await author.ok('deletePost', { params: { id: gone }, body: undefined });
    const put = (id: string, body?: object) => statusOf(curator, 'PUT', `/posts/${id}/featured`, body);
    expect(await Promise.all([put(nowhere), put(gone), put(draft), put('x')])).toEqual([404, 404, 409, 400]);
    const id = await post();
    for (const position of [-1, 50, 1.5, '0', true]) expect(await put(id, { position })).toBe(400);
    expect(await put(id, { position: null })).toBe(204);
    expect(await statusOf(curator, 'DELETE', `/posts/${nowhere}/featured`)).toBe(404);
    expect(await rail()).toEqual([id]);
  });

  // POST-44
  test('accepts 50 posts; the 51st is 409', async () => {
    const ids = await addPosts(library, { author, members: [picture.id], count: 51, visibility: 'public' });
    const [last = '', ...others] = ids;
    await sql`insert into featured_posts (post_id, position)
      select id, place - 1 from unnest(${others}::uuid[]) with ordinality t (id, place)`.execute(
      library.deps.db,
    );
    expect(await rail()).toEqual(others);
    expect(await statusOf(curator, 'PUT', `/posts/${last}/featured`)).toBe(409);
    await feature(others[9] ?? '', 0);
    await curator.ok('unfeaturePost', { params: { id: others[0] ?? '' } });
    await feature(last);
    expect((await rail()).at(-1)).toBe(last);
  });

  // POST-44
  test('a deleted or unpublished post leaves the list and returns to its place', async () => {
    const [a, b, c] = await featured(3);
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were made');
    await author.ok('deletePost', { params: { id: b }, body: undefined });
    expect(await rail()).toEqual([a, c]);
    await curator.ok('orderFeatured', { body: { post_ids: [c, a] } });
    await author.ok('restorePost', { params: { id: b } });
    expect(await rail()).toEqual([c, b, a]);
    await author.ok('unpublishPost', { params: { id: c } });
    expect(await rail()).toEqual([b, a]);
    await author.ok('publishPost', { params: { id: c } });
    expect(await rail()).toEqual([c, b, a]);
  });

  // POST-44
  test('requires global posts.admin, and is audited', async () => {
    const id = await post();
    for (const { who, visitor, writing } of await callersBefore(library, 'posts.admin')) {
      const before = await rail();
      expect([
        who,
        await outcomeOf(visitor.ok('featurePost', { params: { id }, body: { position: 0 } })),
      ]).toEqual([who, writing]);
      if (writing !== 'let in') expect(await rail()).toEqual(before);
      expect([
        who,
        await outcomeOf(visitor.ok('orderFeatured', { body: { post_ids: await rail() } })),
      ]).toEqual([who, writing]);
      expect([who, await outcomeOf(visitor.ok('unfeaturePost', { params: { id } }))]).toEqual([who, writing]);
    }
    const team = await addTeam(library, 'crew');
    const own = await post();
    const keeper = await arrive(library, 'keeper', 'viewer');
    await grant(library, keeper, 'posts.admin', team);
    expect(await statusOf(keeper, 'PUT', `/posts/${own}/featured`)).toBe(403);
    expect(await statusOf(author, 'PUT', `/posts/${own}/featured`)).toBe(403);

    await feature(own, 0);
    await curator.ok('unfeaturePost', { params: { id: own } });
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'metadata'])
      .where('target_id', '=', own)
      .orderBy('occurred_at')
      .execute();
    expect(events).toEqual([
      { event: 'post.featured', actor_user_ref: curator.ref, metadata: { position: 0 } },
      { event: 'post.unfeatured', actor_user_ref: curator.ref, metadata: {} },
    ]);
  });
});

describe('PUT /posts/featured/order', () => {
  // POST-45
  test('requires the whole list, each post once; otherwise nothing changes', async () => {
    const ids = await featured(3);
    const [a = '', b = '', c = ''] = ids;
    const put = (post_ids: unknown) => statusOf(curator, 'PUT', '/posts/featured/order', { post_ids });
    const other = await post();
    expect(await put([a, b])).toBe(409);
    expect(await put([a, b, other])).toBe(409);
    expect(await put([a, b, c, other])).toBe(409);
    expect(await put([a, b, b])).toBe(400);
    expect(await put([a, b, 'x'])).toBe(400);
    expect(await put('x')).toBe(400);
    expect(await rail()).toEqual(ids);
    expect(await put([c, a.toUpperCase(), b])).toBe(204);
    expect(await rail()).toEqual([c, a, b]);
  });

  test('posts that return to a full list keep their place', async () => {
    const ids = await addPosts(library, { author, members: [picture.id], count: 51, visibility: 'public' });
    await sql`insert into featured_posts (post_id, position)
      select id, place - 1 from unnest(${ids}::uuid[]) with ordinality t (id, place)`.execute(
      library.deps.db,
    );
    const shown = await rail(curator);
    expect(shown).toEqual(ids.slice(0, 50));
    const turned = shown.toReversed();
    await curator.ok('orderFeatured', { body: { post_ids: turned } });
    expect(await rail(curator)).toEqual(turned);
    await curator.ok('unfeaturePost', { params: { id: turned[0] ?? '' } });
    expect(await rail(curator)).toEqual([...turned.slice(1), ids[50]]);
  });

  // POST-45
  test('keeps the place of posts that are withheld from the sender', async () => {
    const [a, hidden, b] = [await post(), await post({}, locked), await post()];
    for (const id of [a, hidden, b]) await feature(id, undefined, root);
    expect(await rail(curator)).toEqual([a, b]);
    await curator.ok('orderFeatured', { body: { post_ids: [b, a] } });
    expect(await rail(root)).toEqual([b, hidden, a]);
    expect(await statusOf(root, 'PUT', '/posts/featured/order', { post_ids: [a, b] })).toBe(409);
    await root.ok('orderFeatured', { body: { post_ids: [hidden, a, b] } });
    expect(await rail(root)).toEqual([hidden, a, b]);
  });

  test('twenty concurrent changes keep every post in the list once', async () => {
    const ids = await featured(4);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        const id = ids[i % 4] ?? '';
        return i % 2 === 0
          ? feature(id, i % 3)
          : curator.ok('orderFeatured', { body: { post_ids: [...ids].reverse() } });
      }),
    );
    expect([...(await rail())].sort()).toEqual([...ids].sort());
    const { rows } = await sql`select position from featured_posts order by position`.execute(
      library.deps.db,
    );
    expect(rows).toEqual([0, 1, 2, 3].map((position) => ({ position })));
  });
});
