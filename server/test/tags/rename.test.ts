import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { actAs } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { openTags, told } from './people.ts';

let made = 0;

const { library, root, author, operator, picture } = await openTags();

const post = (tags: string[], body: object = {}) => publish(author, [picture], { tags, ...body });
const tagsOf = async (id: string) =>
  (await library.deps.db.selectFrom('posts').select('tags').where('id', '=', id).executeTakeFirstOrThrow())
    .tags;
/** Returns two unused names. */
const pair = (): [string, string] => {
  made += 1;
  return [`old ${made}`, `new ${made}`];
};
const merge = (source: string, target: string, more: object = {}, who: Visitor = operator) =>
  who.ok('mergeTags', { body: { source, target, reason: 'one word for it', ...more } });
const naming = (tag: string, to: string, more: object = {}) => ({ params: { tag }, body: { to, ...more } });
const lastEvent = () =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'metadata'])
    .where('event', 'like', 'tag.%')
    .orderBy('occurred_at', 'desc')
    .limit(1)
    .executeTakeFirst();
const settings = { follows: 0, rails: 0, views: 0, searches: 0, collections: 0 };
const changed = { posts: 0, assets: 0, ...settings, dry_run: false };

describe('posts', () => {
  // TAG-4
  test('a merge replaces the tag in its position in all posts, or removes it where the post has the other tag', async () => {
    const [a, b] = pair();
    const posts = [
      await post(['first', a, 'last']),
      await post([b, 'mid', a]),
      await post([a], { visibility: 'private' }),
      await post([a], { draft: true }),
      await post([a]),
      await post([`${a}x`]),
    ];
    const gone = posts[4]?.id ?? '';
    await author.ok('deletePost', { params: { id: gone }, body: undefined });
    expect(await merge(a, b)).toEqual({ ...changed, posts: 5 });
    const after = await Promise.all(posts.map(({ id }) => tagsOf(id)));
    expect(after).toEqual([['first', b, 'last'], [b, 'mid'], [b], [b], [b], [`${a}x`]]);
    expect(await told(author, a)).toEqual({ [`${a}x`]: 1 });
    expect(await told(author, b)).toEqual({ [b]: 3 });
    await author.ok('updatePost', { params: { id: posts[0]?.id ?? '' }, body: { visibility: 'public' } });
    await operator.ok('renameTag', naming(b, `${b} again`));
    await library.setPublicMode(true);
    expect(await told(library.anonymous(), b)).toEqual({ [`${b} again`]: 1 });
    await library.setPublicMode(false);
  });

  test('an editor who read the post before gets a 409', async () => {
    const [a, b] = pair();
    const before = await post([a]);
    await operator.ok('renameTag', naming(a, b));
    const body = { tags: [a, 'more'], if_unchanged_since: before.updated_at };
    expect((await author.refused('updatePost', { params: { id: before.id }, body })).status).toBe(409);
  });
});

const sources = ['manual', 'import', 'ai'] as const;
const row = (asset_id: string, value: string, source: (typeof sources)[number], confidence = 0.5) => ({
  asset_id,
  value,
  source,
  confidence: source === 'ai' ? confidence : null,
});

// TAG-4
test('an asset that has both tags keeps one, from the better source and with the higher confidence', async () => {
  const { db } = library.deps;
  const cases = sources.flatMap((of) => sources.map((other) => [of, other, 0.9, 0.4] as const));
  for (const [of, other, first, second] of [...cases, ['ai', 'ai', 0.2, 0.9] as const]) {
    const [a, b] = pair();
    const asset = await upload(author, plainFile());
    await db
      .insertInto('asset_tags')
      .values([row(asset.id, a, of, first), row(asset.id, b, other, second)])
      .execute();
    expect(await merge(a, b)).toEqual({ ...changed, assets: 1 });
    const rows = await db
      .selectFrom('asset_tags')
      .select(['value', 'source', 'confidence'])
      .where('asset_id', '=', asset.id)
      .execute();
    const source = sources[Math.min(sources.indexOf(of), sources.indexOf(other))];
    const kept = { value: b, source, confidence: source === 'ai' ? 0.9 : null };
    expect([of, other, rows]).toEqual([of, other, [kept]]);
  }
});

// TAG-4, NAME-4
test('follows, hidden tags, and stored queries in any spelling are updated, without duplicates', async () => {
  const [a, b] = pair();
  await post([a, b]);
  const [ann, ben] = [await library.join('ann', 'viewer'), await library.join('ben', 'viewer')];
  for (const tag of [a, 'else']) await ann.ok('followTag', { params: { tag } });
  for (const tag of [a, b]) await ben.ok('followTag', { params: { tag } });
  const none = { hidden_team_ids: [], team_order: [] };
  await ann.ok('updatePreferences', {
    body: { theme: 'dark', browse_rail: { ...none, hidden_tags: ['x', a], tag_order: [b, 'else', a] } },
  });
  const view = await ben.ok('createFeedView', { body: { name: 'Both', query: { tag: [a, b], q: a } } });
  const search = await ann.ok('createSearch', {
    body: { name: 'Old', query: { tag: ['x', a.toUpperCase()], q: a } },
  });
  const { id } = await author.ok('createCollection', {
    body: { name: 'Smart', query: { tag: [a.toUpperCase()] } },
  });
  const dry = await merge(a, b, { dry_run: true });
  const accounts = { follows: 2, rails: 1, views: 1, searches: 1, collections: 1 };
  expect(dry).toEqual({ posts: 1, assets: 0, ...accounts, dry_run: true });
  expect(await merge(a, b)).toEqual({ ...dry, dry_run: false });
  const followed = async (who: Visitor) => (await who.ok('listFollowedTags')).map(({ tag }) => tag);
  expect([await followed(ann), await followed(ben)]).toEqual([['else', b], [b]]);
  const preferences = await ann.ok('getPreferences');
  expect(preferences.browse_rail).toEqual({ ...none, hidden_tags: ['x', b], tag_order: [b, 'else'] });
  expect(preferences.theme).toBe('dark');
  const [kept] = await ben.ok('listFeedViews');
  expect(kept).toEqual({ ...view, query: { tag: [b], q: a } });
  expect(await ann.ok('listSearches')).toEqual([{ ...search, query: { tag: ['x', b], q: a } }]);
  expect((await author.ok('getCollection', { params: { id } })).query).toEqual({ tag: [b] });
});

describe('dry runs and refusals change nothing', () => {
  // TAG-5
  test('a dry run reports the changes and writes nothing', async () => {
    const [a, b] = pair();
    const { id } = await post([a]);
    const before = await lastEvent();
    const dry = await operator.ok('renameTag', naming(a, b, { dry_run: true }));
    expect(dry).toEqual({ ...changed, posts: 1, dry_run: true });
    expect(await tagsOf(id)).toEqual([a]);
    expect(await lastEvent()).toEqual(before);
    expect(await told(operator, b)).toEqual({});
  });

  // TAG-5
  test('a rename to an existing name is 409; a merge into a missing one is 404', async () => {
    const [a, b] = pair();
    const { id } = await post([a]);
    await post([b]);
    expect(await operator.refused('renameTag', naming(a, b))).toMatchObject({ status: 409 });
    const body = { source: a, target: 'written nowhere', reason: 'because' };
    expect(await operator.refused('mergeTags', { body })).toMatchObject({ status: 404 });
    expect(await operator.refused('renameTag', naming(a, a))).toMatchObject({ status: 400 });
    expect(await tagsOf(id)).toEqual([a]);
  });

  // TAG-5
  test('a tag that the caller cannot read is 404 as source, and no 409 as target', async () => {
    const [a, b] = pair();
    await post([a], { visibility: 'private' });
    const missing = { status: 404, error: 'not found' };
    for (const tag of [a, 'nowhere'])
      expect([tag, await operator.refused('renameTag', naming(tag, b))]).toEqual([tag, missing]);
    await post([b]);
    const onto = naming(b, a, { dry_run: true });
    expect(await operator.ok('renameTag', onto)).toMatchObject({ posts: 1 });
    expect(await root.refused('renameTag', onto)).toMatchObject({ status: 409 });
  });

  test('a blank name or reason and a merge into itself are 400; names are trimmed', async () => {
    const [a, b] = pair();
    const { id } = await post([a]);
    expect(await operator.refused('renameTag', naming(a, '   '))).toMatchObject({ status: 400 });
    for (const body of [
      { source: a, target: b, reason: '   ' },
      { source: a, target: a, reason: 'same' },
    ])
      expect([body, await operator.status('POST', '/tags/merge', body)]).toEqual([body, 400]);
    await operator.ok('renameTag', naming(a, `  ${b} `));
    expect(await tagsOf(id)).toEqual([b]);
  });
});

// TAG-4
test('an audit event has the reason, the counts and the impersonator', async () => {
  const [a, b] = pair();
  await post([a]);
  await post([b]);
  const mask = await actAs(library, root, operator);
  await merge(a, b, {}, mask);
  expect(await lastEvent()).toEqual({
    event: 'tag.merged',
    actor_user_ref: operator.ref,
    metadata: expect.objectContaining({
      from: a,
      to: b,
      reason: 'one word for it',
      posts: 1,
      impersonated_by: { ref: root.ref, username: 'root' },
    }),
  });
  await operator.ok('renameTag', naming(b, `${b} again`));
  const metadata = { from: b, to: `${b} again` };
  expect(await lastEvent()).toMatchObject({ event: 'tag.renamed', metadata });
});

test('concurrent merges of two tags into each other leave one of them', async () => {
  const [a, b] = pair();
  for (let i = 0; i < 6; i += 1) await post(i % 2 === 0 ? [a] : [b]);
  const body = (source: string, target: string) => ({ source, target, reason: 'race' });
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      operator.status('POST', '/tags/merge', i % 2 === 0 ? body(a, b) : body(b, a)),
    ),
  );
  expect(outcomes.sort()).toEqual([200, ...Array.from({ length: 7 }, () => 404)]);
  const { rows } = await sql<{ tags: string[] }>`select distinct tags from posts
    where tags && array[${a}, ${b}]`.execute(library.deps.db);
  expect(rows).toHaveLength(1);
});

test.each(['post', 'asset'] as const)(
  'a rename and an edit that gives one %s the new name at the same time both complete',
  async (kind) => {
    const [a, b] = pair();
    const { id } = kind === 'post' ? await post([a]) : await upload(author, plainFile(), { tags: a });
    const { db } = library.deps;
    // A transaction locks the object until the edit waits for it, and then the rename.
    const both = await db.transaction().execute(async (tx) => {
      await sql`select from ${sql.table(`${kind}s`)} where id = ${id} for update`.execute(tx);
      const edit = author.send(`/${kind}s/${id}`, { method: 'PATCH', body: { tags: [b] } });
      expect(await comeToWait(db)).toBe(true);
      const rename = operator.send(`/tags/${a}/rename`, { method: 'POST', body: { to: b } });
      expect(await comeToWait(db, 2)).toBe(true);
      return [edit, rename];
    });
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    const { text } = await author.send(`/${kind}s/${id}`);
    expect(JSON.parse(text)).toMatchObject({ tags: [b] });
  },
);
