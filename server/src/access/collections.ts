import { type RawBuilder, sql } from 'kysely';
import { feedPosts, shownAssets } from './assets.ts';
import { type Caller, holds } from './caller.ts';
import { lasting, live, unexpired } from './live.ts';
import { readablePosts } from './posts.ts';
import { type Opened, openFor } from './visibilities.ts';

/**
 * Who opens which collection, and which of its items they see. Predicates refer to `collections c` and, about its
 * items, to `posts p` and `assets a`.
 */
type Predicate = RawBuilder<boolean>;

/** The row `c` as an object with a visibility. */
const theCollection: Opened = {
  visibility: sql`c.visibility`,
  owner: sql`c.owner_user_ref`,
  shares: sql`select from collection_shares s where s.collection_id = c.id`,
};

/** COLLECTION-1: collections that their visibility opens to the caller, until they expire. */
function opened(caller: Caller): Predicate {
  return sql`(${openFor(caller, theCollection)} and ${unexpired('c')})`;
}

/** Collections that `GET /collections/{id}` and every list return to this caller. */
export function readableCollections(caller: Caller): Predicate {
  const standing = sql`${live('c')} and ${lasting('c')}`;
  if (caller.kind === 'anonymous') return sql`(${standing} and ${opened(caller)})`;
  if (holds(caller, 'system.admin')) return sql`(${standing})`;
  return sql`(${standing} and (c.owner_user_ref = ${caller.ref} or ${opened(caller)}))`;
}

/** Live collections the caller may change, fill, share or delete: the owner's, and any for `system.admin`. */
export function editableCollections(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (holds(caller, 'system.admin')) return sql`(c.deleted_at is null and c.origin_peer_id is null)`;
  return sql`(c.deleted_at is null and c.owner_user_ref = ${caller.ref})`;
}

/** COLLECTION-23: collections that show what was placed in them. A query fills the others. */
export const filledByHand: Predicate = sql`(c.query is null)`;

/** COLLECTION-21: being in a collection shows a file to nobody who is not shown it anyway. */
export function filesShown(caller: Caller): Predicate {
  return shownAssets(caller);
}

/** Posts of a collection that its editor can name: readable ones, including the editor's drafts. */
export function arrangedPosts(caller: Caller): Predicate {
  return readablePosts(caller);
}

/** Collections that show the caller this post; the owner also sees those with posts they read and added. */
export function collectionsShowing(caller: Caller, postId: string): Predicate {
  const own =
    caller.kind === 'anonymous'
      ? sql``
      : sql` or (c.owner_user_ref = ${caller.ref} and ${arrangedPosts(caller)})`;
  return sql`(${filledByHand} and exists (select from collection_posts cp join posts p on p.id = cp.post_id
    where cp.collection_id = c.id and cp.post_id = ${postId} and (${feedPosts(caller)}${own})))`;
}

/** Collections in which this file was placed, if they show it to the caller. */
export function collectionsShowingFile(caller: Caller, assetId: string): Predicate {
  return sql`(${filledByHand} and exists (select from collection_assets ca join assets a on a.id = ca.asset_id
    where ca.collection_id = c.id and ca.asset_id = ${assetId} and ${filesShown(caller)}))`;
}

/** Posts of one collection, none if the caller may not open it; for post lists with a rule of their own. */
export function postsInCollection(caller: Caller, collectionId: string): Predicate {
  return sql`p.id in (select cp.post_id from collection_posts cp join collections c on c.id = cp.collection_id
    where cp.collection_id = ${collectionId} and ${filledByHand} and ${readableCollections(caller)})`;
}

/** Files placed in one collection, none if the caller may not open it; for lists with a rule of their own. */
export function filesInCollection(caller: Caller, collectionId: string): Predicate {
  return sql`a.id in (select ca.asset_id from collection_assets ca join collections c on c.id = ca.collection_id
    where ca.collection_id = ${collectionId} and ${filledByHand} and ${readableCollections(caller)})`;
}
