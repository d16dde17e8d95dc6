import { type RawBuilder, sql } from 'kysely';
import { codeCursor, timeCursor } from './cursor.ts';

/** HTTP-7: the default page size. */
export const DEFAULT_LIMIT = 50;

/** Row limits of pages of 24, 50 (the default), 100 and 200: one row more. */
const READ = [25, 51, 101, 201];

/**
 * Returns how many rows to read for a page of `limit`: at least one more, and one of a few numbers, to be a constant of
 * the statement. With a parameter, PostgreSQL expects a tenth of the table and plans every page again, which takes
 * several times as long as reading it. A parameter is better if the best plan depends on another value.
 */
export function rowsOfPage(limit: number): number {
  return READ.find((rows) => rows > limit) ?? limit + 1;
}

/** Returns a page from rows that were read with one more than the page, and the cursor of the next page. */
export function cutPage<R>(
  rows: readonly R[],
  limit: number,
  cursorOf: (last: R) => string,
): { items: R[]; next_cursor: string | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}

export interface PageQuery {
  limit?: number;
  cursor?: string;
}

/** Pagination of a list ordered by a time and an id, newest first. */
export interface NewestFirst {
  /** The condition for `where` that selects rows after the cursor. */
  after: RawBuilder<boolean>;
  /** The end of the statement: the order, and a limit of one row more than the page. */
  order: RawBuilder<unknown>;
  /** Returns the page's rows and the cursor of the next page. */
  cut<R>(rows: R[], keyOf: (row: R) => { at: string; id: string }): { rows: R[]; next: string | null };
}

/** `at` and `id` are the columns that order the list. A malformed cursor is 400. */
export function newestFirst(
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
  at: string,
  id: string,
): NewestFirst {
  const key = timeCursor.read(cursor);
  const [time, row] = [sql.ref(at), sql.ref(id)];
  return {
    after: key === null ? sql`true` : sql`(${time}, ${row}) < (${key.at}::timestamptz, ${key.id}::uuid)`,
    order: sql`order by ${time} desc, ${row} desc limit ${limit + 1}`,
    cut(rows, keyOf) {
      const { items, next_cursor } = cutPage(rows, limit, (last) => timeCursor.after(keyOf(last)));
      return { rows: items, next: next_cursor };
    },
  };
}

/** Returns a page of a short list in memory, ordered by its code. */
export function pageByCode<T extends { code: string }>(
  all: readonly T[],
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
) {
  const after = codeCursor.read(cursor)?.code ?? null;
  const sorted = [...all].sort((a, b) => (a.code < b.code ? -1 : 1));
  const rest = after === null ? sorted : sorted.filter((item) => item.code > after);
  return cutPage(rest, limit, (last) => codeCursor.after(last));
}
