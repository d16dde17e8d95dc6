import type { AssetSort } from '@vitrine/contract/assets';
import { type RawBuilder, sql } from 'kysely';
import { sizeCursor, timeCursor, titleCursor } from '../../platform/http/cursor.ts';
import type { AssetRow } from './show.ts';

/** An order of the list of assets, from a cursor on (ASSET-34). */
interface Order {
  /** The condition on rows after the cursor. */
  after: RawBuilder<boolean>;
  by: RawBuilder<unknown>;
  /** Returns the cursor of the page after this row. */
  cursorOf(last: AssetRow): string;
  /** Whether it reads a column that may be withheld, so that it contains only shown assets. */
  readsColumn: boolean;
}

/** Characters of a title that decide, as in the index. */
const DECISIVE = 100;
const title = sql`left(a.title, ${sql.lit(DECISIVE)}) collate natural_order`;

interface Parts {
  column: RawBuilder<unknown>;
  descending: boolean;
  /** What the cursor holds of the column and of the id; null for the first page. */
  key: { value: RawBuilder<unknown>; id: string } | null;
}

function ordered({ column, descending, key }: Parts): Pick<Order, 'after' | 'by'> {
  const direction = descending ? sql` desc` : sql``;
  const beyond = descending ? sql`<` : sql`>`;
  return {
    after:
      key === null ? sql<boolean>`true` : sql`(${column}, a.id) ${beyond} (${key.value}, ${key.id}::uuid)`,
    by: sql`${column}${direction}, a.id${direction}`,
  };
}

/** Returns an order from a cursor on. A cursor of another order is 400. */
export function orderOf(sort: AssetSort | undefined, cursor: string | undefined): Order {
  if (sort === 'title' || sort === 'title_desc') {
    const read = titleCursor.read(cursor);
    const key = read === null ? null : { value: sql`${read.title}::text collate natural_order`, id: read.id };
    return {
      ...ordered({ column: title, descending: sort === 'title_desc', key }),
      cursorOf: (last) =>
        titleCursor.after({ title: [...last.title].slice(0, DECISIVE).join(''), id: last.asset_id }),
      readsColumn: true,
    };
  }
  if (sort === 'largest' || sort === 'smallest') {
    const read = sizeCursor.read(cursor);
    const key = read === null ? null : { value: sql`${read.size}::bigint`, id: read.id };
    return {
      ...ordered({ column: sql`a.size_bytes`, descending: sort === 'largest', key }),
      cursorOf: (last) => sizeCursor.after({ size: String(last.size_bytes), id: last.asset_id }),
      readsColumn: true,
    };
  }
  if (sort === 'taken' || sort === 'taken_oldest') {
    const read = timeCursor.read(cursor);
    const key = read === null ? null : { value: sql`${read.at}::timestamptz`, id: read.id };
    return {
      ...ordered({ column: sql`coalesce(a.taken_at, a.created_at)`, descending: sort === 'taken', key }),
      cursorOf: (last) => timeCursor.after({ at: last.asset_taken_at, id: last.asset_id }),
      readsColumn: true,
    };
  }
  const read = timeCursor.read(cursor);
  const key = read === null ? null : { value: sql`${read.at}::timestamptz`, id: read.id };
  return {
    ...ordered({ column: sql`a.created_at`, descending: sort !== 'oldest', key }),
    cursorOf: (last) => timeCursor.after({ at: last.asset_created_at, id: last.asset_id }),
    readsColumn: false,
  };
}
