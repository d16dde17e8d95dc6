import { type CollectionQuery, getCollection, listCollections } from '@vitrine/contract/collections';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { collectionsShowing, collectionsShowingFile, readableCollections } from '../../access/collections.ts';
import { handle } from '../../core/handle.ts';
import { containsPattern } from '../../platform/database/like.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { showCollection, showCollections } from './show.ts';

/** The filters of the query. */
function filters(caller: Caller, query: CollectionQuery): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  if (query.mine === true) {
    found.push(caller.kind === 'anonymous' ? sql`false` : sql`c.owner_user_ref = ${caller.ref}`);
  }
  if (query.owner_ref !== undefined) found.push(sql`c.owner_user_ref = ${query.owner_ref}`);
  if (query.containing !== undefined) found.push(collectionsShowing(caller, query.containing));
  if (query.containing_asset !== undefined)
    found.push(collectionsShowingFile(caller, query.containing_asset));
  const q = query.q?.trim() ?? '';
  if (q !== '') found.push(sql`c.name ilike ${containsPattern(q)}`);
  return found;
}

export const list = handle(listCollections, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 'c.created_at', 'c.id');
  const conditions = [readableCollections(caller), page.after, ...filters(caller, query)];
  const rows = await showCollections(db, caller, sql`${sql.join(conditions, sql` and `)}`, page.order);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

export const get = handle(getCollection, async ({ db }, { caller, params }) => ({
  status: 200,
  body: await showCollection(db, caller, params.id),
}));
