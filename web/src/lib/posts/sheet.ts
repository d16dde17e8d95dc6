import type { SessionUser } from '@vitrine/contract/identity';
import { stageRatioIn } from '@vitrine/contract/picture-sources';

/** How a list of posts is arranged (PREFERENCE-8). */
export type Layout = Exclude<SessionUser['default_views']['layout'], ''>;

/** The parameters of a sheet; lengths in CSS pixels. */
export interface SheetShape {
  readonly layout: Layout;
  readonly width: number;
  /** Whether more posts follow, so that an incomplete last row of squares is withheld. */
  readonly more: boolean;
}

export interface Tile {
  readonly index: number;
  readonly left: number;
  readonly width: number;
}

/** Tiles side by side. In columns of pictures of different heights, each tile is a row. */
export interface TileRow {
  readonly top: number;
  readonly height: number;
  readonly tiles: readonly Tile[];
  /** The lowest edge of this row and those before it, where rows overlap. */
  readonly reach?: number;
}

export interface Sheet {
  readonly rows: readonly TileRow[];
  readonly height: number;
}

const narrowest = 0.5;
const widest = 3.2;
const nothing: Sheet = { rows: [], height: 0 };

/** Returns the aspect ratio of a tile: the picture's own within limits, or square if unknown. */
export function ratioOf(width: number | null, height: number | null): number {
  if (width === null || height === null || width <= 0 || height <= 0) return 1;
  return Math.min(widest, Math.max(narrowest, width / height));
}

/** Returns the aspect ratio of a picture that fills a column: its own within narrower limits. */
export function stageRatioOf(width: number | null, height: number | null): number {
  return stageRatioIn({ pixel_width: width, pixel_height: height });
}

/** The least width of a column, on a phone and on wider windows. */
const leastWidth = { grid: [150, 240], masonry: [150, 280], thumbnail: [84, 120] } as const;

/** The width of the column of the layout `feed`, if the window has room for it. */
const feedWidth = 640;

/** The height of a row of the layout `list`, on a phone and on wider windows. */
const rowHeight = [112, 136] as const;

interface Columns {
  readonly gap: number;
  readonly width: number;
  readonly lefts: readonly number[];
}

/** Returns columns of equal width, to a fraction of a pixel, that fill the sheet. */
function columnsOf(layout: keyof typeof leastWidth, width: number): Columns {
  const isPhone = width < 480;
  const gap = isPhone || layout === 'thumbnail' ? 6 : 12;
  const least = Math.min(leastWidth[layout][isPhone ? 0 : 1], width);
  const count = Math.floor((width + gap) / (least + gap));
  const wide = (width - gap * (count - 1)) / count;
  return { gap, width: wide, lefts: Array.from({ length: count }, (_, at) => at * (wide + gap)) };
}

function squares(count: number, { gap, width, lefts }: Columns, more: boolean): Sheet {
  const shown = more ? count - (count % lefts.length) : count;
  const rows: TileRow[] = [];
  for (let from = 0; from < shown; from += lefts.length) {
    const tiles = lefts.slice(0, shown - from).map((left, at) => ({ index: from + at, left, width }));
    rows.push({ top: rows.length * (width + gap), height: width, tiles });
  }
  return { rows, height: Math.max(0, rows.length * (width + gap) - gap) };
}

/** Puts each picture below the shortest column. */
function masonry(ratios: readonly number[], { gap, width, lefts }: Columns): Sheet {
  const ends = lefts.map(() => 0);
  let reach = 0;
  const rows = ratios.map((ratio, index): TileRow => {
    const top = Math.min(...ends);
    const column = ends.indexOf(top);
    const height = Math.round(width / ratio);
    ends[column] = top + height + gap;
    reach = Math.max(reach, top + height);
    return { top, height, reach, tiles: [{ index, left: lefts[column] ?? 0, width }] };
  });
  return { rows, height: reach };
}

/** Puts tiles of these heights below each other. */
function stacked(heights: readonly number[], gap: number, tile: Omit<Tile, 'index'>): Sheet {
  let top = 0;
  const rows = heights.map((height, index): TileRow => {
    const row = { top, height, tiles: [{ index, ...tile }] };
    top += height + gap;
    return row;
  });
  return { rows, height: Math.max(0, top - gap) };
}

/**
 * Arranges posts by the aspect ratios of their covers (PREFERENCE-8). Appending posts does not move those that are
 * shown.
 */
export function arrange(ratios: readonly number[], { layout, width, more }: SheetShape): Sheet {
  if (width <= 0) return nothing;
  if (layout === 'list') {
    const height = rowHeight[width < 480 ? 0 : 1];
    return stacked(
      ratios.map(() => height),
      8,
      { left: 0, width },
    );
  }
  if (layout === 'feed') {
    const wide = Math.min(width, feedWidth);
    const heights = ratios.map((ratio) => Math.round(wide / stageRatioOf(ratio, 1)));
    return stacked(heights, width < 480 ? 12 : 24, { left: (width - wide) / 2, width: wide });
  }
  const columns = columnsOf(layout, width);
  return layout === 'masonry' ? masonry(ratios, columns) : squares(ratios.length, columns, more);
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
  const first = firstWhere((row) => (row.reach ?? row.top + row.height) >= from);
  const end = firstWhere((row) => row.top > to);
  return [first, Math.max(first, end)];
}
