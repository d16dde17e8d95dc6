import { type RawBuilder, sql } from 'kysely';
import { commentsForPeers } from '../../access/annotations.ts';
import { peersToNotify, shareInForce } from '../../access/federation.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { enqueue, enqueueAll } from '../job-table.ts';
import {
  notifyFollowers,
  notifyFollowersOfAsset,
  notifyFollowersOfEach,
  notifyFollowersOfFile,
} from './followers.ts';

/** A change that may concern peers. */
export interface Change {
  activity: 'create' | 'update' | 'delete' | 'like' | 'unlike' | 'share' | 'unshare';
  kind: 'post' | 'asset' | 'collection' | 'comment' | 'field';
  objectId: string;
  /** The account that acted; null for the system. */
  actorRef: number | null;
  /** Data that the envelope needs once the object is gone. */
  details?: Readonly<Record<string, unknown>>;
}

/** Wakes the delivery to these peers when the transaction commits. */
export async function wakeDelivery(tx: Tx, peerIds: readonly string[]): Promise<void> {
  const jobs = [...new Set(peerIds)].map((peer) => ({ payload: { peer }, key: `deliver:${peer}` }));
  await enqueueAll(tx, 'deliver', jobs);
}

/**
 * Runs the job that withdraws and removes what has expired at this time, too, and not only every five minutes. Read rules
 * do not depend on it.
 */
export async function keepFederationAt(tx: Tx, expiresAt: string | null): Promise<void> {
  if (expiresAt === null) return;
  const at = new Date(expiresAt).toISOString();
  await enqueue(tx, 'keep-federation', {}, { key: `keep-federation:${at}`, runAt: at });
}

/** The same for a collection, whose end peers do not know. */
export async function keepCollectionAtEnd(tx: Tx, id: string): Promise<void> {
  const { rows } = await sql<{ expires_at: string }>`select c.expires_at from collections c
    where c.id = ${id} and c.expires_at > now() and exists (
      select from federation_shares s where s.kind = 'collection' and s.object_id = c.id and ${shareInForce})`.execute(
    tx,
  );
  await keepFederationAt(tx, rows[0]?.expires_at ?? null);
}

/** Inserts rows into the outbox, and wakes the delivery to their peers. */
async function record(tx: Tx, insert: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ peer_id: string }>`${insert} returning peer_id`.execute(tx);
  await wakeDelivery(
    tx,
    rows.map(({ peer_id }) => peer_id),
  );
}

/** Writes one outbox row for each of `peers`, a query with the column `peer_id`, in order. */
async function write(tx: Tx, change: Change, peers: RawBuilder<unknown>): Promise<void> {
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref, details)
    select distinct recipients.peer_id, ${change.activity}, ${change.kind}, ${change.objectId}::uuid, ${change.actorRef}::bigint,
      ${JSON.stringify(change.details ?? {})}::jsonb
    from (${peers}) recipients join federation_peers pe on pe.id = recipients.peer_id and pe.state in ('connected', 'disabled')`,
  );
}

/**
 * Records that a post, asset or collection of ours has changed, for every peer it is shared with and for followers, in
 * the transaction of the change (FED-20, AP-8). Records nothing for objects of peers, because only their origin changes
 * them.
 */
export async function notifyPeers(
  tx: Tx,
  change: Change & { kind: 'post' | 'asset' | 'collection' },
): Promise<void> {
  await write(tx, change, peersToNotify(change.kind, change.objectId));
  if (change.kind === 'post') await notifyFollowers(tx, change.objectId);
  if (change.kind === 'asset') await notifyFollowersOfAsset(tx, change.objectId);
}

/** Records that many things of ours have changed, as `notifyPeers` does for one, in a fixed number of statements. */
export async function notifyPeersOfEach(
  tx: Tx,
  kind: 'post' | 'asset' | 'collection',
  ids: readonly string[],
  actorRef: number | null,
  activity: 'create' | 'update' = 'update',
): Promise<void> {
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct recipients.peer_id, ${activity}, ${kind}, x.id, ${actorRef}::bigint
    from unnest(${[...ids]}::uuid[]) x (id), lateral (${peersToNotify(kind, sql`x.id`)}) recipients
      join federation_peers pe on pe.id = recipients.peer_id and pe.state in ('connected', 'disabled')
    where exists (select from federation_shares)`,
  );
  if (kind === 'post') await notifyFollowersOfEach(tx, sql`select unnest(${[...ids]}::uuid[]) as post_id`);
  if (kind === 'asset')
    await notifyFollowersOfEach(
      tx,
      sql`select m.post_id from post_members m where m.asset_id = any(${[...ids]}::uuid[])`,
    );
}

/**
 * Records that the renditions or facts of bytes have changed, for every peer that an asset with them is shared with, in
 * the name of its owner, and for followers.
 */
export async function notifyPeersOfFile(tx: Tx, hash: string): Promise<void> {
  await notifyFollowersOfFile(tx, hash);
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct recipients.peer_id, 'update', 'asset', a.id, a.owner_user_ref
    from assets a, lateral (${peersToNotify('asset', sql`a.id`)}) recipients
      join federation_peers pe on pe.id = recipients.peer_id and pe.state in ('connected', 'disabled')
    where a.file_hash = ${hash} and a.deleted_at is null and a.origin_peer_id is null`,
  );
}

/**
 * Records the posts that contain one of these assets for every peer they are shared with: the recipients of the assets
 * have changed, and with them the members that the peers see.
 */
export async function notifyPeersOfMembers(
  tx: Tx,
  assetIds: readonly string[],
  actorRef: number,
): Promise<void> {
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct recipients.peer_id, 'update', 'post', m.post_id, ${actorRef}::bigint
    from post_members m, lateral (${peersToNotify('post', sql`m.post_id`)}) recipients
      join federation_peers pe on pe.id = recipients.peer_id and pe.state in ('connected', 'disabled')
    where m.asset_id = any(${[...assetIds]}::uuid[])`,
  );
}

/**
 * Records a comment or like on a post: for the peer the post comes from, or for every peer the post is shared with but
 * the one that the comment came from.
 */
export async function notifyPeersOfActivity(
  tx: Tx,
  postId: string,
  change: Change & { kind: 'post' | 'comment' },
  exceptPeer: string | null = null,
): Promise<void> {
  const peers = sql`select recipients.peer_id from (
      select p.origin_peer_id as peer_id from posts p where p.id = ${postId} and p.origin_peer_id is not null
      union ${peersToNotify('post', postId)}) recipients
    where recipients.peer_id is distinct from ${exceptPeer}::uuid`;
  await write(tx, change, peers);
}

/** Records a change for one peer, whether or not anything is shared with it. */
export async function notifyPeer(tx: Tx, peerId: string, change: Change): Promise<void> {
  await write(tx, change, sql`select ${peerId}::uuid as peer_id`);
}

/** Records every post of a collection for a peer that the collection is shared with, in their order. */
export async function notifyPeerOfCollection(
  tx: Tx,
  peerId: string,
  collectionId: string,
  actorRef: number,
): Promise<void> {
  await sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select ${peerId}, 'create', 'post', cp.post_id, ${actorRef} from collection_posts cp
    where cp.collection_id = ${collectionId} order by cp.position`.execute(tx);
}

/**
 * Records the comments of posts for peers that get these posts; `given` is a query with the columns `post_id` and
 * `peer_id`. What was written before is part of a post (FED-80). Repeating it changes nothing at the peers.
 */
export async function notifyPeersOfComments(tx: Tx, given: RawBuilder<unknown>): Promise<void> {
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select given.peer_id, 'create', 'comment', c.id, coalesce(c.author_user_ref, p.author_user_ref)
    from (select distinct post_id, peer_id from (${given}) x) given
      join posts p on p.id = given.post_id and p.origin_peer_id is null
      join comments c on c.post_id = p.id and ${commentsForPeers} left join remote_actors ra on ra.ref = c.remote_actor_ref
      join federation_peers pe on pe.id = given.peer_id and pe.state in ('connected', 'disabled')
    where c.author_user_ref is not null or ra.peer_id <> given.peer_id
    order by c.created_at, c.id`,
  );
}

/**
 * Withdraws the collections `c` that match, which are in the trash or have expired, from the peers that still have
 * them: they lose each collection, and its posts that no other share covers (FED-33). `actor` is who withdraws them.
 * Locks the collections, so that none is extended meanwhile.
 */
export async function withdrawCollections(
  tx: Tx,
  which: RawBuilder<boolean>,
  actor: RawBuilder<number>,
): Promise<void> {
  await record(
    tx,
    sql`with ended as materialized (
      select c.id, ${actor}::bigint as actor_ref from collections c where ${which} and exists (
        select from federation_shares s where s.kind = 'collection' and s.object_id = c.id and s.withdrawn_at is null
          and ${shareInForce})
      for no key update of c),
    withdrawn as (
      update federation_shares s set withdrawn_at = now() from ended
      where s.kind = 'collection' and s.object_id = ended.id and s.withdrawn_at is null and ${shareInForce}
      returning s.peer_id, ended.id, ended.actor_ref)
    insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct w.peer_id, 'update', 'collection', w.id, w.actor_ref
    from withdrawn w join federation_peers pe on pe.id = w.peer_id and pe.state in ('connected', 'disabled')`,
  );
}

/**
 * Records a collection that was restored or edited. Peers from which it was withdrawn get its posts again, unless it is
 * still expired. The caller holds the lock of the collection.
 */
export async function returnCollection(
  tx: Tx,
  id: string,
  activity: 'create' | 'update',
  actorRef: number,
): Promise<void> {
  await notifyPeers(tx, { activity, kind: 'collection', objectId: id, actorRef });
  await keepCollectionAtEnd(tx, id);
  const { rows } = await sql<{ peer_id: string }>`
    update federation_shares s set withdrawn_at = null from collections c
    where s.kind = 'collection' and s.object_id = ${id} and s.withdrawn_at is not null and ${shareInForce}
      and c.id = s.object_id and (c.expires_at is null or c.expires_at > now())
    returning s.peer_id`.execute(tx);
  for (const peerId of new Set(rows.map(({ peer_id }) => peer_id)))
    await notifyPeerOfCollection(tx, peerId, id, actorRef);
  await notifyPeersOfComments(
    tx,
    sql`select cp.post_id, peers.peer_id from collection_posts cp
        cross join unnest(${rows.map(({ peer_id }) => peer_id)}::uuid[]) peers (peer_id)
      where cp.collection_id = ${id}`,
  );
}

/**
 * Records the shared collections of posts that have become visible or hidden: they list these or no longer do, and peers
 * accept a post by them. The posts themselves are recorded afterwards.
 */
export async function notifyPeersOfCollectionsWith(
  tx: Tx,
  postIds: readonly string[],
  actorRef: number,
): Promise<void> {
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct s.peer_id, 'update', 'collection', s.object_id, ${actorRef}::bigint
    from collection_posts cp join federation_shares s on s.kind = 'collection' and s.object_id = cp.collection_id
      join federation_peers pe on pe.id = s.peer_id and pe.state in ('connected', 'disabled')
    where cp.post_id = any(${[...postIds]}::uuid[]) and ${shareInForce}`,
  );
}

/** Records that a post has become visible or hidden: first its shared collections, then the post. */
export async function notifyPeersOfVisibility(
  tx: Tx,
  postId: string,
  { activity, actorRef }: { activity: 'create' | 'update'; actorRef: number },
): Promise<void> {
  await notifyPeersOfCollectionsWith(tx, [postId], actorRef);
  await notifyPeers(tx, { activity, kind: 'post', objectId: postId, actorRef });
}

/** Records a changed definition for the peers that have it; it is sent again only to peers with a different version. */
export async function notifyPeersOfField(tx: Tx, fieldId: string, actorRef: number): Promise<void> {
  const change: Change = { activity: 'update', kind: 'field', objectId: fieldId, actorRef };
  await write(tx, change, sql`select s.peer_id from federation_sent_fields s where s.field_id = ${fieldId}`);
}

/**
 * Records every shared asset and collection with a value of this field as changed: peers that have the field receive
 * other values of it, or none.
 */
export async function notifyPeersOfValues(tx: Tx, fieldId: string, actorRef: number): Promise<void> {
  const { rows: known } =
    await sql`select from federation_sent_fields where field_id = ${fieldId} limit 1`.execute(tx);
  if (known.length === 0) return;
  const recipientsOf = (kind: 'asset' | 'collection') => sql`
    select recipients.peer_id, ${kind} as kind, ${sql.ref(`v.${kind}_id`)} as object_id
    from ${sql.table(`${kind}_field_values`)} v,
      lateral (${peersToNotify(kind, sql.ref(`v.${kind}_id`))}) recipients
    where v.field_id = ${fieldId}`;
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct x.peer_id, 'update', x.kind, x.object_id, ${actorRef}::bigint
    from (${recipientsOf('asset')} union ${recipientsOf('collection')}) x
      join federation_sent_fields s on s.peer_id = x.peer_id and s.field_id = ${fieldId}`,
  );
}

/** Records every shared post and asset of a team as changed, because they name the team. */
export async function notifyPeersOfTeam(tx: Tx, teamId: string, actorRef: number): Promise<void> {
  const recipientsOf = (
    kind: 'post' | 'asset',
  ) => sql`select recipients.peer_id, ${kind} as kind, x.id as object_id
    from ${sql.table(`${kind}s`)} x, lateral (${peersToNotify(kind, sql.ref('x.id'))}) recipients
    where x.team_id = ${teamId} and x.origin_peer_id is null`;
  await record(
    tx,
    sql`insert into federation_outbox (peer_id, activity, kind, object_id, actor_ref)
    select distinct y.peer_id, 'update', y.kind, y.object_id, ${actorRef}::bigint
    from (${recipientsOf('post')} union ${recipientsOf('asset')}) y
      join federation_peers pe on pe.id = y.peer_id and pe.state in ('connected', 'disabled')`,
  );
}
