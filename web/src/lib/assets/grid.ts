import type { TileRow } from '#lib/posts/sheet.ts';

/** How the page of assets shows them: tiles of three sizes, or a list with a line for each. */
export type LibraryView = 'small' | 'medium' | 'large' | 'list';

/** The least width of a tile in CSS pixels, on a phone and on wider windows. */
const leastWidth = { small: [84, 112], medium: [152, 176], large: [300, 288] } as const;

/** The height of a line of the list. */
const lineHeight = 57;
/** Below the picture of a tile: the name, and each further line. */
const nameHeight = 26;
const moreHeight = 18;

export interface Grid {
  readonly rows: readonly TileRow[];
  readonly height: number;
  /** The height of the picture of a tile. */
  readonly tile: number;
}

/** Lays out items in rows. `linesOf`: how many lines the tile of an item has below its name. */
export function layOut(
  count: number,
  linesOf: (index: number) => number,
  { width, view }: { readonly width: number; readonly view: LibraryView },
): Grid {
  if (width <= 0) return { rows: [], height: 0, tile: 0 };
  const isNarrow = width < 600;
  const isList = view === 'list';
  const gap = isList ? 0 : isNarrow || view === 'small' ? 12 : 16;
  const least = isList ? width : leastWidth[view][isNarrow ? 0 : 1];
  const columns = Math.max(1, Math.floor((width + gap) / (least + gap)));
  const tile = (width - gap * (columns - 1)) / columns;
  const rows: TileRow[] = [];
  let top = 0;
  for (let from = 0; from < count; from += columns) {
    const indexes = Array.from({ length: Math.min(columns, count - from) }, (_, at) => from + at);
    const lines = isList ? 0 : Math.max(...indexes.map(linesOf));
    const height = isList ? lineHeight : tile + nameHeight + lines * moreHeight;
    const tiles = indexes.map((index, at) => ({ index, left: at * (tile + gap), width: tile }));
    rows.push({ top, height, tiles });
    top += height + gap;
  }
  return { rows, height: Math.max(0, top - gap), tile };
}
