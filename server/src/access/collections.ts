import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds } from './caller.ts';
import { feedKeeps, hidesRestricted } from './feed.ts';
import { listedPosts, readablePosts } from './posts.ts';

/**
 * Who opens which collection, and which of its posts they are shown. Predicates speak of a row of `collections`
 * under the alias `c`, those about its posts of a row of `posts` under `p`.
 */
type Predicate = RawBuilder<boolean>;

/** The words of posts (COLLECTION-1), until it expires. */
function opened(caller: Caller): Predicate {
  const lasts = sql`(c.expires_at is null or c.expires_at > now())`;
  if (caller.kind === 'anonymous') return sql`(c.visibility = 'public' and ${lasts})`;
  return sql`((c.visibility in ('public', 'org-only')
    or (c.visibility = 'followers' and exists (
      select from user_follows f where f.follower_user_ref = ${caller.ref} and f.followed_user_ref = c.owner_user_ref))
    or (c.visibility = 'explicit-share' and exists (
      select from collection_shares s where s.collection_id = c.id and s.user_ref = ${caller.ref}))) and ${lasts})`;
}

/** Collections that `GET /collections/{id}` and every list give this caller. */
export function readableCollections(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`(c.deleted_at is null and ${opened(caller)})`;
  if (holds(caller, 'system.admin')) return sql`(c.deleted_at is null)`;
  return sql`(c.deleted_at is null and (c.owner_user_ref = ${caller.ref} or ${opened(caller)}))`;
}

/** Live collections the caller may change, fill, share or delete: the owner's, and any for `system.admin`. */
export function editableCollections(caller: Caller): Predicate {
  if (caller.kind === 'anonymous') return sql`false`;
  if (holds(caller, 'system.admin')) return sql`(c.deleted_at is null)`;
  return sql`(c.deleted_at is null and c.owner_user_ref = ${caller.ref})`;
}

/**
 * Posts that a collection shows, counts and takes its covers from: those the caller's feed would have, so no draft
 * to anybody (POST-7) and nothing that is all placeholders to who leaves them out (FEED-3).
 */
export function collectedPosts(caller: Caller): Predicate {
  return hidesRestricted(caller)
    ? sql`(${listedPosts(caller)} and ${feedKeeps(caller)})`
    : sql`${listedPosts(caller)}`;
}

/** Posts of a collection that whoever may edit it can name: what they read, their own drafts included. */
export function arrangedPosts(caller: Caller): Predicate {
  return readablePosts(caller);
}

/** Collections in which the caller is shown this post; the owner also knows of posts they read and put there. */
export function collectionsShowing(caller: Caller, postId: string): Predicate {
  const own =
    caller.kind === 'anonymous'
      ? sql``
      : sql` or (c.owner_user_ref = ${caller.ref} and ${arrangedPosts(caller)})`;
  return sql`exists (select from collection_posts cp join posts p on p.id = cp.post_id
    where cp.collection_id = c.id and cp.post_id = ${postId} and (${collectedPosts(caller)}${own}))`;
}

/** Posts of one collection, of none that the caller may not open; for a list of posts with a rule of its own. */
export function postsInCollection(caller: Caller, collectionId: string): Predicate {
  return sql`p.id in (select cp.post_id from collection_posts cp join collections c on c.id = cp.collection_id
    where cp.collection_id = ${collectionId} and ${readableCollections(caller)})`;
}
