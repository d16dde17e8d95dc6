import type { SearchHit, SearchPage, SearchQuery } from '@vitrine/contract/search';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { define } from '../fields/values/fields.ts';
import { arrive } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let ines: Account;
let root: Account;
let bytes: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, root] = await Promise.all([
    arrive(library, 'mara'),
    arrive(library, 'ines'),
    arrive(library, 'root', 'admin'),
  ]);
  bytes = await jpeg(40, 30);
});

/** Returns the title of a hit. */
export function nameOf(hit: SearchHit): string {
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
  test('must all match; the last one matches as a prefix', async () => {
    await asset('harbour at dawn');
    await asset('harbour at night');
    expect(await found(ines, 'harbour daw')).toEqual(['asset harbour at dawn']);
    expect(await found(ines, 'harb daw')).toEqual([]);
  });

  // SEARCH-3
  test('in quotes match as a phrase, after a minus they exclude', async () => {
    await asset('red kite bird');
    await asset('kite red paint');
    expect(await found(ines, '"red kite"')).toEqual(['asset red kite bird']);
    expect(await found(ines, 'kite -bird')).toEqual(['asset kite red paint']);
    expect(await found(ines, 'kite -"red kite"')).toEqual(['asset kite red paint']);
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
    const finds = async (q: string) => (await found(ines, q, { kind: 'post' })).length === 1;
    expect(await finds('quagga')).toBe(true);
    const added = await comment('okapi');
    expect([await finds('okapi'), await finds('quagga')]).toEqual([true, true]);
    await comment('aardvark');
    expect([await finds('aardvark'), await finds('okapi'), await finds('quagga')]).toEqual([
      true,
      true,
      false,
    ]);
    await ines.ok('deleteComment', { params: { id: added.id } });
    expect([await finds('aardvark'), await finds('okapi')]).toEqual([true, false]);
  });

  test('are highlighted in rich text without markup', async () => {
    const picture = await asset('lettered');
    const field = await define(library, 'rich_text');
    await mara.ok('setAssetFieldValue', {
      params: { id: picture.id, field_id: field },
      body: { value_text: '<p>Cats &amp; <b>dugongs</b> &lt;3</p>' },
    });
    const { items } = await ines.ok('search', { query: { q: '"dugongs"' } });
    const [mark] = items[0]?.highlights ?? [];
    expect(mark?.text.trim()).toBe('Cats &  dugongs  <3');
    expect(mark?.ranges.map(({ start, end }) => mark.text.slice(start, end))).toEqual(['dugongs']);
  });

  test('are highlighted as ranges of plain text', async () => {
    await asset('<b>Ocelot</b> & "ocelots"', { description: 'nothing' });
    const { items } = await ines.ok('search', { query: { q: 'ocelot', kind: 'asset' } });
    expect(items[0]?.highlights).toEqual([
      {
        source: 'title',
        text: '<b>Ocelot</b> & "ocelots"',
        ranges: [
          { start: 3, end: 9 },
          { start: 17, end: 24 },
        ],
      },
    ]);
  });
});

describe('every kind', () => {
  test('is found by name: people, tags, collections, posts, assets', async () => {
    const picture = await asset('quokka picture', { tags: 'quokka' });
    await publish(mara, [picture], { title: 'quokka post' });
    await mara.ok('createCollection', { body: { name: 'quokka collection', visibility: 'org-only' } });
    await arrive(library, 'quokka');
    expect((await found(ines, 'quokka')).sort()).toEqual([
      'asset quokka picture',
      'collection quokka collection',
      'post quokka post',
      'tag quokka',
      'user quokka',
    ]);
    for (const kind of ['post', 'asset', 'collection', 'user', 'tag'] as const)
      expect((await found(ines, 'quokka', { kind })).length).toBe(1);
  });

  // SEARCH-1
  test('is counted and divided into facets', async () => {
    const page: SearchPage = await root.ok('search', { query: { q: 'quokka', facets: true } });
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
    const kinds = (await found(root, 'quokka', { filter: ['field:title~quokka'] })).map(
      (hit) => hit.split(' ')[0],
    );
    expect(kinds).toEqual(['asset']);
  });
});

describe('pages', () => {
  test.each(['relevance', 'newest', 'oldest'] as const)('by %s go through every hit once', async (sort) => {
    if (sort === 'relevance')
      for (let n = 0; n < 12; n++) await asset(`walrus ${n % 3 === 0 ? 'walrus' : ''} ${n}`);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: SearchPage = await ines.ok('search', {
        query: { q: 'walrus', sort, limit: 5, ...(cursor === null ? {} : { cursor }) },
      });
      expect(page.total).toBe(12);
      seen.push(...page.items.map(nameOf));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect([seen.length, new Set(seen).size]).toEqual([12, 12]);
    if (sort === 'oldest') expect(seen[0]).toContain(' 0');
    if (sort === 'newest') expect(seen[0]).toContain(' 11');
    if (sort === 'relevance')
      expect(seen.slice(0, 4).every((name) => name.startsWith('walrus walrus'))).toBe(true);
  });

  // SEARCH-9
  test.each(['newest', 'oldest'] as const)('by %s go through people who came at one moment', async (sort) => {
    // Numbers above and below ten, whose order as text differs.
    if (sort === 'newest') for (let n = 0; n < 12; n++) await arrive(library, `together${n}`);
    await library.deps.db.updateTable('users').set({ created_at: '2026-01-01T00:00:00Z' }).execute();
    const seen: string[] = [];
    let total = 0;
    let cursor: string | null = null;
    do {
      const page: SearchPage = await ines.ok('search', {
        query: { kind: 'user', sort, limit: 3, ...(cursor === null ? {} : { cursor }) },
      });
      total = page.total;
      seen.push(...page.items.map(nameOf));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect([seen.length, new Set(seen).size]).toEqual([total, total]);
  });

  test('list the newest items if the query is empty', async () => {
    const { items } = await ines.ok('search', { query: { kind: 'asset', limit: 2 } });
    expect(items.map(nameOf)).toEqual(['walrus  11', 'walrus  10']);
  });
});

describe('GET /posts and GET /assets', () => {
  test('search with the same words', async () => {
    const picture = await asset('narwhal picture');
    const { id } = await publish(mara, [picture], { title: 'narwhal post' });
    const posts = await ines.ok('listPosts', { query: { q: 'narwhal -picture' } });
    expect(posts.items.map((post) => post.id)).toEqual([id]);
    const assets = await ines.ok('listAssets', { query: { q: '"narwhal picture"' } });
    expect(assets.items.map((one) => one.id)).toEqual([picture.id]);
    expect((await ines.ok('listPosts', { query: { q: 'narwhal -post' } })).items).toEqual([]);
  });
});

describe('a tag under another name', () => {
  test('is found by its new name on posts and assets, and not by the old one', async () => {
    const picture = await asset('pictured', { tags: 'oldname' });
    await publish(mara, [picture], { title: 'posted', tags: ['oldname'] });
    await root.ok('renameTag', { params: { tag: 'oldname' }, body: { to: 'freshlabel' } });
    expect(await found(ines, '"oldname"')).toEqual([]);
    expect((await found(ines, '"freshlabel"')).sort()).toEqual([
      'asset pictured',
      'post posted',
      'tag freshlabel',
    ]);
  });
});

describe('GET /search/suggest', () => {
  // SEARCH-10
  test('returns at most ten suggestions with this prefix', async () => {
    const suggestions = async (q: string) => (await ines.ok('suggest', { query: { q } })).items;
    expect((await suggestions('quok')).map(({ kind, text }) => `${kind} ${text}`).sort()).toEqual([
      'asset quokka picture',
      'collection quokka collection',
      'post quokka post',
      'tag quokka',
      'user quokka',
    ]);
    expect((await suggestions('w')).length).toBe(10);
    expect(await suggestions('')).toEqual([]);
    expect(await suggestions('quokka xyz')).toEqual([]);
  });
});
