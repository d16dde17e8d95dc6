import type { Shape } from '../ladder.ts';

/** Deep Zoom: each level halves the one above it, down to a single pixel at level 0. */

/** Edge of a tile in pixels without its overlap; 512 with it. */
export const TILE_SIZE = 510;
/** Number of pixels that a tile shares with each neighbour. */
export const OVERLAP = 1;

/** Returns the number of levels of a picture of this shape. */
export function levelsOf({ width, height }: Shape): number {
  return Math.ceil(Math.log2(Math.max(width, height))) + 1;
}

interface Grid {
  columns: number;
  rows: number;
}

/** Returns the tile columns and rows of a level, or null if there is no such level. */
function gridOf(shape: Shape, level: number): Grid | null {
  const levels = levelsOf(shape);
  if (!Number.isInteger(level) || level < 0 || level >= levels) return null;
  const scale = 2 ** (levels - 1 - level);
  return {
    columns: Math.ceil(Math.ceil(shape.width / scale) / TILE_SIZE),
    rows: Math.ceil(Math.ceil(shape.height / scale) / TILE_SIZE),
  };
}

/** Returns the number of tiles of a picture on all levels. */
export function countTiles(shape: Shape): number {
  let count = 0;
  for (let level = 0; level < levelsOf(shape); level += 1) {
    const grid = gridOf(shape, level);
    count += grid === null ? 0 : grid.columns * grid.rows;
  }
  return count;
}

/**
 * Returns the index of a tile among all tiles, ordered by level from the smallest, then by row. Returns null if there
 * is no such tile.
 */
export function tileIndex(shape: Shape, level: number, column: number, row: number): number | null {
  const grid = gridOf(shape, level);
  if (grid === null || !(column >= 0 && column < grid.columns && row >= 0 && row < grid.rows)) return null;
  let before = 0;
  for (let smaller = 0; smaller < level; smaller += 1) {
    const { columns, rows } = gridOf(shape, smaller) ?? { columns: 0, rows: 0 };
    before += columns * rows;
  }
  return before + row * grid.columns + column;
}

/** Returns whether a picture has more pixels than its largest rendition, so that zooming in needs tiles. */
export function exceedsLadder({ width, height }: Shape, rungs: readonly { maxDim: number }[]): boolean {
  return Math.max(width, height) > Math.max(0, ...rungs.map(({ maxDim }) => maxDim));
}
