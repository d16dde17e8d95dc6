/** The parameters of a justified layout; lengths in CSS pixels. */
export interface SheetShape {
  readonly width: number;
  readonly targetHeight: number;
  readonly gap: number;
  /** Whether more pictures follow, so that an incomplete last row is withheld instead of shown short. */
  readonly more: boolean;
}

export interface Tile {
  readonly index: number;
  readonly left: number;
  readonly width: number;
}

export interface TileRow {
  readonly top: number;
  readonly height: number;
  readonly tiles: readonly Tile[];
}

export interface Sheet {
  readonly rows: readonly TileRow[];
  readonly height: number;
}

const narrowest = 0.5;
const widest = 3.2;

/** Returns the aspect ratio of a tile: the picture's own within limits, or square if unknown. */
export function ratioOf(width: number | null, height: number | null): number {
  if (width === null || height === null || width <= 0 || height <= 0) return 1;
  return Math.min(widest, Math.max(narrowest, width / height));
}

/** Returns the aspect ratio of a stage on a phone: that of its picture within narrower limits. */
export function stageRatioOf(width: number | null, height: number | null): number {
  return Math.min(1.8, Math.max(0.75, ratioOf(width, height)));
}

function heightOf(ratioSum: number, count: number, shape: SheetShape): number {
  return (shape.width - shape.gap * (count - 1)) / ratioSum;
}

/** Returns the tiles of a row from left to right. The last tile takes the rounding difference. */
function tilesOf(ratios: readonly number[], from: number, height: number, shape: SheetShape, fill: boolean) {
  let left = 0;
  return ratios.map((ratio, place): Tile => {
    const isLast = place === ratios.length - 1;
    const width = fill && isLast ? shape.width - left : Math.round(ratio * height);
    const tile = { index: from + place, left, width };
    left += width + shape.gap;
    return tile;
  });
}

/**
 * Lays out rows of equal width whose heights stay near the target. Appending pictures does not move the rows before
 * the last.
 */
export function justify(ratios: readonly number[], shape: SheetShape): Sheet {
  const rows: TileRow[] = [];
  let top = 0;
  let from = 0;
  const close = (end: number, height: number, fill: boolean) => {
    const rounded = Math.round(height);
    rows.push({
      top,
      height: rounded,
      tiles: tilesOf(ratios.slice(from, end), from, rounded, shape, fill),
    });
    top += rounded + shape.gap;
    from = end;
  };
  if (shape.width <= 0) return { rows, height: 0 };

  let sum = 0;
  for (let at = 0; at < ratios.length; at += 1) {
    const ratio = ratios[at] ?? 1;
    const before = at > from ? heightOf(sum, at - from, shape) : Number.POSITIVE_INFINITY;
    const after = heightOf(sum + ratio, at - from + 1, shape);
    if (after > shape.targetHeight) {
      sum += ratio;
      continue;
    }
    // The row is full. Ends it before or after this picture, whichever is closer to the target height.
    if (before - shape.targetHeight < shape.targetHeight - after) {
      close(at, before, true);
      sum = ratio;
      const alone = heightOf(ratio, 1, shape);
      if (alone <= shape.targetHeight) {
        close(at + 1, alone, true);
        sum = 0;
      }
    } else {
      close(at + 1, after, true);
      sum = 0;
    }
  }
  if (from < ratios.length && !shape.more) {
    const natural = heightOf(sum, ratios.length - from, shape);
    const nearlyFull = natural <= shape.targetHeight * 1.25;
    close(ratios.length, nearlyFull ? natural : shape.targetHeight, nearlyFull);
  }
  return { rows, height: Math.max(0, top - shape.gap) };
}

/** Returns the rows that overlap a vertical range of the sheet, as [first, end). */
export function rowsBetween(rows: readonly TileRow[], from: number, to: number): readonly [number, number] {
  const firstWhere = (isPast: (row: TileRow) => boolean): number => {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = rows[middle];
      if (row !== undefined && isPast(row)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const first = firstWhere((row) => row.top + row.height >= from);
  const end = firstWhere((row) => row.top > to);
  return [first, Math.max(first, end)];
}

/** Returns the target height of rows for a sheet of this width. */
export function targetHeightFor(width: number): number {
  if (width < 480) return 210;
  if (width < 900) return 240;
  return width < 1600 ? 290 : 330;
}
