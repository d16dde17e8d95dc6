import type { ShownAsset } from '@vitrine/contract/assets';
import type { FeedQuery } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { planOf, touched } from '../support/plans.ts';
import { countStatements, statementLike, watchStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';
import { addPosts, everyPage, everyPost } from './people.ts';

const library = await openLibrary();
const [mara, reader] = await library.joinAll('mara', 'reader');
const shown = await upload(mara, plainFile());
const withheld = await upload(mara, plainFile(), { sensitivity: 'restricted' });
await addPosts(library, { author: mara, members: [shown.id], count: 21 });
// Several posts share a time, so that only their ids order them.
await addPosts(library, { author: mara, members: [shown.id], count: 4, together: true });

/** Marks an asset as one whose owner no longer exists. */
const disown = ({ id }: ShownAsset) =>
  library.deps.db.updateTable('assets').set({ owner_user_ref: null }).where('id', '=', id).execute();

describe('GET /posts', () => {
  test('the plain feed has one of four statements with a constant limit, so that PostgreSQL keeps its plan', {
    tags: ['one-process'],
  }, async () => {
    const read = async (query: Partial<FeedQuery>) => {
      const [, statements] = await watchStatements(library, () => reader.ok('listPosts', { query }));
      return statements
        .map(({ text }) => text)
        .filter((text) => /^\s*select p\.id, p\.posted_at as key/.test(text));
    };
    const plain: string[] = [];
    for (const limit of [1, 24, 25, 50, 99, 100, 200]) plain.push(...(await read({ limit })));
    const limits = plain.map((text) => /limit (\S+)$/.exec(text)?.[1]);
    expect(limits).toEqual(['25', '25', '51', '51', '101', '101', '201']);
    const narrowed = await read({ limit: 24, author_ref: mara.ref });
    expect(narrowed).toEqual([expect.stringMatching(/limit \$\d+$/)]);
  });

  test('a page of a tag decides about posts only until it is full', { tags: ['one-process'] }, async () => {
    const { db } = library.deps;
    const tagged = await addPosts(library, { author: mara, members: [shown.id], count: 300 });
    await sql`update posts set tags = '{many}' where id = any(${tagged}::uuid[])`.execute(db);
    const query = { limit: 24, tag: ['many'] };
    const [page, statements] = await watchStatements(library, () => reader.ok('listPosts', { query }));
    expect(page.items.map(({ id }) => id)).toEqual(tagged.slice(0, 24));
    const statement = statementLike(statements, /p\.tags @>/);
    // Without its index the feed is sorted, as for a rare tag of a large library.
    await sql`drop index posts_feed`.execute(db);
    expect(touched(await planOf(library, statement), 'post_members')).toBeLessThan(60);
    await sql`create index posts_feed on posts (posted_at desc, id desc)
      where deleted_at is null and not draft`.execute(db);
    await sql`delete from posts where id = any(${tagged}::uuid[])`.execute(db);
  });

  // FEED-1
  test('pages contain every post once, in the order of (posted_at, id), in both directions', async () => {
    const whole = await reader.ok('listPosts', { query: { limit: 200 } });
    const ids = whole.items.map(({ id }) => id);
    const sorted = [...whole.items].sort(
      (a, b) => Date.parse(b.posted_at) - Date.parse(a.posted_at) || (a.id < b.id ? 1 : -1),
    );
    expect(whole.next_cursor).toBeNull();
    expect(ids).toEqual(sorted.map(({ id }) => id));
    const pages = await everyPage(reader, { limit: 4 });
    expect(pages.flat()).toEqual(ids);
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 4, 1]);
    expect(await everyPost(reader, { limit: 4, sort: 'oldest' })).toEqual([...ids].reverse());
  });

  test('a post made between two pages does not shift the second', async () => {
    const first = await reader.ok('listPosts', { query: { limit: 5 } });
    const added = await publish(mara, [shown]);
    const second = await reader.ok('listPosts', { query: { limit: 5, cursor: first.next_cursor ?? '' } });
    const seen = [...first.items, ...second.items].map(({ id }) => id);
    expect(new Set(seen).size).toBe(10);
    expect(seen).not.toContain(added.id);
    await library.deps.db.deleteFrom('posts').where('id', '=', added.id).execute();
  });
});

// FEED-3, POST-42
test('a post without members stays', async () => {
  const bare = await library.deps.db
    .insertInto('posts')
    .values({ author_user_ref: mara.ref, state_id: '00000000-0000-4000-8000-000000000202', title: 'bare' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { items } = await reader.ok('listPosts', { query: { limit: 3 } });
  expect(items.find(({ id }) => id === bare.id)).toMatchObject({ members: [], cover_asset_id: null });
});

// IDENTITY-4
test('a hard-deleted account leaves its posts, without an identity', async () => {
  const gone = await library.join('gone');
  const post = await publish(gone, [shown]);
  await library.deps.db.deleteFrom('users').where('ref', '=', gone.ref).execute();
  const after = await reader.ok('getPost', { params: { id: post.id } });
  expect(after.author_user_ref).toBe(gone.ref);
  expect(after).not.toHaveProperty('author');
});

// FEED-6
describe('full pages', () => {
  // FEED-6
  test('fifty consecutive posts whose members are all withheld are skipped, and no page is short', async () => {
    const author = await library.join('hider');
    const own = await upload(author, plainFile(), { sensitivity: 'restricted' });
    const first = { author, from: '2020-01-01T00:00:00Z' };
    const old = await addPosts(library, { ...first, members: [shown.id], count: 9 });
    const later = { author, from: '2020-02-01T00:00:00Z', visibility: 'public' } as const;
    const hidden = await addPosts(library, { ...later, members: [own.id, withheld.id], count: 50 });
    const latest = { ...later, from: '2020-03-01T00:00:00Z' };
    const recent = await addPosts(library, { ...latest, members: [own.id, shown.id], count: 9 });
    const query: FeedQuery = { author_ref: author.ref, limit: 6 };
    const stranger = await library.join('stranger');
    const pages = await everyPage(stranger, query);
    expect(pages.map(({ length }) => length)).toEqual([6, 6, 6]);
    expect(pages.flat()).toEqual([...recent, ...old]);
    expect(await everyPost(stranger, { ...query, sort: 'oldest' })).toEqual([
      ...old.toReversed(),
      ...recent.toReversed(),
    ]);
    await library.setPublicMode(true);
    expect((await everyPage(library.anonymous(), query)).map(({ length }) => length)).toEqual([6, 3]);
    await library.setPublicMode(false);
    // Not left out for its author, for callers who see everything, and for those who want placeholders.
    const everything = [...recent, ...hidden, ...old];
    const root = await library.join('root', 'admin');
    await stranger.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
    for (const who of [author, root, stranger]) expect(await everyPost(who, query)).toEqual(everything);
    const { items } = await stranger.ok('listPosts', { query: { ...query, limit: 18 } });
    for (const post of items)
      expect({ ...post, annotation_counts: [] }).toEqual(
        await stranger.ok('getPost', { params: { id: post.id } }),
      );
  });

  test('an asset without an owner is withheld like any other, and a mature one is listed without its bytes', async () => {
    const author = await library.join('heir');
    const restricted = await upload(author, plainFile(), { sensitivity: 'restricted' });
    const mature = await upload(author, plainFile(), { mature: 'true' });
    const hidden = await publish(author, [restricted]);
    const listed = await publish(author, [mature, shown]);
    await Promise.all([restricted, mature].map(disown));
    const { items } = await reader.ok('listPosts', { query: { author_ref: author.ref } });
    const asset = { owner_user_ref: null, preview_available: false };
    expect(items).toMatchObject([{ id: listed.id, members: [{ restricted: false, asset }, {}] }]);
    expect(await everyPost(author, { author_ref: author.ref })).toEqual([listed.id, hidden.id]);
    // The asset has no owner, so the placeholder names nobody.
    const { members } = await reader.ok('getPost', { params: { id: hidden.id } });
    expect(members).toEqual([{ asset_id: restricted.id, sort_order: 0, restricted: true }]);
  });

  test('a post whose assets are all in the trash is visible to its author only, until one is restored', async () => {
    const author = await library.join('emptied');
    const [a, b] = [await upload(author, plainFile()), await upload(author, plainFile())];
    const { id } = await publish(author, [a, b]);
    const other = await library.join('looker');
    for (const asset of [a, b]) await author.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
    expect(await everyPost(other, { author_ref: author.ref })).toEqual([]);
    expect(await everyPost(author, { author_ref: author.ref })).toEqual([id]);
    expect((await other.ok('getPost', { params: { id } })).members).toEqual([]);
    await other.ok('updatePreferences', { body: { feed_filters: { show_restricted: true } } });
    expect(await everyPost(other, { author_ref: author.ref })).toEqual([id]);
    await other.ok('updatePreferences', { body: { feed_filters: { show_restricted: false } } });
    await author.ok('restoreAsset', { params: { id: b.id } });
    expect(await everyPost(other, { author_ref: author.ref })).toEqual([id]);
  });

  // FEED-6
  test('next_cursor is null on the last page, also when that is full', async () => {
    const author = await library.join('exact');
    await addPosts(library, { author, members: [shown.id], count: 6 });
    const pages = await everyPage(author, { author_ref: author.ref, limit: 3 });
    expect(pages.map(({ length }) => length)).toEqual([3, 3]);
    expect(await everyPage(author, { author_ref: author.ref, tag: ['none'] })).toEqual([[]]);
  });
});

// FEED-7
describe('what the feed is narrowed to', () => {
  // FEED-7
  test('author, team, tags and asset, and all of them together', async () => {
    const author = await library.join('varied');
    const team_id = await addTeam(library, 'varied', [author]);
    const extra = await upload(author, plainFile());
    const plain = await publish(author, [shown], { tags: ['red'] });
    const teamed = await publish(author, [shown, extra], { tags: ['red', 'Blue'], team_id });
    const tagged = await publish(author, [extra], { tags: ['Blue', 'red'] });
    const of = (query: FeedQuery) => everyPost(reader, { author_ref: author.ref, ...query });
    expect(await of({})).toEqual([tagged.id, teamed.id, plain.id]);
    expect(await of({ tag: ['red'] })).toEqual([tagged.id, teamed.id, plain.id]);
    expect(await of({ tag: ['red', 'Blue'] })).toEqual([tagged.id, teamed.id]);
    expect(await of({ tag: ['red', 'green'] })).toEqual([]);
    expect(await of({ tag: ['blue'] })).toEqual([tagged.id, teamed.id]);
    expect(await of({ team_id })).toEqual([teamed.id]);
    expect(await of({ asset: extra.id })).toEqual([tagged.id, teamed.id]);
    expect(await of({ asset: extra.id, team_id, tag: ['Blue'] })).toEqual([teamed.id]);
    for (const query of [{ team_id: nowhere }, { asset: nowhere }, { tag: ["'); --"] }])
      expect(await of(query)).toEqual([]);
    expect(await everyPost(reader, { author_ref: Number.MAX_SAFE_INTEGER })).toEqual([]);
    await author.ok('deleteAsset', { params: { id: extra.id }, body: undefined });
    expect(await of({ asset: extra.id })).toEqual([]);
  });

  // FEED-8
  test('following: posts of followed accounts while they are followed, without the caller’s own', async () => {
    const author = await library.join('followed');
    const fan = await library.join('fan');
    const open = await publish(author, [shown]);
    const close = await publish(author, [shown], { visibility: 'followers' });
    await publish(author, [shown], { visibility: 'private' });
    await publish(author, [shown], { draft: true });
    await publish(fan, [shown]);
    const following = (who: Visitor) => everyPost(who, { feed: 'following' });
    expect(await following(fan)).toEqual([]);
    await fan.ok('followUser', { params: { ref: author.ref } });
    expect(await following(fan)).toEqual([close.id, open.id]);
    expect(await following(author)).toEqual([]);
    await fan.ok('unfollowUser', { params: { ref: author.ref } });
    expect(await following(fan)).toEqual([]);
    await library.setPublicMode(true);
    expect(await following(library.anonymous())).toEqual([]);
    await library.setPublicMode(false);
  });

  // FEED-8
  test('team: posts of live teams that the caller belongs to or follows, without their parents and subteams', async () => {
    const author = await library.join('teamauthor');
    const fan = await library.join('teamfan');
    const slugs = ['joined', 'admired', 'foreign', 'under'];
    const teams = await Promise.all(slugs.map((slug) => addTeam(library, slug, [author])));
    const [joined = '', admired = '', foreign = '', below = ''] = teams;
    await library.deps.db.insertInto('team_parents').values({ team_id: below, parent_id: joined }).execute();
    const inJoined = await publish(author, [shown], { team_id: joined });
    const inAdmired = await publish(author, [shown], { team_id: admired });
    for (const team_id of [foreign, below]) await publish(author, [shown], { team_id });
    await publish(author, [shown], { team_id: joined, visibility: 'private' });
    await publish(author, [shown], { team_id: joined, draft: true });
    await publish(author, [shown]);
    const own = (who: Visitor) => everyPost(who, { feed: 'team' });
    expect(await own(fan)).toEqual([]);
    await library.deps.db.insertInto('team_members').values({ team_id: joined, user_ref: fan.ref }).execute();
    await fan.ok('followTeam', { params: { id: admired } });
    expect(await own(fan)).toEqual([inAdmired.id, inJoined.id]);
    await fan.ok('unfollowTeam', { params: { id: admired } });
    expect(await own(fan)).toEqual([inJoined.id]);
    const root = await library.join('teamroot', 'admin');
    expect(await own(root)).toEqual([]);
    await root.ok('deleteTeam', { params: { id: joined } });
    expect(await own(fan)).toEqual([]);
    await library.setPublicMode(true);
    expect(await own(library.anonymous())).toEqual([]);
    await library.setPublicMode(false);
  });

  // FEED-9
  test('liked_by: the caller’s own likes of posts that are still readable; likes of others are private', async () => {
    const author = await library.join('liked');
    const fan = await library.join('liker');
    const root = await library.join('superuser', 'admin');
    const [first, second] = [await publish(author, [shown]), await publish(author, [shown])];
    for (const { id } of [first, second]) await fan.ok('likePost', { params: { id } });
    for (const who of [author, root]) await who.ok('likePost', { params: { id: first.id } });
    expect(await everyPost(fan, { liked_by: fan.ref })).toEqual([second.id, first.id]);
    await library.setPublicMode(true);
    for (const who of [author, root, library.anonymous()])
      expect(await everyPost(who, { liked_by: fan.ref })).toEqual([]);
    await library.setPublicMode(false);
    await fan.ok('unlikePost', { params: { id: first.id } });
    expect(await everyPost(fan, { liked_by: fan.ref })).toEqual([second.id]);
    await author.ok('updatePost', { params: { id: second.id }, body: { visibility: 'private' } });
    expect(await everyPost(fan, { liked_by: fan.ref })).toEqual([]);
    expect(await everyPost(await actAs(library, root, fan), { liked_by: fan.ref })).toEqual([]);
  });

  test('refuses text that is no number, no truth value or too many tags; returns 50 items by default', async () => {
    const bad = ['limit=x', 'limit=', 'draft=yes', 'include_deleted=1', 'author_ref=mara', 'author_ref=1.0'];
    const tags = Array.from({ length: 11 }, (_, i) => `tag=t${i}`).join('&');
    for (const query of [...bad, 'author_ref=9223372036854775808', 'liked_by=+1', tags])
      expect([query, await reader.status('GET', `/posts?${query}`)]).toEqual([query, 400]);
    const author = await library.join('plenty');
    await addPosts(library, { author, members: [shown.id], count: 51 });
    const { items } = await reader.ok('listPosts', { query: { author_ref: author.ref } });
    expect(items).toHaveLength(50);
  });
});

// FEED-13, HTTP-10
test('a page costs at most eight statements for every question and caller, and the same for one post as for many', {
  tags: ['one-process'],
}, async () => {
  const author = await library.join('costly');
  const root = await library.join('costroot', 'admin');
  const team = await addTeam(library, 'costly', [author]);
  const lead = await library.join('costlead');
  await grant(library, lead, 'posts.admin', team);
  await author.ok('followUser', { params: { ref: mara.ref } });
  await addPosts(library, { author, members: [shown.id, withheld.id], count: 10, visibility: 'public' });
  await addPosts(library, { author, members: [shown.id], count: 10, draft: true });
  const questions: FeedQuery[] = [
    {},
    { feed: 'trending' },
    { feed: 'following' },
    { sort: 'oldest', tag: ['odd', 'even'], asset: shown.id, author_ref: mara.ref },
    { draft: true },
    { include_deleted: true },
    { liked_by: author.ref, team_id: team },
  ];
  await library.setPublicMode(true);
  const script = await bearer(library, author, ['read']);
  const callers = { author, root, lead, script, anonymous: library.anonymous() };
  try {
    for (const [name, who] of Object.entries(callers)) {
      for (const query of questions) {
        const costs: number[] = [];
        for (const limit of [2, 10]) {
          const read = () => who.ok('listPosts', { query: { ...query, limit } });
          await read();
          const [{ items }, statements] = await countStatements(library, read);
          costs.push(statements);
          expect(items.length).toBeLessThanOrEqual(limit);
        }
        expect([name, query, costs[0] === costs[1]]).toEqual([name, query, true]);
        expect(costs[0]).toBeGreaterThan(0);
        expect(costs[0]).toBeLessThanOrEqual(8);
      }
    }
  } finally {
    await library.setPublicMode(false);
  }
});
