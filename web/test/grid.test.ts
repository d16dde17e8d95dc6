import { describe, expect, it } from 'vitest';
import { type LibraryView, layOut } from '#lib/assets/grid.ts';
import { rowsBetween } from '#lib/posts/sheet.ts';

const views: readonly LibraryView[] = ['small', 'medium', 'large', 'list'];

describe('the grid of assets', () => {
  it.each([390, 1440].flatMap((width) => views.map((view) => ({ width, view }))))(
    'has as many tiles near the window for 50,000 files as for 1,000: $view at $width pixels',
    ({ width, view }) => {
      const tilesOf = (count: number) => {
        const { rows, height } = layOut(count, () => 0, { width, view });
        const [first, end] = rowsBetween(rows, height / 2 - 1600, height / 2 + 1600);
        return rows.slice(first, end).reduce((sum, { tiles }) => sum + tiles.length, 0);
      };
      const few = tilesOf(1000);
      expect(few).toBeLessThan(500);
      // The window may begin in the middle of a row.
      const [row] = layOut(1000, () => 0, { width, view }).rows;
      expect(Math.abs(tilesOf(50_000) - few)).toBeLessThanOrEqual((row?.tiles.length ?? 0) * 2);
    },
  );
});
