import { rowsBetween, type TileRow } from './sheet.ts';

/** The position of a post in the window, to restore it after a new layout. */
export interface Anchor {
  readonly id: string;
  /** Distance of its row from the top of the window, in CSS pixels. */
  readonly offset: number;
}

/**
 * Returns the posts in a window that begins `above` pixels below the top of the sheet and has this height. The
 * topmost come first, but posts of a row that is cut off by the top of the window come last, because they are the
 * least visible. Returns none while the top of the sheet is visible, because new posts should then appear.
 */
export function anchorsIn(
  rows: readonly TileRow[],
  ids: readonly string[],
  above: number,
  height: number,
): readonly Anchor[] {
  if (above <= 0) return [];
  const [first, end] = rowsBetween(rows, above, above + height);
  const near = rows.slice(first, end);
  const whole = near.filter((row) => row.top >= above);
  const cut = near.filter((row) => row.top < above && row.top + row.height > above);
  return [...whole, ...cut].flatMap(({ tiles, top }) =>
    tiles.flatMap(({ index }) => {
      const id = ids[index];
      return id === undefined ? [] : [{ id, offset: top - above }];
    }),
  );
}

/** Returns how far to scroll, in CSS pixels, to restore the first anchor that still exists; 0 if there is none. */
export function shiftFor(
  anchors: readonly Anchor[],
  rows: readonly TileRow[],
  ids: readonly string[],
  above: number,
): number {
  if (anchors.length === 0) return 0;
  const tops = new Map<string, number>();
  for (const { tiles, top } of rows) {
    for (const { index } of tiles) {
      const id = ids[index];
      if (id !== undefined) tops.set(id, top);
    }
  }
  for (const { id, offset } of anchors) {
    const top = tops.get(id);
    if (top !== undefined) return top - above - offset;
  }
  return 0;
}
