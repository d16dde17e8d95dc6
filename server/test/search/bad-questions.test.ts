import { beforeAll, describe, expect, test } from 'vitest';
import { arrive, bearer } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';

let library: Library;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await arrive(library, 'mara');
  const picture = await upload(mara, plainFile(), {
    title: '100% *stars* & a | b ! c : d',
    tags: "it's",
  });
  await publish(mara, [picture], { title: '日本語 — “quotes”', description: 'back\\slash' });
});

const surfaces: readonly ((visitor: Visitor, q: string) => Promise<{ status: number; text: string }>)[] = [
  (visitor, q) => visitor.send(`/search?q=${encodeURIComponent(q)}`),
  (visitor, q) => visitor.send(`/search/suggest?q=${encodeURIComponent(q.slice(0, 200))}`),
  (visitor, q) => visitor.send(`/posts?q=${encodeURIComponent(q)}`),
  (visitor, q) => visitor.send(`/assets?q=${encodeURIComponent(q)}`),
];

/** Returns the beginning of a query for use in a test name. */
const named = (q: string) => [q.length > 40 ? `${q.slice(0, 10)}… (${q.length})` : q, q] as const;

// SEARCH-11
describe('an unusual query', () => {
  test.each(
    [
      '&',
      '|',
      '!',
      ':*',
      "'",
      "''",
      '"',
      '"""',
      '-',
      '--',
      '-"',
      '- -',
      '()',
      '(a',
      'a)',
      'a:*',
      'a:b',
      '<->',
      'a <-> b',
      '!a',
      'a & | b',
      '\\',
      "\\'",
      "'; drop table posts; --",
      '%',
      '_',
      '%%%',
      '*',
      '?',
      'a*b',
      '\t\n',
      '😀',
      '😀:*',
      '👨‍👩‍👧‍👦',
      '日本語',
      '"日本',
      '-日本',
      'ﷺ',
      '\ufeff',
      '\u202e',
      'é'.normalize('NFD'),
      'İ',
      '٣',
      'ß',
      '-a',
      '-a -b',
      'the',
      'a b c d e f g h',
      'x'.repeat(1000),
      'ქ'.repeat(1000),
      '日'.repeat(1000),
      'a '.repeat(500),
      '-a '.repeat(333),
      '"a" '.repeat(250),
      '"'.repeat(1000),
      '-'.repeat(1000),
      "'".repeat(1000),
      '\\'.repeat(1000),
      '1e400',
      '-1',
      '1.5',
      'http://example.org/a?b=c',
      'a@b.c',
      '<b>x</b>',
      '&amp;',
      '/path/to/file.jpg',
    ].map(named),
  )('%j is answered', async (_, q) => {
    const answers = await Promise.all(surfaces.map((ask) => ask(mara, q)));
    expect(answers.map(({ status }) => status)).toEqual(surfaces.map(() => 200));
  });

  // SEARCH-11
  test('is answered even if normalization makes it 18 times longer', async () => {
    expect((await mara.send(`/search?q=${encodeURIComponent('ﷺ'.repeat(1000))}`)).status).toBe(200);
  });

  test('matches text with many combining marks', async () => {
    const titles = async (q: string) => {
      const { items } = await mara.ok('search', { query: { q, kind: 'asset' } });
      return items.length;
    };
    for (const q of ['100% *stars*', '"100% *stars*"', "it's", 'STARS & 100', 'a | b'])
      expect([q, await titles(q)]).toEqual([q, 1]);
    for (const q of ['stars -100%', '%', '*', 'sta* -stars']) expect([q, await titles(q)]).toEqual([q, 0]);
  });

  // SEARCH-11
  test('returns 400 for more than a thousand characters and for invalid cursors and filters', async () => {
    const query = [
      `q=${'x'.repeat(1001)}`,
      'cursor=nonsense',
      `cursor=${Buffer.from('hit NaN 2026-01-01T00:00:00Z post:x').toString('base64url')}`,
      `cursor=${Buffer.from('hit 1 2026-99-01T00:00:00Z post:x').toString('base64url')}`,
      'q=a%00b',
      'filter=title',
      'filter=field:nowhere%3D1',
      `filter=field:title%3D${'x'.repeat(10_001)}`,
    ];
    for (const one of query) expect([one, (await mara.send(`/search?${one}`)).status]).toEqual([one, 400]);
  });

  test('requires the scope `read` of a token', async () => {
    const wrong = await bearer(library, mara, ['posts.write']);
    const right = await bearer(library, mara, ['read']);
    expect((await wrong.send('/search?q=x')).status).toBe(403);
    expect((await right.send('/search?q=x')).status).toBe(200);
  });
});
