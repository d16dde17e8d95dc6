import { describe, expect, it } from 'vitest';
import { readConditions, writeConditions } from '#lib/search/conditions.ts';
import {
  criteriaOf,
  filterCount,
  hasCriteria,
  noCriteria,
  readCriteria,
  type SearchCriteria,
  savedQueryOf,
  searchAddress,
} from '#lib/search/criteria.ts';
import { distance, meant } from '#lib/search/did-you-mean.ts';
import { piecesOf } from '#lib/search/marks.ts';
import { leadsTo } from '#lib/search/suggestions.ts';

const team = '0198c3a0-0000-7000-8000-000000000001';
const whole: SearchCriteria = {
  q: 'red "old harbour" -night & 50%',
  kind: 'asset',
  type: 3,
  tags: ['dusk', 'a&b'],
  team,
  owner: 7,
  filters: ['field:place~quay #1', 'field:year>=1990'],
  sort: 'oldest',
};

const ask = (search: string) => readCriteria(new URLSearchParams(search));

describe('a search in the URL', () => {
  it('survives a round trip, also through saved searches', () => {
    expect(ask(searchAddress(whole).split('?')[1] ?? '')).toEqual(whole);
    expect(criteriaOf(savedQueryOf(whole))).toEqual(whole);
    expect(criteriaOf(savedQueryOf(noCriteria))).toEqual(noCriteria);
    expect(searchAddress(noCriteria)).toBe('/search');
  });

  it('drops only invalid parts', () => {
    const asked = ask('q=%20sea%20&kind=cat&type=-1&owner=1e99&team=x&sort=up&tag=&filter=');
    expect(asked).toEqual({ ...noCriteria, q: 'sea' });
  });

  it('stays within the server’s limits', () => {
    const tags = Array.from({ length: 12 }, (_, at) => `tag=t${at}`).join('&');
    const filters = Array.from({ length: 25 }, (_, at) => `filter=field:a=${at}`).join('&');
    const asked = ask(`q=${'x'.repeat(1500)}&${tags}&${filters}`);
    expect([asked.q.length, asked.tags.length, asked.filters.length]).toEqual([1000, 10, 20]);
  });

  it('needs words or filters; a kind or an order alone is no search', () => {
    expect(hasCriteria(ask('kind=post&sort=newest'))).toBe(false);
    expect(hasCriteria(ask('tag=sea'))).toBe(true);
    expect(filterCount(whole)).toBe(7);
  });
});

/** Returns the pieces of a text, those that are marked in brackets. */
const marked = (text: string, ...ranges: [number, number][]) =>
  piecesOf({ text, ranges: ranges.map(([start, end]) => ({ start, end })) })
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join('|');

it('highlights lose no character when they overlap, are unordered or out of range', () => {
  expect(marked('abcdef', [3, 99], [1, 4])).toBe('a|[bcd]|[ef]');
});

describe('did you mean', () => {
  it.each([
    ['', 'abc', 3],
    ['harbuor', 'harbour', 1],
    ['harbor', 'harbour', 1],
    ['zebra', 'zebra', 0],
  ])('the distance from %j to %j is %d', (a, b, steps) => {
    expect(distance(a, b)).toBe(steps);
    expect(distance(b, a)).toBe(steps);
  });

  it('replaces a misspelt word by the nearest found word', () => {
    expect(meant('old harbuor', ['Old Harbour at dusk', 'Harvest'])).toBe('old harbour');
    expect(meant('Crème', ['creme brulee'])).toBeUndefined();
    expect(meant('qqqq', ['harbour'])).toBeUndefined();
    expect(meant('a', ['b'])).toBeUndefined();
  });
});

const year = { code: 'year', type: 'number' as const };
const place = { code: 'place', type: 'text' as const };

it('conditions of the form are read from filters and written back with unknown ones', () => {
  const unknown = ['field:year=1995', 'field:gone=1', 'nonsense'];
  const filters = ['field:year>=1990', 'field:year<1999', ...unknown, 'field:place~quay'];
  const { conditions, others } = readConditions(filters, [year, place]);
  expect(others).toEqual(unknown);
  expect(new Set(writeConditions(conditions, [year, place], others))).toEqual(new Set(filters));
});

it('a suggestion links to its item, and a tag to its posts', () => {
  expect(leadsTo({ kind: 'tag', text: 'a b' })).toBe('/search?tag=a+b');
  expect(leadsTo({ kind: 'post', text: 'x', id: team })).toBe(`/posts/${team}`);
  const ana = { ref: 1, username: 'ana', display_name: 'Ana' };
  expect(leadsTo({ kind: 'user', text: 'Ana', user: ana })).toBe('/users/ana');
  expect(leadsTo({ kind: 'post', text: 'x' })).toBeUndefined();
});
