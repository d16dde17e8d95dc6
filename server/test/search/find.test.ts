import type { SearchHit, SearchQuery } from '@vitrine/contract/search';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { define } from '../fields/values/fields.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { jpeg } from '../support/pictures.ts';

const library = await openLibrary();
const [mara, ines] = await library.joinAll('mara', 'ines');
const root = await library.join('root', 'admin');
const bytes = await jpeg(40, 30);

/** Returns the title of a hit. */
function nameOf(hit: SearchHit): string {
  switch (hit.kind) {
    case 'post':
      return hit.post.title;
    case 'asset':
      return hit.asset.title;
    case 'collection':
      return hit.collection.name;
    case 'user':
      return hit.user.username;
    case 'tag':
      return hit.tag.tag;
  }
}

async function found(visitor: Visitor, q: string, query: SearchQuery = {}): Promise<string[]> {
  const page = await visitor.ok('search', { query: { q, ...query } });
  return page.items.map((hit) => `${hit.kind} ${nameOf(hit)}`);
}

const asset = (title: string, fields: Record<string, string> = {}, name?: string) =>
  upload(mara, bytes, { title, ...fields }, name);

describe('words', () => {
  test('rank matches in titles, tags, descriptions, file names and comments in this order', async () => {
    const picture = await asset('zebra alone');
    await asset('a', { tags: 'zebra' });
    await asset('b', { description: 'one zebra' });
    await asset('c', {}, 'IMG_zebra-0001.jpg');
    const post = await publish(mara, [picture], { title: 'd' });
    await ines.ok('createComment', { params: { id: post.id }, body: { body: 'what a zebra' } });
    const names = await found(ines, 'zebra');
    expect(names.slice(0, 2).sort()).toEqual(['asset zebra alone', 'tag zebra']);
    expect(names.slice(2, 4).sort()).toEqual(['asset a', 'asset c']);
    expect(names.slice(4)).toEqual(['asset b', 'post d']);
  });

  // SEARCH-3
  test('must all match, the last one as a prefix; quotes ask for a phrase, a minus excludes', async () => {
    const [bird, paint] = ['red kite bird', 'kite red paint'];
    await asset(bird);
    await asset(paint);
    for (const [q, titles] of [
      ['kite bir', [bird]],
      ['kit bird', []],
      ['"red kite"', [bird]],
      ['kite -bird', [paint]],
      ['kite -"red kite"', [paint]],
    ] as const)
      expect([q, await found(ines, q)]).toEqual([q, titles.map((title) => `asset ${title}`)]);
  });

  // SEARCH-4
  test('match regardless of case and accents, in any script', async () => {
    await asset('Éléphant à Žižkov');
    await asset('東京タワーの夜景');
    await asset('Вечерний город');
    expect(await found(ines, 'elephant zizkov')).toEqual(['asset Éléphant à Žižkov']);
    expect(await found(ines, 'タワー')).toEqual(['asset 東京タワーの夜景']);
    expect(await found(ines, '京夜')).toEqual([]);
    expect(await found(ines, 'ГОРОД')).toEqual(['asset Вечерний город']);
  });

  // SEARCH-5
  test('that are misspelt match similar names if there are few exact hits', async () => {
    await asset('lighthouse');
    await asset('Воскресенье');
    const page = await ines.ok('search', { query: { q: 'lighthuose' } });
    expect(page.items.map((hit) => [nameOf(hit), hit.fuzzy])).toEqual([['lighthouse', true]]);
    expect(await found(ines, 'воскресенее')).toEqual(['asset Воскресенье']);
    expect(await found(ines, 'lighthuose -lighthouse')).toEqual([]);
  });

  // SEARCH-19
  test('with digits are matched as written or as a prefix, and never corrected', async () => {
    await asset('windmill 77771');
    await asset('SCAN_0042v2');
    expect(await found(ines, '77777')).toEqual([]);
    expect(await found(ines, 'SCAN_0043v2')).toEqual([]);
    expect(await found(ines, '7777')).toEqual(['asset windmill 77771']);
    expect(await found(ines, 'scan_0042')).toEqual(['asset SCAN_0042v2']);
    // The other words are corrected as usual.
    expect(await found(ines, 'windmlil 77771')).toEqual(['asset windmill 77771']);
    expect(await found(ines, 'windmlil 77772')).toEqual([]);
  });

  // SEARCH-20
  test('of a post are those of its newest 1,000 comments, and of up to 99 more', async () => {
    const post = await publish(mara, [await asset('much discussed')], { title: 'much discussed' });
    // The oldest of the newest thousand posts has a unique word.
    await sql`insert into comments (post_id, author_user_ref, body, created_at)
      select ${post.id}, ${mara.ref}, case n when 1000 then 'quagga' else 'and ' || n end, now() - make_interval(secs => n)
      from generate_series(1, 1098) n`.execute(library.deps.db);
    const comment = (body: string) => ines.ok('createComment', { params: { id: post.id }, body: { body } });
    const finds = (...words: string[]) =>
      Promise.all(words.map(async (q) => (await found(ines, q, { kind: 'post' })).length === 1));
    expect(await finds('quagga')).toEqual([true]);
    const added = await comment('okapi');
    expect(await finds('okapi', 'quagga')).toEqual([true, true]);
    await comment('aardvark');
    expect(await finds('aardvark', 'okapi', 'quagga')).toEqual([true, true, false]);
    await ines.ok('deleteComment', { params: { id: added.id } });
    expect(await finds('aardvark', 'okapi')).toEqual([true, false]);
  });

  test('are highlighted as ranges of plain text, also in rich text', async () => {
    const picture = await asset('<b>Ocelot</b> & "ocelots"');
    const field_id = await define(library, 'rich_text');
    const body = { value_text: '<p>Cats &amp; <b>dugongs</b> &lt;3</p>' };
    await mara.ok('setAssetFieldValue', { params: { id: picture.id, field_id }, body });
    const marked = async (q: string) => {
      const { items } = await ines.ok('search', { query: { q, kind: 'asset' } });
      return items[0]?.highlights.map(({ text, ranges }) => [
        text.trim(),
        ...ranges.map(({ start, end }) => text.slice(start, end)),
      ]);
    };
    expect(await marked('ocelot')).toEqual([['<b>Ocelot</b> & "ocelots"', 'Ocelot', 'ocelots']]);
    expect(await marked('"dugongs"')).toEqual([['Cats &  dugongs  <3', 'dugongs']]);
    // SEARCH-4
    const title = 'Łódź Weißstraße 한국 ガラス';
    await asset(title);
    for (const q of ['lodz', 'weissstrasse', '한국', 'ｶﾞﾗｽ'])
      expect(await marked(q)).toEqual([[title, expect.stringMatching(/^(Łódź|Weißstraße|한국|ガラス)$/)]]);
  });
});

const named = ['asset quokka picture', 'collection quokka collection', 'post quokka post'];
const quokkas = [...named, 'tag quokka', 'user quokka'];

describe('every kind', () => {
  test('is found by name: people, tags, collections, posts, assets', async () => {
    const picture = await asset('quokka picture', { tags: 'quokka' });
    await publish(mara, [picture], { title: 'quokka post' });
    await mara.ok('createCollection', { body: { name: 'quokka collection', visibility: 'org-only' } });
    await library.join('quokka');
    expect((await found(ines, 'quokka')).sort()).toEqual(quokkas);
    for (const kind of ['post', 'asset', 'collection', 'user', 'tag'] as const)
      expect((await found(ines, 'quokka', { kind })).length).toBe(1);
  });

  // SEARCH-1
  test('is counted and divided into facets', async () => {
    const page = await root.ok('search', { query: { q: 'quokka', facets: true } });
    expect([page.total, page.total_capped]).toEqual([5, false]);
    expect(page.facets?.kind.map(({ value, count }) => `${value} ${count}`).sort()).toEqual([
      'asset 1',
      'collection 1',
      'post 1',
      'tag 1',
      'user 1',
    ]);
    expect(page.facets?.asset_type).toEqual([{ value: 1, label: 'Image', count: 1 }]);
    expect(page.facets?.tag).toEqual([{ value: 'quokka', label: 'quokka', count: 1 }]);
  });

  // SEARCH-15
  test('except assets is omitted if a filter is given', async () => {
    const filter = ['field:title~quokka'];
    expect(await found(root, 'quokka', { filter })).toEqual(['asset quokka picture']);
  });
});

/** Returns the names on all pages, whose totals must agree. */
async function everyName(query: SearchQuery): Promise<string[]> {
  const totals = new Set<number>();
  const pages = await pagesOf(async (from) => {
    const page = await ines.ok('search', { query: { ...query, ...from } });
    totals.add(page.total);
    return page;
  });
  const names = pages.flat().map(nameOf);
  expect([...totals, new Set(names).size]).toEqual([names.length, names.length]);
  return names;
}

describe('pages', () => {
  // SEARCH-9
  test('go through every hit once, in each order', async () => {
    for (let n = 0; n < 12; n++) await asset(`walrus ${n % 3 === 0 ? 'walrus' : ''} ${n}`);
    const pagesBy = (sort: 'relevance' | 'newest' | 'oldest') => everyName({ q: 'walrus', sort, limit: 5 });
    const relevant = await pagesBy('relevance');
    expect(relevant).toHaveLength(12);
    expect(relevant.slice(0, 4).every((name) => name.startsWith('walrus walrus'))).toBe(true);
    const newest = await pagesBy('newest');
    expect(newest[0]).toContain(' 11');
    expect(await pagesBy('oldest')).toEqual(newest.toReversed());
  });

  // SEARCH-9
  test('go through people who came at one moment', async () => {
    // Numbers above and below ten, whose order as text differs.
    for (let n = 0; n < 12; n++) await library.join(`together${n}`);
    await library.deps.db.updateTable('users').set({ created_at: '2026-01-01T00:00:00Z' }).execute();
    const newest = await everyName({ kind: 'user', sort: 'newest', limit: 3 });
    expect((await everyName({ kind: 'user', sort: 'oldest', limit: 3 })).sort()).toEqual(newest.sort());
  });

  test('list the newest items if the query is empty', async () => {
    const { items } = await ines.ok('search', { query: { kind: 'asset', limit: 2 } });
    expect(items.map(nameOf)).toEqual(['walrus  11', 'walrus  10']);
  });
});

test('GET /posts and GET /assets search with the same words', async () => {
  const picture = await asset('narwhal picture');
  const { id } = await publish(mara, [picture], { title: 'narwhal post' });
  const posts = await ines.ok('listPosts', { query: { q: 'narwhal -picture' } });
  expect(posts.items.map((post) => post.id)).toEqual([id]);
  const assets = await ines.ok('listAssets', { query: { q: '"narwhal picture"' } });
  expect(assets.items.map((one) => one.id)).toEqual([picture.id]);
  expect((await ines.ok('listPosts', { query: { q: 'narwhal -post' } })).items).toEqual([]);
});

test('a tag under another name is found by its new name on posts and assets, and not by the old one', async () => {
  const picture = await asset('pictured', { tags: 'oldname' });
  await publish(mara, [picture], { title: 'posted', tags: ['oldname'] });
  await root.ok('renameTag', { params: { tag: 'oldname' }, body: { to: 'freshlabel' } });
  expect(await found(ines, '"oldname"')).toEqual([]);
  const hits = (await found(ines, '"freshlabel"')).sort();
  expect(hits).toEqual(['asset pictured', 'post posted', 'tag freshlabel']);
});

// SEARCH-10
test('GET /search/suggest returns at most ten suggestions with this prefix', async () => {
  const suggestions = async (q: string) => (await ines.ok('suggest', { query: { q } })).items;
  expect((await suggestions('quok')).map(({ kind, text }) => `${kind} ${text}`).sort()).toEqual(quokkas);
  expect((await suggestions('w')).length).toBe(10);
  expect(await suggestions('')).toEqual([]);
  expect(await suggestions('quokka xyz')).toEqual([]);
});

/** Queries without blanks. */
const words = String.raw`
  & | ! :* ' '' " """ - -- -" () (a a) a:* a:b <-> !a \ \' % _ %%% * ? a*b -a the 1e400 -1 1.5
  😀 😀:* 👨‍👩‍👧‍👦 日本語 "日本 -日本 ﷺ İ ٣ ß http://example.org/a?b=c a@b.c <b>x</b> &amp; /path/to/file.jpg`;

const queries = [
  ...words.trim().split(/\s+/),
  '- -',
  '-a -b',
  'a & | b',
  "'; drop table posts; --",
  '\t\n',
  '\ufeff',
  '\u202e',
  'é'.normalize('NFD'),
  ...['x', 'ქ', '日', '"', '-', "'", '\\'].map((one) => one.repeat(1000)),
  ...['a ', '-a ', '"a" '].map((one) => one.repeat(250)),
];

describe('an unusual query', () => {
  // SEARCH-11
  test('is answered by everything that takes one', async () => {
    for (const [nth, q] of queries.entries()) {
      const asked = [
        ['/search', q],
        ['/search/suggest', q.slice(0, 200)],
        // Both lists parse it like a search, so each is sent every other query.
        [nth % 2 === 0 ? '/posts' : '/assets', q],
      ] as const;
      for (const [path, text] of asked) {
        const status = await mara.status('GET', `${path}?q=${encodeURIComponent(text)}`);
        expect([path, text, status]).toEqual([path, text, 200]);
      }
    }
    // Normalization makes this one 18 times longer.
    expect(await mara.status('GET', `/search?q=${encodeURIComponent('ﷺ'.repeat(1000))}`)).toBe(200);
  });

  // SEARCH-21
  test.each([
    ['שָׁלוֹם עֲלֵיכֶם', 'שלום'],
    ['שלום חברים', 'שָׁלוֹם'],
    ['שָׁלוֹם־רַב', 'רב'],
    ['مَدْرَسَةٌ جديدة', 'مدرسة'],
    ['مدرسة قديمة', 'مَدْرَسَةٌ'],
    ['محـــمد الأمين', 'محمد'],
    ['محمد الصغير', 'محـمد'],
    ['قُرْآن كريم', 'قرآن'],
  ])('finds %s by %s', async (title, q) => {
    const { id } = await asset(title);
    const { items } = await mara.ok('search', { query: { q, kind: 'asset' } });
    const found = items.find((item) => item.kind === 'asset' && item.asset.id === id);
    expect(found).toBeDefined();
    expect(found?.highlights?.length).toBeGreaterThan(0);
  });

  test('matches text by its words', async () => {
    await asset('100% *stars* & a | b ! c : d', { tags: "it's" });
    const total = async (q: string) => (await mara.ok('search', { query: { q, kind: 'asset' } })).total;
    for (const q of ['100% *stars*', '"100% *stars*"', "it's", 'STARS & 100', 'a | b'])
      expect([q, await total(q)]).toEqual([q, 1]);
    for (const q of ['stars -100%', '%', '*', 'sta* -stars']) expect([q, await total(q)]).toEqual([q, 0]);
  });

  test('is 400 with invalid cursors and filters', async () => {
    const cursor = (text: string) => `cursor=${Buffer.from(text).toString('base64url')}`;
    for (const query of [
      cursor('hit {"score":"NaN","at":"2026-01-01T00:00:00Z","key":"post:x"}'),
      cursor('hit {"score":1,"at":"2026-99-01T00:00:00Z","key":"post:x"}'),
      'filter=title',
      'filter=field:nowhere%3D1',
      `filter=field:title%3D${'x'.repeat(10_001)}`,
    ])
      expect([query, await mara.status('GET', `/search?${query}`)]).toEqual([query, 400]);
  });
});
