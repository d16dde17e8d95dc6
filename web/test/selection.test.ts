import { describe, expect, it } from 'vitest';
import { chosenTargets, keyOf, nounsFor, sumOf } from '#lib/batches/targets.ts';
import { neighbour } from '#lib/selection/neighbour.ts';
import { span } from '#lib/selection/span.ts';
import { chosenInWords } from '#lib/selection/words.ts';

describe('a range of chosen items', () => {
  const order = ['a', 'b', 'c', 'd'];

  it('includes both ends, in either direction', () => {
    expect(span(order, 'b', 'd')).toEqual(['b', 'c', 'd']);
    expect(span(order, 'd', 'b')).toEqual(['b', 'c', 'd']);
    expect(span(order, 'c', 'c')).toEqual(['c']);
  });

  it('is only the item itself when its beginning is no longer in the list', () => {
    expect(span(order, 'gone', 'c')).toEqual(['c']);
  });
});

describe('arrow keys in rows of different widths', () => {
  const place = (id: string, left: number, top: number, width: number) => ({
    id,
    left,
    top,
    width,
    height: 90,
  });
  const places = [
    place('a', 0, 0, 100),
    place('b', 110, 0, 200),
    place('c', 0, 100.2, 250),
    place('d', 260, 100.4, 50),
    place('e', 0, 200, 310),
  ];

  it('lead to the previous and next item, across rows', () => {
    expect(neighbour(places, 'b', 'ArrowRight')).toBe('c');
    expect(neighbour(places, 'c', 'ArrowLeft')).toBe('b');
    expect(neighbour(places, 'e', 'ArrowRight')).toBeUndefined();
  });

  it('lead to the nearest item of the next row', () => {
    expect(neighbour(places, 'a', 'ArrowDown')).toBe('c');
    expect(neighbour(places, 'b', 'ArrowDown')).toBe('d');
    expect(neighbour(places, 'e', 'ArrowUp')).toBe('c');
    expect(neighbour(places, 'a', 'ArrowUp')).toBeUndefined();
  });
});

describe('the number of selected items', () => {
  const nouns = nounsFor(['asset']);

  it('is spelled out', () => {
    expect(chosenInWords({ count: 1, everything: false }, nouns, undefined)).toBe('1 file selected');
    expect(chosenInWords({ count: 2340, everything: false }, nouns, undefined)).toBe('2,340 files selected');
    expect(chosenInWords({ count: 50, everything: true }, nouns, '2,340')).toBe('All 2,340 results selected');
  });
});

describe('a selection of files and posts', () => {
  it('is changed as files and as posts, each in the order in which they were selected', () => {
    const chosen = [keyOf('post', 'p1'), keyOf('asset', 'a2'), keyOf('asset', 'a1')];
    expect(chosenTargets(chosen, 'mixed')).toEqual([
      { subject: 'asset', ids: ['a2', 'a1'] },
      { subject: 'post', ids: ['p1'] },
    ]);
    expect(chosenTargets([keyOf('post', 'p1')], 'mixed')).toEqual([{ subject: 'post', ids: ['p1'] }]);
    expect(chosenTargets(['a1'], 'asset')).toEqual([{ subject: 'asset', ids: ['a1'] }]);
    expect(chosenTargets([], 'post')).toEqual([]);
  });

  it('is named after what it contains', () => {
    expect(nounsFor(['post']).counted(2)).toBe('2 posts');
    expect(nounsFor(['asset', 'post']).counted(2)).toBe('2 items');
  });

  it('is previewed as one, with each reason once', () => {
    const refused = (count: number, id: string) => [{ reason: 'not found', count, ids: [id] }];
    expect(
      sumOf([
        { matched: 3, changes: 1, unchanged: 1, refused: refused(1, 'a1') },
        { matched: 4, changes: 2, unchanged: 0, refused: refused(2, 'p1') },
      ]),
    ).toEqual({
      matched: 7,
      changes: 3,
      unchanged: 1,
      refused: [{ reason: 'not found', count: 3, ids: ['a1', 'p1'] }],
    });
  });
});
