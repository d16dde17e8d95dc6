import { addToCollection, mostPosts, removeFromCollection } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { arrangedPosts } from '../../access/collections.ts';
import { peersToNotify } from '../../access/federation.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers, notifyPeersOfComments } from '../../core/outbox/enqueue.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { lockCollection } from './lock.ts';

/** Distance between posts: one gap allows 32 moves into the same place before all are spaced evenly again. */
export const STEP = 2 ** 32;

/** Places a post last, under the collection's lock; a post that is already there stays. */
async function placeLast(tx: Tx, caller: SignedIn, collectionId: string, postId: string): Promise<void> {
  const { rows } = await sql<{ size: number }>`
    with placed as (
      insert into collection_posts (collection_id, post_id, position, added_by)
      select ${collectionId}, ${postId}, coalesce(max(position), 0) + ${STEP}::bigint, ${caller.ref}
      from collection_posts where collection_id = ${collectionId}
      on conflict do nothing returning post_id)
    select (select count(*) from (select from collection_posts
      where collection_id = ${collectionId} limit ${mostPosts}) before) as size from placed`.execute(tx);
  // The statement counts the rows that existed before it.
  if (rows.some(({ size }) => size >= mostPosts)) {
    throw refuse('collection-full', { max: mostPosts });
  }
}

/**
 * Appends a post to a collection that the caller may change, and sends both to the peers of the collection. Throws 404
 * unless its editor can name the post.
 */
export async function append(tx: Tx, caller: SignedIn, collectionId: string, postId: string): Promise<void> {
  const { id } = await lockCollection(tx, caller, collectionId);
  const { rows } = await sql`select from posts p
    where p.id = ${postId} and ${arrangedPosts(caller)} for key share of p`.execute(tx);
  if (rows.length === 0) throw notFound();
  await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
  await appendLocked(tx, caller, id, postId);
}

/** Appends a post that the caller can name to a locked collection, and sends the post to the collection's peers. */
export async function appendLocked(tx: Tx, caller: SignedIn, id: string, postId: string): Promise<void> {
  await placeLast(tx, caller, id, postId);
  await notifyPeers(tx, { activity: 'create', kind: 'post', objectId: postId, actorRef: caller.ref });
  const given = sql`select peer_id from (${peersToNotify('post', postId)}) recipients`;
  await notifyPeersOfComments(tx, sql`select ${postId}::uuid as post_id`, given);
}

/** Takes posts out of a locked collection, and its cover with its post. */
export async function takeOut(tx: Tx, id: string, postIds: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('collection_posts')
    .where('collection_id', '=', id)
    .where('post_id', 'in', postIds)
    .execute();
  await tx
    .updateTable('collections')
    .set({ cover_post_id: null, cover_focal_x: null, cover_focal_y: null, cover_focal_asset_id: null })
    .where('id', '=', id)
    .where('cover_post_id', 'in', postIds)
    .execute();
}

export const add = handle(addToCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute((tx) => append(tx, caller, params.id, params.post_id));
  return { status: 204 };
});

/** Idempotent; works even if the caller cannot read the post. Removes a cover with its post. */
export const remove = handle(removeFromCollection, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    const { id } = await lockCollection(tx, caller, params.id);
    await takeOut(tx, id, [params.post_id]);
    await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
  });
  return { status: 204 };
});
