import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { actAs, addTeam, arrive, bearer, grant } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { everyTag, told } from './people.ts';

let library: Library;
let root: Account;
let author: Account;
let stranger: Account;
let follower: Account;
let mate: Account;
let picture: { id: string };
let team: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await arrive(library, 'root', 'admin');
  author = await arrive(library, 'author');
  stranger = await arrive(library, 'stranger', 'viewer');
  follower = await arrive(library, 'follower', 'viewer');
  mate = await arrive(library, 'mate', 'viewer');
  team = await addTeam(library, 'crew', [mate, author]);
  await follower.ok('followUser', { params: { ref: author.ref } });
  picture = await upload(author, plainFile());
});

const post = (tags: string[], body: object = {}) => publish(author, [picture], { tags, ...body });
const seenBy = async (visitor: Visitor, tag: string) => {
  const { items } = await visitor.ok('listTags', { query: { q: tag } });
  const listed = items.find((one) => one.tag === tag);
  const one = await visitor
    .ok('getTag', { params: { tag } })
    .then(({ post_count }) => post_count)
    .catch(() => null);
  // The list and the tag's own page must agree.
  expect(listed?.post_count ?? null).toBe(one);
  return one;
};

// TAG-1
describe('a tag is listed and counted by the posts that the caller can read', () => {
  const everybody = async (tag: string) => {
    await library.setPublicMode(true);
    const masked = await actAs(library, root, stranger);
    const found = {
      anonymous: await seenBy(library.anonymous(), tag),
      stranger: await seenBy(stranger, tag),
      follower: await seenBy(follower, tag),
      author: await seenBy(author, tag),
      admin: await seenBy(root, tag),
      impersonated: await seenBy(masked, tag),
      token: await seenBy(await bearer(library, stranger, ['read']), tag),
    };
    await library.setPublicMode(false);
    return found;
  };
  const all = (n: number | null) => ({
    anonymous: n,
    stranger: n,
    follower: n,
    author: n,
    admin: n,
    impersonated: n,
    token: n,
  });

  test('shares of a post take effect immediately', async () => {
    const { id } = await post(['seen shared'], { visibility: 'explicit-share' });
    expect(await seenBy(follower, 'seen shared')).toBeNull();
    await author.ok('putShare', { params: { id, user_ref: follower.ref } });
    expect(await everybody('seen shared')).toEqual({ ...all(null), follower: 1, author: 1, admin: 1 });
  });

  test('drafts and deleted posts do not count until they are published or restored', async () => {
    const draft = await post(['seen draft'], { visibility: 'public', draft: true });
    expect(await everybody('seen draft')).toEqual(all(null));
    await author.ok('publishPost', { params: { id: draft.id } });
    expect(await everybody('seen draft')).toEqual(all(1));
    await author.ok('deletePost', { params: { id: draft.id }, body: undefined });
    expect(await everybody('seen draft')).toEqual(all(null));
    await author.ok('restorePost', { params: { id: draft.id } });
    expect(await everybody('seen draft')).toEqual(all(1));
  });

  test('posts.admin in a team counts the team’s posts', async () => {
    const keeper = await arrive(library, 'keeper', 'viewer');
    await grant(library, keeper, 'posts.admin', team);
    await post(['seen team'], { visibility: 'private', team_id: team });
    expect([await seenBy(keeper, 'seen team'), await seenBy(mate, 'seen team')]).toEqual([1, null]);
  });

  // TAG-2
  test('the count depends on the caller', async () => {
    for (const visibility of ['public', 'org-only', 'private'] as const) {
      await post(['mixed'], { visibility });
    }
    expect(await everybody('mixed')).toEqual({
      anonymous: 1,
      stranger: 2,
      follower: 2,
      author: 3,
      admin: 3,
      impersonated: 2,
      token: 2,
    });
  });

  test('edits of a post take effect immediately', async () => {
    const { id } = await post(['moving before'], { visibility: 'private' });
    await author.ok('updatePost', { params: { id }, body: { tags: ['moving after'] } });
    expect(await told(author, 'moving')).toEqual({ 'moving after': 1 });
    expect(await told(stranger, 'moving')).toEqual({});
    await author.ok('updatePost', { params: { id }, body: { visibility: 'public' } });
    await library.setPublicMode(true);
    expect(await told(library.anonymous(), 'moving')).toEqual({ 'moving after': 1 });
    await author.ok('updatePost', { params: { id }, body: { visibility: 'private' } });
    expect(await told(library.anonymous(), 'moving')).toEqual({});
    await library.setPublicMode(false);
  });
});

describe('a tag that only assets have', () => {
  // TAG-1
  test('is listed without posts for those who can see one of them', async () => {
    const form = (sensitivity: string, more = {}) => ({
      sensitivity,
      tags: JSON.stringify([`asset ${sensitivity}`]),
      ...more,
    });
    const bytes = plainFile();
    await upload(author, bytes, form('public'));
    await upload(author, bytes, form('team', { team_id: team }));
    const { id } = await upload(author, bytes, form('restricted'));
    await library.setPublicMode(true);
    const [open, ofTeam, closed] = [{ 'asset public': 0 }, { 'asset team': 0 }, { 'asset restricted': 0 }];
    expect(await told(library.anonymous(), 'asset ')).toEqual(open);
    expect(await told(stranger, 'asset ')).toEqual(open);
    expect(await told(mate, 'asset ')).toEqual({ ...open, ...ofTeam });
    expect(await told(author, 'asset ')).toEqual({ ...open, ...ofTeam, ...closed });
    expect(await told(root, 'asset ')).toEqual({ ...open, ...ofTeam, ...closed });
    // When it becomes public later, visitors see the tag too.
    await author.ok('updateAsset', { params: { id }, body: { sensitivity: 'public' } });
    expect(await told(library.anonymous(), 'asset ')).toEqual({ ...open, ...closed });
    await author.ok('deleteAsset', { params: { id }, body: undefined });
    expect(await told(library.anonymous(), 'asset ')).toEqual(open);
    await library.setPublicMode(false);
  });
});

describe('GET /tags', () => {
  // TAG-2
  test('lists names that begin with the text before those that contain it, ignoring case', async () => {
    await post(['xq late', 'Xq Early', 'a xq b', 'xq%_\\', 'Zxq', 'XQ', 'other']);
    const { items } = await stranger.ok('listTags', { query: { q: ' Xq ' } });
    expect(items.map(({ tag }) => tag)).toEqual(['XQ', 'Xq Early', 'xq late', 'xq%_\\', 'a xq b', 'Zxq']);
    expect(Object.keys(await told(stranger, 'xq%'))).toEqual(['xq%_\\']);
    expect(Object.keys(await told(stranger, '%_\\'))).toEqual(['xq%_\\']);
    expect(Object.keys(await told(stranger, 'x_'))).toEqual([]);
  });

  test('pages are full and contain every tag once, despite hidden names', async () => {
    const names = Array.from({ length: 23 }, (_, i) => `paged ${String(i).padStart(2, '0')}`);
    await post(names);
    await post(
      Array.from({ length: 23 }, (_, i) => `paged ${String(i).padStart(2, '0')} hidden`),
      {
        visibility: 'private',
      },
    );
    await post(['some paged', 'very paged'], { visibility: 'org-only' });
    for (const limit of [1, 5, 24, 25, 26]) {
      const pages = await everyTag(stranger, 'paged', limit);
      expect(pages.flat().map(({ tag }) => tag)).toEqual([...names, 'some paged', 'very paged']);
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      expect(pages.at(-1)?.length).toBeGreaterThan(0);
    }
    const whole = (await everyTag(stranger, '', 7)).flat().map(({ tag }) => tag);
    expect(new Set(whole).size).toBe(whole.length);
    expect(whole).toEqual(expect.arrayContaining(names));
  });

  test('ignores case in all scripts, and keeps names as written', async () => {
    await post(['ÜBERMUT', 'übermut', '夕焼け', '🌅 morning', 'Ärger']);
    expect(await told(stranger, 'Über')).toEqual({ ÜBERMUT: 1, übermut: 1 });
    expect(await told(stranger, '焼')).toEqual({ 夕焼け: 1 });
    expect(await told(stranger, '🌅')).toEqual({ '🌅 morning': 1 });
    expect(await told(stranger, 'ärg')).toEqual({ Ärger: 1 });
  });

  // TAG-2
  test('counts to 1,000 and reports that there are more', async () => {
    await sql`insert into posts (author_user_ref, visibility, state_id, tags)
      select ${author.ref}, case when n <= 1000 then 'public' else 'org-only' end, s.id, array['counted']
      from generate_series(1, 1001) n, workflow_states s where s.code = 'published'`.execute(library.deps.db);
    const one = (visitor: Visitor) => visitor.ok('getTag', { params: { tag: 'counted' } });
    expect(await one(stranger)).toMatchObject({ post_count: 1000, post_count_capped: true });
    await library.setPublicMode(true);
    expect(await one(library.anonymous())).toMatchObject({ post_count: 1000, post_count_capped: false });
    await library.setPublicMode(false);
  });

  test.each([
    'nonsense',
    Buffer.from('tag elsewhere x').toString('base64url'),
    Buffer.from('tag within ').toString('base64url'),
  ])('cursor %s is 400', async (cursor) => {
    expect(await stranger.refused('listTags', { query: { cursor } })).toEqual({
      status: 400,
      error: 'malformed cursor',
    });
  });

  // TAG-1
  test('an unknown and a hidden tag are the same 404', async () => {
    await post(['well hidden'], { visibility: 'private' });
    const answers = await Promise.all(
      ['well hidden', 'never written'].map((tag) => stranger.send(`/tags/${encodeURIComponent(tag)}`)),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [404, '{"error":"not found"}'],
      [404, '{"error":"not found"}'],
    ]);
  });
});

// TAG-3
describe('following tags', () => {
  const follow = (who: Visitor, tag: string) => who.ok('followTag', { params: { tag } });
  const followed = async (who: Visitor) => (await who.ok('listFollowedTags')).map(({ tag }) => tag);

  // TAG-3
  test('lists the latest first, once each, per account', async () => {
    const [ann, ben] = [await arrive(library, 'ann', 'viewer'), await arrive(library, 'ben', 'viewer')];
    for (const tag of ['one', 'two', 'three', 'two']) await follow(ann, tag);
    await follow(ben, 'one');
    expect(await followed(ann)).toEqual(['three', 'two', 'one']);
    for (let i = 0; i < 2; i += 1) await ann.ok('unfollowTag', { params: { tag: 'one' } });
    expect([await followed(ann), await followed(ben)]).toEqual([['three', 'two'], ['one']]);
    const mine = await bearer(library, ann, ['read']);
    expect(await followed(mine)).toEqual(['three', 'two']);
    expect(await followed(await actAs(library, root, ann))).toEqual(['three', 'two']);
    expect(await mine.refused('followTag', { params: { tag: 'four' } })).toEqual({
      status: 403,
      error: 'missing scope admin',
    });
    expect((await library.anonymous().refused('listFollowedTags')).status).toBe(401);
  });

  test('GET /tags marks followed tags', async () => {
    await post(['chosen one', 'chosen two']);
    await follow(mate, 'chosen two');
    const { items } = await mate.ok('listTags', { query: { q: 'chosen' } });
    expect(items.map(({ tag, followed: is }) => [tag, is])).toEqual([
      ['chosen one', false],
      ['chosen two', true],
    ]);
    expect(await stranger.ok('getTag', { params: { tag: 'chosen two' } })).toMatchObject({ followed: false });
  });

  test.each([' ', 'a/b', '%', '#1', '?', 'x'.repeat(64), '🌅'.repeat(64), 'Ä b', '合', '+'])(
    'any text of 1 to 64 characters may be followed, used or not: %j',
    async (tag) => {
      await follow(mate, tag);
      expect(await followed(mate)).toContain(tag);
      await mate.ok('unfollowTag', { params: { tag } });
      expect(await followed(mate)).not.toContain(tag);
    },
  );

  // TAG-3
  test('returns 400 for 65 characters, and 409 for the 201st tag but not for one that is already followed', async () => {
    expect((await mate.refused('followTag', { params: { tag: 'x'.repeat(65) } })).status).toBe(400);
    const eager = await arrive(library, 'eager', 'viewer');
    await sql`insert into tag_follows (user_ref, tag) select ${eager.ref}, 'many ' || n
      from generate_series(1, 200) n`.execute(library.deps.db);
    expect((await eager.refused('followTag', { params: { tag: 'one more' } })).status).toBe(409);
    await follow(eager, 'many 7');
    expect(await followed(eager)).toHaveLength(200);
  });

  // PREFERENCE-5
  test('hiding a tag does not unfollow it', async () => {
    const ann = await arrive(library, 'hider', 'viewer');
    await follow(ann, 'hidden chip');
    const rail = { hidden_team_ids: [], team_order: [], hidden_tags: ['hidden chip'], tag_order: [] };
    await ann.ok('updatePreferences', { body: { browse_rail: rail } });
    expect(await followed(ann)).toEqual(['hidden chip']);
  });
});

// TAG-6
test('every tag of posts and assets is registered, regardless of how it was written', async () => {
  await post(['by post'], { draft: true });
  const { id } = await post([]);
  await author.ok('updatePost', { params: { id }, body: { tags: ['by edit'] } });
  await author.ok('updateAsset', { params: { id: picture.id }, body: { tags: ['by asset edit'] } });
  const { rows } = await sql<{ tag: string }>`
    select tag from (select unnest(tags) as tag from posts union select value from asset_tags) used
    where tag not in (select name from tags)`.execute(library.deps.db);
  expect(rows).toEqual([]);
  const { rows: hidden } = await sql`select t.name from tags t where not t.seen_in_public and (
    exists (select from posts p where p.visibility = 'public' and p.tags @> array[t.name collate "default"])
    or exists (select from asset_tags x join assets a on a.id = x.asset_id
      where a.sensitivity = 'public' and x.value = t.name))`.execute(library.deps.db);
  expect(hidden).toEqual([]);
});

// TAG-6
test('fifty concurrent writers of the same new tags do not deadlock', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `raced ${i}`);
  await Promise.all(
    Array.from({ length: 50 }, (_, i) => {
      const tags = [...names.slice(i % 12), ...names.slice(0, i % 12)];
      return post(i % 2 === 0 ? tags : tags.reverse(), { visibility: i % 3 === 0 ? 'public' : 'org-only' });
    }),
  );
  expect(Object.values(await told(stranger, 'raced'))).toEqual(names.map(() => 50));
});
