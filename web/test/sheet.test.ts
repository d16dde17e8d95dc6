import { describe, expect, it } from 'vitest';
import { arrange, type Layout, ratioOf, rowsBetween, type Sheet } from '#lib/posts/sheet.ts';

function randomRatios(count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return 0.5 + (state / 2_147_483_647) * 2.7;
  });
}

const layouts: readonly Layout[] = ['grid', 'masonry', 'thumbnail', 'list', 'feed'];
const widths = [320, 366, 796, 1392, 2200];

interface Box {
  readonly index: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const boxesOf = ({ rows }: Sheet): Box[] =>
  rows.flatMap(({ top, height, tiles }) => tiles.map((tile) => ({ ...tile, top, height })));

const widthsOf = (boxes: readonly Box[]) => new Set(boxes.map(({ width }) => width));

const overlap = (a: Box, b: Box) =>
  a.left < b.left + b.width - 0.01 &&
  b.left < a.left + a.width - 0.01 &&
  a.top < b.top + b.height - 0.01 &&
  b.top < a.top + a.height - 0.01;

// PREFERENCE-8
describe.each(layouts)('the layout %s', (layout) => {
  const sheet = (count: number, width = 1392, more = false) =>
    arrange(randomRatios(count, 5), { layout, width, more });

  it('shows every post once, in order, inside the sheet and without overlaps', () => {
    for (const width of widths) {
      const whole = sheet(60, width);
      const boxes = boxesOf(whole);
      expect(boxes.map(({ index }) => index)).toEqual(Array.from({ length: 60 }, (_, at) => at));
      for (const [at, box] of boxes.entries()) {
        expect(box.left).toBeGreaterThanOrEqual(0);
        expect(box.left + box.width).toBeLessThanOrEqual(width + 0.01);
        expect(box.top + box.height).toBeLessThanOrEqual(whole.height + 0.01);
        expect(boxes.slice(at + 1).filter((other) => overlap(box, other))).toEqual([]);
      }
    }
  });

  it('does not move what is shown when posts are appended', () => {
    const before = sheet(50, 1392, true).rows;
    expect(before.length).toBeGreaterThan(3);
    expect(sheet(200, 1392, true).rows.slice(0, before.length)).toEqual(before);
  });

  it('finds the rows that touch a part of the sheet', () => {
    const { rows } = sheet(2000);
    for (const [from, to] of [
      [-500, -1],
      [0, 900],
      [4321, 6000],
      [1e9, 2e9],
    ] as const) {
      const [first, end] = rowsBetween(rows, from, to);
      const touches = (row: (typeof rows)[number]) => row.top <= to && row.top + row.height >= from;
      expect(rows.filter(touches).every((row) => rows.indexOf(row) >= first && rows.indexOf(row) < end)).toBe(
        true,
      );
      expect(end - first - rows.filter(touches).length).toBeLessThan(20);
    }
  });

  it('is empty without posts or without room', () => {
    expect(sheet(0)).toEqual({ rows: [], height: 0 });
    expect(sheet(2, 0)).toEqual({ rows: [], height: 0 });
  });
});

// PREFERENCE-8
describe('arrange', () => {
  const boxes = (layout: Layout, width: number) =>
    boxesOf(arrange(randomRatios(100, 23), { layout, width, more: false }));

  it('shows square tiles as a grid, and smaller ones as thumbnails', () => {
    for (const width of widths) {
      for (const layout of ['grid', 'thumbnail'] as const)
        for (const box of boxes(layout, width)) expect(box.height).toBe(box.width);
      const [grid, thumbnail] = [boxes('grid', width)[0], boxes('thumbnail', width)[0]];
      expect(thumbnail?.width ?? 0).toBeLessThan((grid?.width ?? 0) * 0.7);
    }
  });

  it('shows columns of equal width as masonry, each tile as high as its picture', () => {
    for (const width of widths) {
      const tiles = boxes('masonry', width);
      expect(widthsOf(tiles).size).toBe(1);
      expect(new Set(tiles.map(({ left }) => left)).size).toBeGreaterThan(1);
      for (const [at, ratio] of randomRatios(100, 23).entries())
        expect(Math.abs((tiles[at]?.height ?? 0) - (tiles[at]?.width ?? 0) / ratio)).toBeLessThan(1);
    }
  });

  it('shows rows of at most 200 pixels as a list', () => {
    for (const width of widths)
      for (const box of boxes('list', width)) {
        expect(box.width).toBe(width);
        expect(box.height).toBeLessThanOrEqual(200);
      }
  });

  it('shows one column of at least 400 pixels as a feed, if the window has room for it', () => {
    for (const width of widths) {
      const tiles = boxes('feed', width);
      expect(new Set(tiles.map(({ left }) => left)).size).toBe(1);
      expect([...widthsOf(tiles)][0]).toBeGreaterThanOrEqual(Math.min(width, 400));
    }
  });

  it('withholds an incomplete row of squares while more posts follow', () => {
    const shape = { layout: 'grid', width: 1392 } as const;
    expect(arrange([1], { ...shape, more: true }).rows).toEqual([]);
    expect(arrange([1], { ...shape, more: false }).rows).toHaveLength(1);
  });
});

it('the ratio of a picture is square when unknown and stays within limits', () => {
  expect(ratioOf(null, 10)).toBe(1);
  expect(ratioOf(300, 200)).toBe(1.5);
  expect(ratioOf(10_000, 100)).toBe(3.2);
  expect(ratioOf(100, 10_000)).toBe(0.5);
});
