import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** A part of the map, in degrees. */
export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

/** A range of `assets.place_cell`, without its end. */
export interface CellRange {
  low: number;
  high: number;
}

/** The finest grid has 2^24 columns and rows, as in migration 0420. */
const FINEST = 24;
const MOST_LATITUDE = 85.05;

const invalidBox = (reason: Sentence) => refuse('value-invalid', { property: 'bbox', reason });

/** Reads `west,south,east,north`. Throws 400 unless it is a part of the map that does not cross the 180th meridian. */
export function boxOf(text: string): Box {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = text
    .split(',')
    .map(Number);
  if (!(west >= -180 && east <= 180)) throw invalidBox(sentence('has longitudes beyond 180 degrees'));
  if (!(south >= -90 && north <= 90)) throw invalidBox(sentence('has latitudes beyond 90 degrees'));
  if (west > east) throw invalidBox(sentence('has its west after its east'));
  if (south > north) throw invalidBox(sentence('has its south after its north'));
  return { west, south, east, north };
}

const withinGrid = (place: number, cells: number) => Math.min(cells - 1, Math.max(0, Math.floor(place)));

const columnAt = (longitude: number) => ((longitude + 180) / 360) * 2 ** FINEST;

function rowAt(latitude: number): number {
  const radians = (Math.min(MOST_LATITUDE, Math.max(-MOST_LATITUDE, latitude)) * Math.PI) / 180;
  return (0.5 - Math.log(Math.tan(Math.PI / 4 + radians / 2)) / (2 * Math.PI)) * 2 ** FINEST;
}

/** Columns and rows of the finest grid, with one more on each side, because PostgreSQL may round differently. */
function cellsOf({ west, south, east, north }: Box) {
  const cells = 2 ** FINEST;
  return {
    left: withinGrid(columnAt(west) - 1, cells),
    right: withinGrid(columnAt(east) + 1, cells),
    top: withinGrid(rowAt(north) - 1, cells),
    bottom: withinGrid(rowAt(south) + 1, cells),
  };
}

/** Returns the number of a cell, whose bits are those of column and row in turn. */
function interleaved(column: number, row: number): number {
  let number = 0;
  for (let bit = FINEST - 1; bit >= 0; bit -= 1)
    number = number * 4 + ((row >> bit) & 1) * 2 + ((column >> bit) & 1);
  return number;
}

/**
 * Returns the cells of the grid with 2^`level` columns that a box touches, as ranges of the finest
 * grid. Takes a coarser grid if there were more than `most`.
 */
export function rangesOf(box: Box, level: number, most: number): CellRange[] {
  const { left, right, top, bottom } = cellsOf(box);
  for (let shift = FINEST - Math.min(level, FINEST); ; shift += 1) {
    const columns = (right >> shift) - (left >> shift) + 1;
    const rows = (bottom >> shift) - (top >> shift) + 1;
    if (columns * rows > most) continue;
    const size = 4 ** shift;
    return Array.from({ length: columns * rows }, (_, at) => {
      const low =
        size * interleaved((left >> shift) + (at % columns), (top >> shift) + Math.floor(at / columns));
      return { low, high: low + size };
    });
  }
}

/** Assets with a place inside a box, its edges included. */
export function insideOf({ west, south, east, north }: Box): RawBuilder<boolean> {
  return sql`(a.latitude between ${south} and ${north} and a.longitude between ${west} and ${east})`;
}

/** The same with the range of the index that has them: from the cell of one corner to that of the opposite one. */
export function placesWithin(box: Box): RawBuilder<boolean> {
  const { left, right, top, bottom } = cellsOf(box);
  return sql`(a.deleted_at is null and a.shown_to in (0, 1, 2) and a.place_cell is not null and a.place_cell
    between ${interleaved(left, top)}::bigint and ${interleaved(right, bottom)}::bigint and ${insideOf(box)})`;
}
