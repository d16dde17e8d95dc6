import { type Row, rowsBetween } from './justified.ts';

/** Where a post stood in the window, so that it can be put there again when the sheet is laid out anew. */
export interface Anchor {
  readonly id: string;
  /** Distance of its row from the top of the window, in CSS pixels. */
  readonly offset: number;
}

/**
 * The posts in a window that begins `above` pixels below the top of the sheet and is `height` high, topmost first,
 * but those whose row is cut off by the top of the window last: of them the reader sees the least. None while the
 * sheet's own top is in sight: whoever looks at the beginning wants to see what is new there.
 */
export function anchorsIn(
  rows: readonly Row[],
  ids: readonly string[],
  above: number,
  height: number,
): readonly Anchor[] {
  if (above <= 0) return [];
  const [first, end] = rowsBetween(rows, above, above + height);
  const near = rows.slice(first, end);
  const whole = near.filter((row) => row.top >= above);
  const cut = near.filter((row) => row.top < above);
  return [...whole, ...cut].flatMap(({ tiles, top }) =>
    tiles.flatMap(({ index }) => {
      const id = ids[index];
      return id === undefined ? [] : [{ id, offset: top - above }];
    }),
  );
}

/**
 * How far to scroll, in CSS pixels, so that the first anchor that is still there stands where it stood. Nothing
 * when none is left.
 */
export function shiftFor(
  anchors: readonly Anchor[],
  rows: readonly Row[],
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
