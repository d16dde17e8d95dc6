import {
  type AssetQuery,
  countAssets,
  listAssets,
  listAssetTypes,
  mostCounted,
} from '@vitrine/contract/assets';
import { type RawBuilder, sql } from 'kysely';
import {
  readableAssets,
  readableAssetsAndTrash,
  shownAssets,
  shownAssetsAndTrash,
} from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { type ReadableParts, readableParts } from '../../access/candidates.ts';
import { fromOrigin } from '../../access/federation.ts';
import { type StackOfAsset, stackJson, standsForStack } from '../../access/stacks.ts';
import { handle } from '../../core/handle.ts';
import { storedTags } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';
import { cutPage, DEFAULT_LIMIT, rowsOfPage } from '../../platform/http/page.ts';
import { findFilters } from '../fields/values/filter.ts';
import { matchingRows } from '../search-index/matching.ts';
import { orderOf } from './order.ts';
import { withoutProfilePictures } from './profile-pictures.ts';
import { type AssetRow, assetColumns, assetJoins, showStacked } from './show.ts';
import { takenFilters } from './taken.ts';

/** The filters of the query. */
function filters(query: AssetQuery): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  if (query.asset_type !== undefined) found.push(sql`a.asset_type = ${query.asset_type}`);
  if (query.team_id !== undefined) found.push(sql`a.team_id = ${query.team_id}`);
  if (query.origin !== undefined) found.push(fromOrigin('a', query.origin));
  if (query.owner_ref !== undefined) found.push(sql`a.owner_user_ref = ${query.owner_ref}`);
  if (query.status !== undefined) found.push(sql`a.status = ${query.status}`);
  if (query.state !== undefined) {
    found.push(
      sql`a.state_id = (select s.id from workflow_states s where s.domain = 'asset' and s.code = ${query.state})`,
    );
  }
  for (const tag of query.tag ?? []) {
    found.push(sql`exists (select from asset_tags t where t.asset_id = a.id and t.value = ${tag})`);
  }
  return [...found, ...takenFilters(query)];
}

/** The conditions of the query besides the access rules. Those of fields and words match only what the caller may see. */
export async function narrowing(
  db: Database,
  caller: Caller,
  query: AssetQuery,
): Promise<RawBuilder<boolean>[]> {
  const matching = await matchingRows(db, caller, 'asset', query.q);
  return [
    ...filters(query.tag === undefined ? query : { ...query, tag: await storedTags(db, query.tag) }),
    ...(await findFilters(db, caller, query.filter ?? [])),
    ...(matching === null ? [] : [matching]),
  ];
}

/**
 * Lists assets by the read rule, with placeholders where the field rule withholds (ASSET-1, ASSET-5). A filter reads
 * columns, so it matches shown assets only: it must not reveal withheld columns.
 */
function ruleOf(caller: Caller, query: AssetQuery, filtered: boolean): RawBuilder<boolean> {
  const given = query.include_deleted === true ? readableAssetsAndTrash(caller) : readableAssets(caller);
  return filtered ? sql`(${given} and ${shownOf(caller, query)})` : given;
}

function shownOf(caller: Caller, query: AssetQuery): RawBuilder<boolean> {
  return query.include_deleted === true ? shownAssetsAndTrash(caller) : shownAssets(caller);
}

interface Next {
  rule: RawBuilder<boolean>;
  after: RawBuilder<boolean>;
  order: RawBuilder<unknown>;
  most: RawBuilder<number>;
}

/**
 * Returns the ids of the caller's next assets as a subquery. A caller may see few of very many assets, so the list is
 * not scanned: each part is read in order from its own index, and the parts are merged.
 */
function nextOf({ sets, teams }: ReadableParts, { rule, after, order, most }: Next): RawBuilder<unknown> {
  const part = (condition: RawBuilder<boolean>) =>
    sql`(select a.id, a.created_at from assets a where ${condition} and ${rule} and ${after}
      order by ${order} limit ${most})`;
  const ofTeams = sql`(select a.id, a.created_at from unnest(${teams}) team (id)
    cross join lateral ${part(sql`(a.team_id = team.id)`)} a)`;
  const parts = [...sets.map(part), ofTeams];
  return sql`(select a.id from (${sql.join(parts, sql` union `)}) a order by ${order} limit ${most})`;
}

export const list = handle(listAssets, async ({ db, ladder }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const { after, by: order, cursorOf, readsColumn } = orderOf(query.sort, query.cursor);
  const narrowed = await narrowing(db, caller, query);
  const isOfShown = narrowed.length > 0 || readsColumn;
  const isOfTops = query.stacks === 'top';
  const listed = withoutProfilePictures(query);
  const visible = sql<boolean>`(${sql.join([shownOf(caller, query), ...listed, ...narrowed], sql` and `)})`;
  const others = [...listed, ...(isOfTops ? [standsForStack(visible)] : [])];
  const rule = sql<boolean>`${sql.join([ruleOf(caller, query, isOfShown), ...others], sql` and `)}`;
  const parts = isOfShown || query.include_deleted === true ? null : readableParts(caller);
  // The best plan depends on the values of the filters, not on those of the other parameters.
  const most = narrowed.length > 0 ? sql<number>`${limit + 1}` : sql.lit(rowsOfPage(limit));
  const wanted =
    parts === null
      ? sql<boolean>`${sql.join([rule, after, ...narrowed], sql` and `)}`
      : sql<boolean>`a.id in ${nextOf(parts, { rule, after, order, most })}`;
  const stack = isOfTops ? stackJson(caller) : sql<null>`null::json`;
  const { rows } = await sql<AssetRow & { stack: StackOfAsset | null }>`
    select ${assetColumns(caller, ladder, shownOf(caller, query))}, ${stack} as stack from assets a ${assetJoins}
    where ${wanted} order by ${order} limit ${most}`.execute(db);
  const page = cutPage(rows, limit, cursorOf);
  return { status: 200, body: { ...page, items: page.items.map((row) => showStacked(caller, row)) } };
});

/** Counts what the list shows with these filters, without placeholders (ASSET-35). */
export const count = handle(countAssets, async ({ db }, { caller, query }) => {
  const conditions = [
    shownAssets(caller),
    ...withoutProfilePictures(query),
    ...(await narrowing(db, caller, query)),
  ];
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (
      select from assets a where ${sql.join(conditions, sql` and `)} limit ${sql.lit(mostCounted + 1)}) counted`.execute(
    db,
  );
  const total = rows[0]?.total ?? 0;
  return { status: 200, body: { total: Math.min(total, mostCounted), capped: total > mostCounted } };
});

/** Returns the asset types (ASSET-25). */
export const listTypes = handle(listAssetTypes, async ({ db }) => ({
  status: 200,
  body: await db.selectFrom('asset_types').select(['ref', 'code', 'label']).orderBy('ref').execute(),
}));
