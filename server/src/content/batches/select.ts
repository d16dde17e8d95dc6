import type { AssetSelection, PostSelection } from '@vitrine/contract/batches';
import { type RawBuilder, sql } from 'kysely';
import { feedPosts } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { postsInCollection } from '../../access/collections.ts';
import { readablePosts } from '../../access/posts.ts';
import { storedTags } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';
import { matchingAssets } from '../collections/filling.ts';
import { matchingRows } from '../search-index/matching.ts';

/** The assets that match, oldest first, as a query with the column `id`. Filters match only what the caller may see. */
async function selectAssets(
  db: Database,
  caller: SignedIn,
  query: AssetSelection,
): Promise<RawBuilder<unknown>> {
  const matching = await matchingAssets(db, caller, query);
  return sql`select a.id from assets a where ${matching} order by a.created_at, a.id`;
}

/**
 * The posts that match, oldest first, as a query with the column `id`. Without a state, only those that lists show, which
 * are no drafts (BATCH-1).
 */
async function selectPosts(
  db: Database,
  caller: SignedIn,
  query: PostSelection,
): Promise<RawBuilder<unknown>> {
  const { team_id, owner_ref, collection, state_id } = query;
  const conditions: RawBuilder<boolean>[] =
    state_id === undefined
      ? [feedPosts(caller)]
      : [readablePosts(caller), sql<boolean>`p.state_id = ${state_id}`];
  if (team_id !== undefined) conditions.push(sql`p.team_id = ${team_id}`);
  if (owner_ref !== undefined) conditions.push(sql`p.author_user_ref = ${owner_ref}`);
  if (collection !== undefined) conditions.push(postsInCollection(caller, collection));
  const tags = await storedTags(db, query.tag ?? []);
  if (tags.length > 0) conditions.push(sql`p.tags @> ${tags}::text[]`);
  const matching = await matchingRows(db, caller, 'post', query.q);
  if (matching !== null) conditions.push(matching);
  return sql`select p.id from posts p where ${sql.join(conditions, sql` and `)} order by p.posted_at, p.id`;
}

/** The objects of a batch of assets or posts: named by id, or matched by a query of their kind. */
export type Selection =
  | { readonly ids: readonly string[] }
  | { readonly subject: 'asset'; readonly query: AssetSelection }
  | { readonly subject: 'post'; readonly query: PostSelection };

/** Returns a query with the column `id`, in the order in which the batch takes its objects; each once. */
export async function selectObjects(
  db: Database,
  caller: SignedIn,
  selection: Selection,
): Promise<RawBuilder<unknown>> {
  if ('ids' in selection) {
    const ids = [...new Set(selection.ids)];
    return sql`select id from unnest(${ids}::uuid[]) with ordinality as named (id, place) order by place`;
  }
  return selection.subject === 'asset'
    ? selectAssets(db, caller, selection.query)
    : selectPosts(db, caller, selection.query);
}
