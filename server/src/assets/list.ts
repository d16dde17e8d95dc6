import { type AssetQuery, listAssets } from '@vitrine/contract/assets';
import { type RawBuilder, sql } from 'kysely';
import {
  readableAssets,
  readableAssetsAndTrash,
  shownAssets,
  shownAssetsAndTrash,
} from '../access/assets.ts';
import type { Caller } from '../access/caller.ts';
import { findFilters } from '../fields/values/find-filters.ts';
import { handle } from '../platform/http/bind.ts';
import { cursorAfter, readCursor } from '../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';
import { matchingRows } from '../search/matching.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from './show.ts';

/** What the query narrows the list to. */
function filters(query: AssetQuery): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  if (query.asset_type !== undefined) found.push(sql`a.asset_type = ${query.asset_type}`);
  if (query.team_id !== undefined) found.push(sql`a.team_id = ${query.team_id}`);
  if (query.owner_ref !== undefined) found.push(sql`a.owner_user_ref = ${query.owner_ref}`);
  if (query.status !== undefined) found.push(sql`a.status = ${query.status}`);
  for (const tag of query.tag ?? []) {
    found.push(sql`exists (select from asset_tags t where t.asset_id = a.id and t.value = ${tag})`);
  }
  return found;
}

/**
 * Rows by the read rule, placeholders where the field rule withholds (choices, assets). A filter looks at columns, so
 * it matches only what is shown: a withheld asset must not be found by what is withheld.
 */
function ruleOf(caller: Caller, query: AssetQuery, filtered: boolean): RawBuilder<boolean> {
  const given = query.include_deleted === true ? readableAssetsAndTrash(caller) : readableAssets(caller);
  return filtered ? sql`(${given} and ${shownOf(caller, query)})` : given;
}

function shownOf(caller: Caller, query: AssetQuery): RawBuilder<boolean> {
  return query.include_deleted === true ? shownAssetsAndTrash(caller) : shownAssets(caller);
}

export const list = handle(listAssets, async ({ db, ladder }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const key = readCursor(query.cursor);
  const oldestFirst = query.sort === 'oldest';
  const after =
    key === null
      ? sql<boolean>`true`
      : oldestFirst
        ? sql<boolean>`(a.created_at, a.id) > (${key.at}::timestamptz, ${key.id}::uuid)`
        : sql<boolean>`(a.created_at, a.id) < (${key.at}::timestamptz, ${key.id}::uuid)`;
  const matching = await matchingRows(db, caller, 'asset', query.q);
  const narrowed = [
    ...filters(query),
    ...(await findFilters(db, caller, query.filter ?? [])),
    ...(matching === null ? [] : [matching]),
  ];
  const order = oldestFirst ? sql`a.created_at, a.id` : sql`a.created_at desc, a.id desc`;
  const { rows } = await sql<AssetRow>`
    select ${assetColumns(caller, ladder, shownOf(caller, query))} from assets a ${assetJoins}
    where ${sql.join([ruleOf(caller, query, narrowed.length > 0), after, ...narrowed], sql` and `)}
    order by ${order} limit ${limit + 1}`.execute(db);
  const page = cutPage(rows, limit, (last) => cursorAfter({ at: last.asset_created_at, id: last.asset_id }));
  return { status: 200, body: { ...page, items: page.items.map((row) => showRow(caller, row)) } };
});
