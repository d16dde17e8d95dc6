import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { manageableLinks } from '../../access/links.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { PageQuery } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';

/** What the editors of the target of a link see of its visitors. */

/** Throws 404 for a link that the caller may not manage. */
export async function findManaged(db: Database, caller: SignedIn, linkId: string): Promise<void> {
  const { rows } =
    await sql`select from share_links l where l.id = ${linkId} and ${manageableLinks(caller)}`.execute(db);
  if (rows.length === 0) throw notFound();
}

/** Rows per statement of an export. */
const AT_ONCE = 1000;

/** Returns what yields the cells of the rows of a list, page by page. */
export function pagesOf<R>(
  readPage: (query: PageQuery) => Promise<{ items: readonly R[]; next_cursor: string | null }>,
) {
  return async function* rows(cellsOf: (row: R) => string[]): AsyncGenerator<string[][]> {
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage({
        limit: AT_ONCE,
        ...(cursor === null ? {} : { cursor }),
      });
      yield page.items.map(cellsOf);
      cursor = page.next_cursor;
    } while (cursor !== null);
  };
}
