import { type CollectionOrder, orderCollection } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { arrangedPosts } from '../../access/collections.ts';
import { handle } from '../../core/handle.ts';
import { notifyPeers } from '../../core/outbox/enqueue.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { lockCollection } from './lock.ts';
import { STEP } from './place.ts';

type Arrangement =
  | { kind: 'move'; postId: string; before: string | null }
  | { kind: 'arrange'; postIds: string[] };

/** Checks that the body has exactly one of the two forms. */
function arrangementOf({ post_id, before, post_ids }: CollectionOrder): Arrangement {
  if (post_ids !== undefined) {
    if (post_id !== undefined || before !== undefined) {
      throw refuse('order-conflicting');
    }
    const postIds = post_ids.map((id) => id.toLowerCase());
    if (new Set(postIds).size !== postIds.length) throw refuse('posts-repeated');
    return { kind: 'arrange', postIds };
  }
  if (post_id === undefined || before === undefined) {
    throw refuse('order-incomplete');
  }
  const moved = { postId: post_id.toLowerCase(), before: before?.toLowerCase() ?? null };
  if (moved.postId === moved.before) throw refuse('order-names-itself');
  return { kind: 'move', ...moved };
}

/** Throws 404 for the first named post that is not in the collection for its editor. */
async function checkPlaced(tx: Tx, caller: SignedIn, id: string, postIds: readonly string[]): Promise<void> {
  const { rows } = await sql<{ post_id: string }>`
    select cp.post_id from collection_posts cp join posts p on p.id = cp.post_id
    where cp.collection_id = ${id} and cp.post_id = any(${[...postIds]}::uuid[]) and ${arrangedPosts(caller)}`.execute(
    tx,
  );
  const placed = new Set(rows.map((row) => row.post_id));
  const missing = postIds.find((postId) => !placed.has(postId));
  if (missing !== undefined) throw refuse('post-not-in-collection', { post: missing });
}

/** Places a post between two others without moving them; false when there is no gap left. */
async function moveBetween(tx: Tx, id: string, postId: string, before: string | null): Promise<boolean> {
  const others = sql`from collection_posts where collection_id = ${id} and post_id <> ${postId}`;
  const place =
    before === null
      ? sql`select coalesce(max(position), 0) + ${STEP}::bigint as at ${others}`
      : sql`select coalesce(previous.at + (following.at - previous.at) / 2, following.at - ${STEP}::bigint) as at
          from (select position as at ${others} and post_id = ${before}) following
          left join lateral (select max(position) as at ${others} and position < following.at) previous on true
          where previous.at is null or following.at - previous.at > 1`;
  const { numAffectedRows } = await sql`
    update collection_posts set position = place.at from (${place}) place
    where collection_id = ${id} and post_id = ${postId}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Spaces all posts of a collection evenly, in their current order. */
async function spread(tx: Tx, id: string): Promise<void> {
  await sql`update collection_posts cp set position = n.place * ${STEP}::bigint
    from (select post_id, row_number() over (order by position, post_id) as place
      from collection_posts where collection_id = ${id}) n
    where cp.collection_id = ${id} and cp.post_id = n.post_id`.execute(tx);
}

/**
 * Redistributes the places of these posts in the order named; the others keep theirs. The places are one array rather
 * than rows to join, because a cached plan expects few of them and compares each post with each place.
 */
async function arrange(tx: Tx, id: string, postIds: readonly string[]): Promise<void> {
  await sql`with place as materialized (
      select array_agg(position order by position, post_id) as positions from collection_posts
      where collection_id = ${id} and post_id = any(${[...postIds]}::uuid[]))
    update collection_posts cp set position = (select positions[named.turn] from place)
    from unnest(${[...postIds]}::uuid[]) with ordinality named (post_id, turn)
    where cp.collection_id = ${id} and cp.post_id = named.post_id`.execute(tx);
}

/**
 * Concurrent changes of the order are serialised: each move takes effect, and a list affects only the posts
 * it names.
 */
export const order = handle(orderCollection, async ({ db }, { caller, params, body }) => {
  const asked = arrangementOf(body);
  await db.transaction().execute(async (tx) => {
    const { id } = await lockCollection(tx, caller, params.id);
    await notifyPeers(tx, { activity: 'update', kind: 'collection', objectId: id, actorRef: caller.ref });
    if (asked.kind === 'arrange') {
      await checkPlaced(tx, caller, id, asked.postIds);
      await arrange(tx, id, asked.postIds);
      return;
    }
    const { postId, before } = asked;
    await checkPlaced(tx, caller, id, before === null ? [postId] : [postId, before]);
    if (await moveBetween(tx, id, postId, before)) return;
    await spread(tx, id);
    await moveBetween(tx, id, postId, before);
  });
  return { status: 204 };
});
