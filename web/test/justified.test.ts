import { describe, expect, it } from 'vitest';
import { justify, ratioOf, rowsBetween, type TileRow, targetHeightFor } from '#lib/posts/justified.ts';

function randomRatios(count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return 0.5 + (state / 2_147_483_647) * 2.7;
  });
}

const shape = { width: 1392, targetHeight: 290, gap: 12, more: false };

function lineEnd(row: TileRow): number {
  const last = row.tiles.at(-1);
  return last === undefined ? 0 : last.left + last.width;
}

describe('justify', () => {
  it('fills every row but the last to the pixel, without overlaps or gaps of another size', () => {
    for (const width of [351, 768, 1392, 2200]) {
      const sheet = justify(randomRatios(400, 11), { ...shape, width, targetHeight: targetHeightFor(width) });
      for (const row of sheet.rows.slice(0, -1)) {
        expect(lineEnd(row)).toBe(width);
        row.tiles.reduce((left, tile) => {
          expect(tile.left).toBe(left);
          expect(tile.width).toBeGreaterThan(0);
          return left + tile.width + shape.gap;
        }, 0);
      }
    }
  });

  it('shows every picture once, in order', () => {
    const sheet = justify(randomRatios(137, 5), shape);
    const shown = sheet.rows.flatMap((row) => row.tiles.map((tile) => tile.index));
    expect(shown).toEqual(Array.from({ length: 137 }, (_, at) => at));
  });

  it('keeps rows near the target height, and tiles as wide as their pictures but for rounding', () => {
    const ratios = randomRatios(500, 23);
    for (const row of justify(ratios, shape).rows) {
      expect(row.height).toBeGreaterThan(shape.targetHeight * 0.6);
      expect(row.height).toBeLessThan(shape.targetHeight * 1.7);
      for (const tile of row.tiles)
        expect(Math.abs(tile.width - (ratios[tile.index] ?? 0) * row.height)).toBeLessThanOrEqual(6);
    }
  });

  it('does not move what is shown when pictures are appended', () => {
    const ratios = randomRatios(200, 9);
    const before = justify(ratios.slice(0, 50), { ...shape, more: true });
    const after = justify(ratios, { ...shape, more: true });
    expect(before.rows.length).toBeGreaterThan(3);
    expect(after.rows.slice(0, before.rows.length)).toEqual(before.rows);
  });

  it('holds an unfinished row back while more follows, and shows it at its own size at the end', () => {
    expect(justify([1], { ...shape, more: true }).rows).toEqual([]);
    const { rows, height } = justify([1], shape);
    expect(rows).toEqual([{ top: 0, height: 290, tiles: [{ index: 0, left: 0, width: 290 }] }]);
    expect(height).toBe(290);
  });

  it('is empty without pictures or without room', () => {
    expect(justify([], shape)).toEqual({ rows: [], height: 0 });
    expect(justify([1, 2], { ...shape, width: 0 })).toEqual({ rows: [], height: 0 });
  });

  it('gives a picture wider than the sheet its own row', () => {
    const { rows } = justify([3.2, 1, 1], { width: 351, targetHeight: 210, gap: 6, more: false });
    expect(rows[0]?.tiles).toEqual([{ index: 0, left: 0, width: 351 }]);
  });
});

it('the ratio of a picture is square when unknown and stays within limits', () => {
  expect(ratioOf(null, 10)).toBe(1);
  expect(ratioOf(300, 200)).toBe(1.5);
  expect(ratioOf(10_000, 100)).toBe(3.2);
  expect(ratioOf(100, 10_000)).toBe(0.5);
});

describe('rowsBetween', () => {
  it('finds exactly the rows that touch the band', () => {
    const { rows } = justify(randomRatios(5000, 77), shape);
    for (const [from, to] of [
      [-500, -1],
      [0, 900],
      [4321, 6000],
      [1e9, 2e9],
    ] as const) {
      const [first, end] = rowsBetween(rows, from, to);
      const touching = rows.filter((row) => row.top <= to && row.top + row.height >= from);
      expect(rows.slice(first, end)).toEqual(touching);
    }
  });
});
