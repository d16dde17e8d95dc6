// @module-tag one-process
import { mostItems } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { addPosts } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { planOf, rowsOf, touched } from '../support/plans.ts';
import { type Statement, statementLike, watchStatements } from '../support/statements.ts';
import { collect, everyCollection, idsIn, move, placeAll, put } from './shelves.ts';

const library = await openLibrary();
const [mara, ann] = await library.joinAll('mara', 'ann');
const root = await library.join('root', 'admin');
const asset = await upload(mara, plainFile());
// Skips search documents, which would take most of the time.
await sql`alter table posts disable trigger user`.execute(library.deps.db);
const many = await addPosts(library, { author: mara, members: [asset.id], count: 10_100 });
await sql`alter table posts enable trigger user`.execute(library.deps.db);
/** A collection of 10,100 posts. */
const id = (await collect(mara, 'ten thousand')).id;
await placeAll(library, id, many, mara.ref);
for (let n = 0; n < 20; n += 1) {
  const small = await collect(mara, `small ${n}`);
  await placeAll(library, small.id, many.slice(n * 10, n * 10 + 10), mara.ref);
}
for (const table of ['posts', 'post_members', 'collections', 'collection_posts', 'assets'])
  await sql`vacuum analyze ${sql.table(table)}`.execute(library.deps.db);

const statementsDuring = async (act: () => Promise<unknown>): Promise<Statement[]> =>
  (await watchStatements(library, act))[1];

describe('what a large collection costs', () => {
  test('a page reads only its part of the index, also a late one', async () => {
    const first = await ann.ok('listCollectionPosts', { params: { id }, query: { limit: 20 } });
    for (const cursor of [{}, { cursor: first.next_cursor ?? '' }]) {
      const query = { limit: 20, ...cursor };
      const read = () => ann.ok('listCollectionPosts', { params: { id }, query });
      const page = statementLike(await statementsDuring(read), /cp\.position::text/);
      const nodes = await planOf(library, page);
      expect(nodes.map((node) => node['Index Name'])).toContain('collection_posts_order');
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
      expect(touched(nodes, 'collection_posts')).toBeLessThan(100);
    }
  });

  test('a list of collections needs a fixed number of statements and counts to a limit', async () => {
    const of = (limit: number) =>
      statementsDuring(() => ann.ok('listCollections', { query: { limit, owner_ref: mara.ref } }));
    const [one, all] = [await of(1), await of(200)];
    expect(all.length).toBe(one.length);
    const list = statementLike(all, /from collections c/);
    // 200 in the small ones, 1,000 of the large one, and some read for covers.
    expect(touched(await planOf(library, list), 'collection_posts')).toBeLessThan(2_500);
  });

  // COLLECTION-6
  test('item_count is at most 10,000 for one collection and 1,000 in lists', async () => {
    expect((await ann.ok('getCollection', { params: { id } })).item_count).toBe(10_000);
    const listed = (await everyCollection(ann, { limit: 200 })).find((one) => one.id === id);
    expect(listed?.item_count).toBe(1_000);
  });
});

test('reorders 10,000 posts, and keeps the order under concurrent moves', async () => {
  const send = (who: Visitor, body: unknown) => who.send(`/collections/${id}/order`, { method: 'PUT', body });
  const reversed = many.slice(0, 10_000).reverse();
  const statements = await statementsDuring(() => send(mara, { post_ids: many.slice(0, 2) }));
  const arrange = statementLike(statements, /update collection_posts/);
  const values = arrange.values.map((value) => (Array.isArray(value) ? reversed : value));
  const plan = await planOf(library, { ...arrange, values });
  // The cached plan once compared each post with each place.
  expect(Math.max(...plan.map(rowsOf))).toBeLessThan(50_000);
  expect((await send(mara, { post_ids: reversed })).status).toBe(204);
  const [last, first] = [reversed[9_999] ?? '', reversed[0] ?? ''];
  await Promise.all([move(mara, id, last, first), move(root, id, reversed[5_000] ?? '', reversed[1] ?? '')]);
  const due = [last, first, reversed[5_000], ...reversed.slice(1, 5_000), ...reversed.slice(5_001, 9_999)];
  const { rows } = await sql<{ post_id: string }>`select post_id from collection_posts
    where collection_id = ${id} order by position, post_id`.execute(library.deps.db);
  expect(rows.map(({ post_id }) => post_id)).toEqual([...due, ...many.slice(10_000)]);
});

// COLLECTION-7
test('refuses the 100,001st post, but not one that it contains', async () => {
  const { db } = library.deps;
  const full = await collect(mara, 'full', [{ id: many[0] ?? '' }]);
  // Inserts rows only, because creating a hundred thousand posts over HTTP takes too long.
  await sql`alter table collection_posts disable trigger user,
    drop constraint collection_posts_post_id_fkey`.execute(db);
  await sql`insert into collection_posts (collection_id, post_id, position, added_by)
    select ${full.id}, gen_random_uuid(), (100 + n) * 4294967296, ${mara.ref}
    from generate_series(1, ${mostItems - 2}::int) n`.execute(db);
  await sql`alter table collection_posts enable trigger user`.execute(db);
  const [fits, tooMany] = [await publish(mara, [asset]), await publish(mara, [asset])];
  await put(mara, full.id, fits.id);
  const refused = await mara.refused('addToCollection', { params: { id: full.id, post_id: tooMany.id } });
  expect(refused).toEqual({ status: 409, error: 'a collection holds at most 100000 items' });
  await put(mara, full.id, fits.id);
  const body = { members: [{ asset_id: asset.id }], collection_id: full.id, title: 'too many' };
  expect((await mara.refused('createPost', { body })).status).toBe(409);
  expect(await db.selectFrom('posts').select('id').where('title', '=', 'too many').execute()).toEqual([]);
  expect(await idsIn(mara, full.id)).toEqual([many[0], fits.id]);
});
