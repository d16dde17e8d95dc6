import type { SearchKind, SearchQuery } from '@vitrine/contract/search';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Caller } from '../../src/access/caller.ts';
import { callerOf } from '../../src/access/caller-of.ts';
import { dependsOnWords, runSearch } from '../../src/content/search/plans.ts';
import { parseQuery, readTerms } from '../../src/content/search-index/parsed-query.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { watchStatements } from '../support/statements.ts';

/**
 * A library that is too large to read all its documents (search/in-order/): every plan for the newest matches finds
 * exactly those that match and that the caller may read.
 */

/** Numbers 1 to 2,400, newest last. */
const ASSETS = 2400;

const numbers = Array.from({ length: ASSETS }, (_, index) => index + 1);

const library = await openLibrary();
const [mara, ines] = await library.joinAll('mara', 'ines');
const root = await library.join('root', 'admin');
const { db } = library.deps;
// Only owners may read `sealed`: ines of two, mara of the others. `buried` is in the 10 oldest.
await sql`insert into files (hash, size_bytes, mime, extension)
    values (repeat('a', 64), 1, 'image/jpeg', 'jpg')`.execute(db);
await sql`insert into assets (owner_user_ref, title, description, asset_type, file_hash, file_name, processing_status,
      sensitivity, mature, created_at)
    select case when n in (5, 700) then ${ines.ref}::bigint else ${mara.ref}::bigint end, 'common number' || n,
      concat_ws(' ', case when n % 40 = 0 then 'fortieth' end, case when n <= 10 then 'buried' end,
        case when n <= 1200 then 'sealed' else 'open' end), 1, repeat('a', 64),
      case when n % 400 = 0 then 'veiled' else 'plain' end || n || '.jpg', 'ready',
      case when n <= 1200 or n % 2 = 0 then 'restricted' else 'public' end, n % 400 = 0,
      timestamptz '2026-01-01' + n * interval '1 second'
    from generate_series(1, ${ASSETS}::integer) n`.execute(db);
await sql`insert into asset_tags (asset_id, value, source, position)
    select id, 'few', 'manual', 0
    from assets where title in ('common number3', 'common number1301', 'common number2000')`.execute(db);

/** Returns the numbers of all hits over all pages, in order. */
async function found(visitor: Visitor, query: SearchQuery): Promise<number[]> {
  const asked: SearchQuery = { kind: 'asset', limit: 200, ...query };
  const pages = await pagesOf((from) => visitor.ok('search', { query: { ...asked, ...from } }));
  const titles = pages.flat().map((hit) => (hit.kind === 'asset' ? hit.asset.title : hit.kind));
  return titles.map((title) => Number(title.slice('common number'.length)));
}

async function total(visitor: Visitor, query: SearchQuery): Promise<[number, boolean]> {
  const page = await visitor.ok('search', { query: { kind: 'asset', limit: 1, ...query } });
  return [page.total, page.total_capped];
}

const newestFirst = (which: (n: number) => boolean) => numbers.filter(which).reverse();
const isTold = (n: number) => n > 1200 && n % 2 === 1;
const toInes = (n: number) => isTold(n) || n === 5 || n === 700;

describe('a word in almost every document', () => {
  // SEARCH-9
  test('is paginated from the newest and from the oldest post', async () => {
    expect(await found(root, { q: 'common', sort: 'newest' })).toEqual(newestFirst(() => true));
    expect(await found(root, { q: 'common', sort: 'oldest' })).toEqual(numbers);
    expect(await found(ines, { q: 'common', sort: 'newest' })).toEqual(newestFirst(toInes));
    expect(await found(ines, { q: 'common', sort: 'oldest' })).toEqual(numbers.filter(toInes));
  });

  // SEARCH-9
  test('is counted exactly up to a thousand', async () => {
    expect(await total(root, { q: 'common' })).toEqual([1000, true]);
    expect(await total(ines, { q: 'common' })).toEqual([602, false]);
    expect(await total(ines, { q: 'common -open' })).toEqual([2, false]);
  });

  test('returns only readable hits to a caller who may read very few', async () => {
    expect(await found(ines, { q: 'sealed', sort: 'newest' })).toEqual([700, 5]);
    expect((await found(ines, { q: 'sealed' })).sort()).toEqual([5, 700]);
    expect(await total(ines, { q: 'sealed', owner_ref: mara.ref })).toEqual([0, false]);
    expect(await total(mara, { q: 'sealed' })).toEqual([1000, true]);
  });

  test('is filtered to a few hits', async () => {
    expect(await found(root, { q: 'common', tag: ['few'], sort: 'newest' })).toEqual([2000, 1301, 3]);
    expect(await found(ines, { q: 'common', tag: ['few'] })).toEqual([1301]);
    expect(await found(root, { q: 'common', owner_ref: ines.ref, sort: 'oldest' })).toEqual([5, 700]);
  });
});

test('an empty query returns the newest items of every kind and their total', async () => {
  const ask = (visitor: Visitor) => visitor.ok('search', { query: { limit: 200 } });
  const { items, total, total_capped, next_cursor } = await ask(root);
  expect([total, total_capped]).toEqual([1000, true]);
  expect(items.slice(0, 3).map(({ kind }) => kind)).toEqual(['user', 'user', 'user']);
  const titles = items.slice(3).map((hit) => (hit.kind === 'asset' ? hit.asset.title : hit.kind));
  expect(titles).toEqual(newestFirst((n) => n > ASSETS - 197).map((n) => `common number${n}`));
  expect(next_cursor).not.toBeNull();
  // Three people and a tag besides the assets.
  const few = await ask(ines);
  expect([few.total, few.total_capped]).toEqual([602 + 3 + 1, false]);
});

describe('a word in some documents', () => {
  test('is found anywhere in the library', async () => {
    const isFortieth = (n: number) => n % 40 === 0;
    expect(await found(root, { q: 'fortieth', sort: 'newest' })).toEqual(newestFirst(isFortieth));
    expect(await found(root, { q: 'fortieth', sort: 'oldest' })).toEqual(numbers.filter(isFortieth));
    expect(new Set(await found(root, { q: 'fortieth' }))).toEqual(new Set(numbers.filter(isFortieth)));
    expect(await total(root, { q: 'fortieth' })).toEqual([60, false]);
    expect(await total(ines, { q: 'fortieth' })).toEqual([0, false]);
    expect(await found(mara, { q: 'buried', sort: 'newest' })).toEqual([10, 9, 8, 7, 6, 4, 3, 2, 1]);
    expect(await found(ines, { q: 'buried' })).toEqual([5]);
  });

  test('in a protected field is found by holders of its capability', async () => {
    const veiled = [400, 800, 1200, 1600, 2000, 2400];
    expect(await found(mara, { q: 'veiled', sort: 'newest' })).toEqual(veiled.toReversed());
    expect(await found(root, { q: 'common veiled', sort: 'oldest' })).toEqual(veiled);
    // Also together with any number of readable words.
    expect(await found(root, { q: 'common fortieth veiled' })).toHaveLength(6);
    expect(await found(root, { q: '-open common veiled', sort: 'newest' })).toEqual([1200, 800, 400]);
    expect(await total(ines, { q: 'veiled' })).toEqual([0, false]);
  });

  // SEARCH-5
  test('is found by similar spelling', async () => {
    await sql`update assets
      set title = 'common xylophone' where title in ('common number17', 'common number2399')`.execute(db);
    expect(await total(mara, { q: 'xylophine' })).toEqual([2, false]);
    expect(await total(ines, { q: 'xylophine' })).toEqual([1, false]);
    const page = await mara.ok('search', { query: { q: 'xylophine' } });
    expect(page.items.map((hit) => hit.fuzzy)).toEqual([true, true]);
  });

  test('is suggested while typing', async () => {
    const texts = async (visitor: Visitor, q: string) =>
      (await visitor.ok('suggest', { query: { q } })).items
        .filter(({ kind }) => kind === 'asset')
        .map(({ text }) => text);
    expect(await texts(root, 'number239')).toHaveLength(10);
    expect(await texts(mara, 'number17')).toHaveLength(10);
    expect(await texts(ines, 'number700')).toEqual(['common number700']);
    expect(await texts(ines, 'number701')).toEqual([]);
    // Suggestions do not include words of descriptions.
    expect(await texts(root, 'buried')).toEqual([]);
  });
});

test('the time of a document equals the time of its row', async () => {
  const [asset] = (await mara.ok('search', { query: { q: 'buried', kind: 'asset' } })).items;
  if (asset?.kind !== 'asset') throw new Error('nothing buried');
  await publish(mara, [asset.asset], { title: 'marmalade' });
  await sql`update posts set posted_at = '2025-05-05' where title = 'marmalade'`.execute(db);
  await sql`update assets set created_at = '2027-01-01' where title = 'common number1'`.execute(db);
  const { rows } = await sql<{ apart: number }>`select
    (select count(*) from posts p join post_documents d on d.post_id = p.id where d.at <> p.posted_at)
    + (select count(*) from assets a join asset_documents d on d.asset_id = a.id
      where d.at <> a.created_at) as apart`.execute(db);
  expect(rows[0]?.apart).toBe(0);
  expect((await mara.ok('search', { query: { q: 'marmalade', sort: 'oldest' } })).total).toBe(1);
  expect((await found(mara, { q: 'common', sort: 'newest' }))[0]).toBe(1);
});

describe('the statements of a search', { tags: ['one-process'] }, () => {
  const asked = async (query: SearchQuery) =>
    (await watchStatements(library, () => ines.ok('search', { query })))[1].map(({ text }) => text);
  const pageOf = async (query: SearchQuery) =>
    (await asked(query)).filter((text) => /^\s*with "hits_/.test(text));

  test('are the same for other words and lengths, so that PostgreSQL keeps their plan', async () => {
    const [page, ...others] = await pageOf({ q: 'common', limit: 24 });
    expect(others).toEqual([]);
    expect(await pageOf({ q: 'number1301', limit: 100 })).toEqual([page]);
    const { next_cursor } = await ines.ok('search', { query: { q: 'common', sort: 'newest', limit: 24 } });
    const cursor = next_cursor ?? '';
    const later = (limit: number) => pageOf({ q: 'common', sort: 'newest', cursor, limit });
    expect(await later(20)).toEqual(await later(24));
    expect(await later(100)).toEqual(await later(200));
  });

  test('have cached plans, and later statements of the connection the previous mode', async () => {
    const read = sql<{ mode: string }>`select current_setting('plan_cache_mode') as mode`;
    // The connection that was released last is the next one.
    await sql`set plan_cache_mode = 'auto'`.execute(db);
    const mode = await runSearch(db, async (tx) => (await read.execute(tx)).rows);
    expect(mode).toEqual([{ mode: 'force_generic_plan' }]);
    expect((await read.execute(db)).rows).toEqual([{ mode: 'auto' }]);
    await sql`reset plan_cache_mode`.execute(db);
  });

  test('are planned for their words only if many assets have one of several words where not everyone may read it', async () => {
    const caller = await callerOf(db, ines.ref);
    if (caller === null) throw new Error('ines has no account');
    const anonymous = { kind: 'anonymous' } as const;
    const depends = await runSearch(db, async (tx) => {
      await sql`insert into asset_gated_documents (asset_id, gate, document)
        select id, 'mature', 'img:1'::tsvector from assets where not mature limit 1500`.execute(tx);
      await sql`analyze asset_gated_documents`.execute(tx);
      const of = async (who: Caller, kinds: readonly SearchKind[], q: string) =>
        dependsOnWords(tx, who, kinds, await parseQuery(tx, readTerms(q)));
      const results = [
        await of(caller, ['post', 'asset'], 'img tag104'),
        await of(caller, ['asset'], 'common tag104'),
        await of(caller, ['asset'], 'img -tag104'),
        await of(caller, ['post'], 'img tag104'),
        await of(anonymous, ['asset'], 'img tag104'),
      ];
      await sql`delete from asset_gated_documents where document @@ 'img'`.execute(tx);
      await sql`analyze asset_gated_documents`.execute(tx);
      return results;
    });
    expect(depends).toEqual([true, false, false, false, false]);
  });
});
