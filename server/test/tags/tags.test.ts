import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { everyTag, told } from './people.ts';

/** The access matrix (server/test/access/surfaces/tags.ts) shows who sees which tag and which count. */

const library = await openLibrary();
const author = await library.join('author');
const stranger = await library.join('stranger', 'viewer');
const mate = await library.join('mate', 'viewer');
const picture = await upload(author, plainFile());

const post = (tags: string[], body: object = {}) => publish(author, [picture], { tags, ...body });

// TAG-1
test('shares and edits of a post take effect immediately', async () => {
  const { id } = await post(['moving before'], { visibility: 'explicit-share' });
  await author.ok('updatePost', { params: { id }, body: { tags: ['moving after'] } });
  const seen = { 'moving after': 1 };
  expect([await told(author, 'moving'), await told(stranger, 'moving')]).toEqual([seen, {}]);
  await author.ok('putShare', { params: { id, user_ref: stranger.ref } });
  expect(await told(stranger, 'moving')).toEqual(seen);
  await library.setPublicMode(true);
  for (const visibility of ['public', 'private'] as const) {
    await author.ok('updatePost', { params: { id }, body: { visibility } });
    expect(await told(library.anonymous(), 'moving')).toEqual(visibility === 'public' ? seen : {});
  }
  await library.setPublicMode(false);
});

// TAG-1
test('a tag that only assets have is listed without posts once one of them is public', async () => {
  const { id } = await upload(author, plainFile(), { sensitivity: 'restricted', tags: 'asset only' });
  await library.setPublicMode(true);
  const seen = async () => [await told(author, 'asset '), await told(library.anonymous(), 'asset ')];
  expect(await seen()).toEqual([{ 'asset only': 0 }, {}]);
  await author.ok('updateAsset', { params: { id }, body: { sensitivity: 'public' } });
  expect(await seen()).toEqual([{ 'asset only': 0 }, { 'asset only': 0 }]);
  await author.ok('deleteAsset', { params: { id }, body: undefined });
  expect(await seen()).toEqual([{}, {}]);
  await library.setPublicMode(false);
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
    const hidden = names.map((name) => `${name} hidden`);
    await post(hidden, { visibility: 'private' });
    await post(['some paged', 'very paged'], { visibility: 'org-only' });
    for (const limit of [5, 25, 26]) {
      const pages = await everyTag(stranger, 'paged', limit);
      expect(pages.flat().map(({ tag }) => tag)).toEqual([...names, 'some paged', 'very paged']);
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      expect(pages.at(-1)?.length).toBeGreaterThan(0);
    }
    const whole = (await everyTag(stranger, '', 7)).flat().map(({ tag }) => tag);
    expect(new Set(whole).size).toBe(whole.length);
    expect(whole).toEqual(expect.arrayContaining(names));
  });

  test('ignores case in all scripts, and keeps names as first written', async () => {
    await post(['ÜBERMUT', 'übermut', '夕焼け', '🌅 morning', 'Ärger']);
    expect(await told(stranger, 'Über')).toEqual({ ÜBERMUT: 1 });
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

  test('a cursor of another list or without a name is 400', async () => {
    for (const text of [
      'tag {"part":"elsewhere","name":"x"}',
      'tag {"part":"within"}',
      'tag {"part":"within","name":"\\u0000"}',
    ]) {
      const cursor = Buffer.from(text).toString('base64url');
      const refused = await stranger.refused('listTags', { query: { cursor } });
      expect([text, refused.error]).toEqual([text, 'malformed cursor']);
    }
  });

  // TAG-1
  test('an unknown and a hidden tag are the same 404', async () => {
    await post(['well hidden'], { visibility: 'private' });
    for (const tag of ['well hidden', 'never written']) {
      const { status, text } = await stranger.send(`/tags/${encodeURIComponent(tag)}`);
      expect([tag, status, text]).toEqual([tag, 404, '{"error":"not found"}']);
    }
  });
});

// TAG-3
describe('following tags', () => {
  const follow = (who: Visitor, tag: string) => who.ok('followTag', { params: { tag } });
  const followed = async (who: Visitor) => (await who.ok('listFollowedTags')).map(({ tag }) => tag);

  // TAG-3
  test('lists the latest first, once each, per account', async () => {
    const [ann, ben] = [await library.join('ann', 'viewer'), await library.join('ben', 'viewer')];
    for (const tag of ['one', 'two', 'three', 'two']) await follow(ann, tag);
    await follow(ben, 'one');
    expect(await followed(ann)).toEqual(['three', 'two', 'one']);
    for (let i = 0; i < 2; i += 1) await ann.ok('unfollowTag', { params: { tag: 'one' } });
    expect([await followed(ann), await followed(ben)]).toEqual([['three', 'two'], ['one']]);
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

  test('any text of 1 to 64 characters may be followed, used or not', async () => {
    for (const tag of [' ', 'a/b', '%', '#1', '?', '🌅'.repeat(64), 'Ä b', '合', '+']) {
      await follow(mate, tag);
      expect(await followed(mate)).toContain(tag);
      await mate.ok('unfollowTag', { params: { tag } });
      expect(await followed(mate)).not.toContain(tag);
    }
  });

  // TAG-3
  test('returns 409 for the 201st tag, but not for one that is already followed', async () => {
    const eager = await library.join('eager', 'viewer');
    await sql`insert into tag_follows (user_ref, tag) select ${eager.ref}, 'many ' || n
      from generate_series(1, 200) n`.execute(library.deps.db);
    expect((await eager.refused('followTag', { params: { tag: 'one more' } })).status).toBe(409);
    await follow(eager, 'many 7');
    expect(await followed(eager)).toHaveLength(200);
  });

  // PREFERENCE-5
  test('hiding a tag does not unfollow it', async () => {
    const ann = await library.join('hider', 'viewer');
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
test('concurrent writers of the same new tags do not deadlock', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `raced ${i}`);
  await Promise.all(
    Array.from({ length: 24 }, (_, i) => {
      const tags = [...names.slice(i % 12), ...names.slice(0, i % 12)];
      return post(i % 2 === 0 ? tags : tags.reverse(), { visibility: i % 3 === 0 ? 'public' : 'org-only' });
    }),
  );
  expect(Object.values(await told(stranger, 'raced'))).toEqual(names.map(() => 24));
});
