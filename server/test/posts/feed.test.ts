import type { ShownAsset } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let reader: Account;
let shown: ShownAsset;
let withheld: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  reader = await library.join('reader');
  shown = await upload(mara, await jpeg(60, 40));
  withheld = await upload(mara, await jpeg(60, 40, { seed: 2 }), {
    sensitivity: 'restricted',
    title: 'secret',
  });
  await library.runJobs();
  for (let i = 0; i < 25; i += 1)
    await publish(mara, [shown], { title: `post ${i}`, tags: [i % 2 ? 'odd' : 'even'] });
  // Several at the very same moment, so that pages must tell them apart by id.
  await sql`update posts set posted_at = '2026-01-01T00:00:00Z' where title in ('post 3', 'post 4', 'post 5', 'post 6')`.execute(
    library.deps.db,
  );
});

async function allPages(query: { sort?: 'newest' | 'oldest'; limit: number }): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: { id: string }[]; next_cursor: string | null } = await reader.ok('listPosts', {
      query: { ...query, ...(cursor === null ? {} : { cursor }) },
    });
    if (page.next_cursor !== null) expect(page.items).toHaveLength(query.limit);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

describe('GET /posts', () => {
  test('pages hold every post once, in the order of (posted_at, id), both ways', async () => {
    const whole = await reader.ok('listPosts', { query: { limit: 200 } });
    const ids = whole.items.map(({ id }) => id);
    const sorted = [...whole.items].sort(
      (a, b) => Date.parse(b.posted_at) - Date.parse(a.posted_at) || (a.id < b.id ? 1 : -1),
    );
    expect(whole.next_cursor).toBeNull();
    expect(ids).toEqual(sorted.map(({ id }) => id));
    expect(await allPages({ limit: 3 })).toEqual(ids);
    expect(await allPages({ limit: 4, sort: 'oldest' })).toEqual([...ids].reverse());
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

  test('is narrowed by author, tag, asset and following', async () => {
    const tagged = await reader.ok('listPosts', { query: { tag: ['odd'], limit: 200 } });
    expect(tagged.items).toHaveLength(12);
    expect((await reader.ok('listPosts', { query: { tag: ['odd', 'even'] } })).items).toHaveLength(0);
    expect((await reader.ok('listPosts', { query: { author_ref: reader.ref } })).items).toHaveLength(0);
    expect((await reader.ok('listPosts', { query: { asset: withheld.id } })).items).toHaveLength(0);
    expect((await reader.ok('listPosts', { query: { feed: 'following' } })).items).toHaveLength(0);
    await library.deps.db
      .insertInto('user_follows')
      .values({ follower_user_ref: reader.ref, followed_user_ref: mara.ref })
      .execute();
    expect((await reader.ok('listPosts', { query: { feed: 'following', limit: 200 } })).items).toHaveLength(
      25,
    );
  });

  test.each(['x', 'bm90IGEgY3Vyc29y', `${'A'.repeat(499)}`, 'MjAyNi0wMS0wMVQwMDowMDowMFogeA'])(
    'a malformed cursor %s is 400',
    async (cursor) => {
      expect(await reader.refused('listPosts', { query: { cursor } })).toEqual({
        status: 400,
        error: 'malformed cursor',
      });
    },
  );

  test('asks a fixed number of statements, however long the page', async () => {
    const { pool } = library.database;
    let statements = 0;
    const counted = pool.connect.bind(pool);
    const connect = async () => {
      statements += 1;
      return counted();
    };
    Object.assign(pool, { connect });
    const count = async (limit: number) => {
      statements = 0;
      const { items } = await reader.ok('listPosts', { query: { limit } });
      expect(items).toHaveLength(limit);
      return statements;
    };
    // Without the capabilities, which are kept: the session, the ids, the posts, the members.
    expect([await count(1), await count(5), await count(24)]).toEqual([4, 4, 4]);
    Object.assign(pool, { connect: counted });
  });
});

describe('withheld members in the feed (spec 2.11, feed_filters)', () => {
  test('a member the caller may not see is left out, and a post with none left too, but the page stays full', async () => {
    const mixed = await publish(mara, [withheld, shown], { title: 'mixed' });
    const hidden = await Promise.all(Array.from({ length: 7 }, () => publish(mara, [withheld])));
    const { items } = await reader.ok('listPosts', { query: { limit: 10 } });
    expect(items).toHaveLength(10);
    const ids = items.map(({ id }) => id);
    for (const post of hidden) expect(ids).not.toContain(post.id);
    const found = items.find(({ id }) => id === mixed.id);
    expect(found?.members.map(({ asset_id }) => asset_id)).toEqual([shown.id]);
    expect(found?.cover_asset_id).toBe(shown.id);
  });

  test('its author never misses a post', async () => {
    const own = await publish(mara, [withheld]);
    const { items } = await mara.ok('listPosts', { query: { limit: 3 } });
    expect(items.map(({ id }) => id)).toContain(own.id);
    expect(items.find(({ id }) => id === own.id)?.members[0]).toMatchObject({ restricted: false });
  });

  test('a post with no members at all stays', async () => {
    const bare = await library.deps.db
      .insertInto('posts')
      .values({ author_user_ref: mara.ref, state_id: '00000000-0000-4000-8000-000000000202', title: 'bare' })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { items } = await reader.ok('listPosts', { query: { limit: 3 } });
    expect(items.find(({ id }) => id === bare.id)).toMatchObject({ members: [], cover_asset_id: null });
  });

  test('with the filter on every placeholder is there, with exactly its allowed keys', async () => {
    await library.deps.db
      .updateTable('users')
      .set({ preferences: JSON.stringify({ feed_filters: { show_restricted: true } }) })
      .where('ref', '=', reader.ref)
      .execute();
    const { items } = await reader.ok('listPosts', { query: { limit: 50 } });
    const restricted = items.flatMap(({ members }) => members).filter((one) => one.restricted);
    expect(restricted.length).toBeGreaterThanOrEqual(8);
    for (const one of restricted) {
      expect(one).toEqual({
        asset_id: withheld.id,
        sort_order: expect.any(Number),
        restricted: true,
        owner_display_name: 'mara',
      });
    }
    expect(JSON.stringify(items)).not.toContain('secret');
    await library.deps.db
      .updateTable('users')
      .set({ preferences: '{}' })
      .where('ref', '=', reader.ref)
      .execute();
  });

  test('GET /posts/{id} always keeps the placeholder', async () => {
    const post = await publish(mara, [withheld, shown]);
    const { members, cover_asset_id } = await reader.ok('getPost', { params: { id: post.id } });
    expect(members.map(({ restricted }) => restricted)).toEqual([true, false]);
    expect(cover_asset_id).toBe(withheld.id);
  });
});

describe('identities (spec 2.3)', () => {
  test('display name, then full name, then username; the full name never for anonymous', async () => {
    const db = library.deps.db;
    const name = async (visitor: { ok: Account['ok'] }) => {
      const { items } = await visitor.ok('listPosts', { query: { limit: 1 } });
      return items[0]?.author?.display_name;
    };
    await publish(mara, [shown], { visibility: 'public' });
    await library.setPublicMode(true);
    const anonymous = library.anonymous();
    expect([await name(reader), await name(anonymous)]).toEqual(['mara', 'mara']);
    await db.updateTable('users').set({ fullname: 'Mara Lindqvist' }).where('ref', '=', mara.ref).execute();
    expect([await name(reader), await name(anonymous)]).toEqual(['Mara Lindqvist', 'mara']);
    await db.updateTable('users').set({ display_name: 'Mara L.' }).where('ref', '=', mara.ref).execute();
    expect([await name(reader), await name(anonymous)]).toEqual(['Mara L.', 'Mara L.']);
    await db.updateTable('users').set({ hide_from_anonymous: true }).where('ref', '=', mara.ref).execute();
    expect([await name(reader), await name(anonymous)]).toEqual(['Mara L.', undefined]);
    await library.setPublicMode(false);
  });

  test('a hard-deleted account leaves its posts, without an identity', async () => {
    const gone = await library.join('gone');
    const post = await publish(gone, [shown]);
    await library.deps.db.deleteFrom('users').where('ref', '=', gone.ref).execute();
    const after = await reader.ok('getPost', { params: { id: post.id } });
    expect(after.author_user_ref).toBe(gone.ref);
    expect(after).not.toHaveProperty('author');
  });
});

describe('comments_preview (spec 2.2 rule 10)', () => {
  test('is the newest three roots, newest first, without replies and deleted ones', async () => {
    const db = library.deps.db;
    const post = await publish(mara, [shown]);
    const say = async (body: string, minute: number, more: Record<string, unknown> = {}) => {
      const { rows } = await sql<{
        id: string;
      }>`insert into comments (post_id, author_user_ref, body, created_at)
        values (${post.id}, ${reader.ref}, ${body}, ${`2026-02-01T00:0${minute}:00Z`}) returning id`.execute(
        db,
      );
      const id = rows[0]?.id ?? '';
      if (Object.keys(more).length > 0)
        await db.updateTable('comments').set(more).where('id', '=', id).execute();
      return id;
    };
    const first = await say('first', 1);
    await say('second', 2);
    await say('third', 3);
    await say('a reply', 8, { parent_id: first });
    await say('deleted', 7, { deleted_at: '2026-02-01T00:09:00Z' });
    await say('from afar', 4, { author_user_ref: null, remote_display_name: 'Ada at elsewhere' });
    await db.updateTable('posts').set({ comment_count: 5 }).where('id', '=', post.id).execute();
    const { comments_preview } = await mara.ok('getPost', { params: { id: post.id } });
    expect(comments_preview?.map(({ body }) => body)).toEqual(['from afar', 'third', 'second']);
    const [remote, local] = comments_preview ?? [];
    expect(remote).toEqual({
      id: expect.any(String),
      body: 'from afar',
      created_at: '2026-02-01T00:04:00Z',
      remote_display_name: 'Ada at elsewhere',
    });
    expect(local).toMatchObject({ author: { ref: reader.ref, username: 'reader' } });
    expect(local).not.toHaveProperty('remote_display_name');
  });
});
