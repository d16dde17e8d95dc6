import type { AssetSelection } from '@vitrine/contract/batches';
import { type RawBuilder, sql } from 'kysely';
import { editableAssets, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { filesInCollection, postsInCollection, readableCollections } from '../../access/collections.ts';
import { readablePosts } from '../../access/posts.ts';
import { storedTags } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import { withoutProfilePictures } from '../assets/profile-pictures.ts';
import { findFilters } from '../fields/values/filter.ts';
import { matchingRows } from '../search-index/matching.ts';

/** Files that were placed in a collection, and those of the posts in it. */
function placedIn(caller: Caller, collectionId: string): RawBuilder<boolean> {
  return sql`(${filesInCollection(caller, collectionId)}
    or exists (select from post_members m join posts p on p.id = m.post_id
      where m.asset_id = a.id and ${readablePosts(caller)} and ${postsInCollection(caller, collectionId)}))`;
}

/** Returns the condition of everything in a query but its collection. */
async function conditionsOf(
  db: Database,
  caller: Caller,
  query: AssetSelection,
): Promise<RawBuilder<boolean>[]> {
  const { asset_type, team_id, owner_ref, status, state_id, sensitivity } = query;
  const conditions: RawBuilder<boolean>[] = withoutProfilePictures(query);
  if (asset_type !== undefined) conditions.push(sql`a.asset_type = ${asset_type}`);
  if (team_id !== undefined) conditions.push(sql`a.team_id = ${team_id}`);
  if (owner_ref !== undefined) conditions.push(sql`a.owner_user_ref = ${owner_ref}`);
  if (status !== undefined) conditions.push(sql`a.status = ${status}`);
  if (state_id !== undefined) conditions.push(sql`a.state_id = ${state_id}`);
  // ASSET-12: only editors see it.
  if (sensitivity !== undefined)
    conditions.push(sql`(a.sensitivity = ${sensitivity} and ${editableAssets(caller)})`);
  for (const tag of await storedTags(db, query.tag ?? []))
    conditions.push(sql`exists (select from asset_tags t where t.asset_id = a.id and t.value = ${tag})`);
  conditions.push(...(await findFilters(db, caller, query.filter ?? [])));
  const matching = await matchingRows(db, caller, 'asset', query.q);
  if (matching !== null) conditions.push(matching);
  return conditions;
}

/**
 * Returns the condition on `assets a` for what a query matches, of what the caller is shown. Throws a 400 for a filter
 * that the caller cannot use.
 */
export async function matchingAssets(
  db: Database,
  caller: Caller,
  query: AssetSelection,
): Promise<RawBuilder<boolean>> {
  const conditions = [shownAssets(caller), ...(await conditionsOf(db, caller, query))];
  if (query.collection !== undefined) {
    const { rows } = await sql<{ query: AssetSelection | null }>`
      select c.query from collections c where c.id = ${query.collection} and ${readableCollections(caller)}`.execute(
      db,
    );
    const filling = rows[0]?.query ?? null;
    conditions.push(
      filling === null ? placedIn(caller, query.collection) : await matchingFiles(db, caller, filling),
    );
  }
  return sql`(${sql.join(conditions, sql` and `)})`;
}

/**
 * Returns the stored form of a query, with its tags as they are registered (NAME-4). Throws a 400 for a filter that the
 * caller cannot use.
 */
export async function storedFilling(db: Database, caller: Caller, query: AssetSelection): Promise<string> {
  await matchingAssets(db, caller, query);
  const tags = query.tag === undefined ? {} : { tag: await storedTags(db, query.tag) };
  return JSON.stringify({ ...query, ...tags });
}

/**
 * Returns the condition on `assets a` for what the stored query of a smart collection matches for this caller,
 * regardless of whether they are shown it (COLLECTION-23). A filter that they cannot use matches nothing. A collection
 * that it names counts with what was placed there, so that two smart collections may name each other.
 */
export async function matchingFiles(
  db: Database,
  caller: Caller,
  query: AssetSelection,
): Promise<RawBuilder<boolean>> {
  try {
    const conditions = [sql<boolean>`true`, ...(await conditionsOf(db, caller, query))];
    if (query.collection !== undefined) conditions.push(placedIn(caller, query.collection));
    return sql`(${sql.join(conditions, sql` and `)})`;
  } catch (error) {
    if (error instanceof Refusal) return sql`false`;
    throw error;
  }
}
