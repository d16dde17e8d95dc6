import { sql } from 'kysely';
import {
  assetsGivenEncrypted,
  assetsGivenTo,
  collectionsGivenTo,
  type PeerCaller,
  postsGivenTo,
} from '../../access/federation.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** An object of this library that peers may receive. */
export interface Named {
  kind: 'post' | 'asset' | 'collection' | 'comment';
  id: string;
}

/** What an envelope tells a peer about objects of this library. */
export interface Announcement {
  /** The objects that it brings or names. */
  brings: readonly Named[];
  /** The object that it withdraws. */
  withdraws: Named | null;
}

/** Returns whether an envelope to the peer has brought or named an object. */
export async function isAnnounced(db: Database, peer: PeerCaller, { kind, id }: Named): Promise<boolean> {
  const rows = await db
    .selectFrom('federation_announced')
    .where('peer_id', '=', peer.peerId)
    .where('kind', '=', kind)
    .where('object_id', '=', id)
    .execute();
  return rows.length > 0;
}

/**
 * Returns whether this activity may withdraw an object from the peer: the peer received it, and no other activity
 * has withdrawn it since (FED-79).
 */
export async function mayWithdraw(
  db: Database,
  peer: PeerCaller,
  { kind, id }: Named,
  activityId: string,
): Promise<boolean> {
  const rows = await db
    .selectFrom('federation_announced')
    .where('peer_id', '=', peer.peerId)
    .where('kind', '=', kind)
    .where('object_id', '=', id)
    .where((eb) => eb.or([eb('withdrawn_by', 'is', null), eb('withdrawn_by', '=', activityId)]))
    .execute();
  return rows.length > 0;
}

/** Returns whether the peer is given a post, asset or collection now, plainly or encrypted. */
export async function isGiven(db: Database, peer: PeerCaller, { kind, id }: Named): Promise<boolean> {
  const query = {
    post: sql`select from posts p where p.id = ${id} and ${postsGivenTo(peer)}`,
    asset: sql`select from assets a where a.id = ${id} and (${assetsGivenTo(peer)} or ${assetsGivenEncrypted(peer)})`,
    collection: sql`select from collections c where c.id = ${id} and ${collectionsGivenTo(peer)}`,
    comment: sql`select where false`,
  }[kind];
  return (await query.execute(db)).rows.length > 0;
}

/** Records what the envelope of an activity tells the peer, in the transaction that stores the envelope. */
export async function rememberAnnounced(
  tx: Tx,
  peerId: string,
  activityId: string,
  { brings, withdraws }: Announcement,
): Promise<void> {
  if (brings.length > 0)
    await sql`insert into federation_announced (peer_id, kind, object_id)
      select distinct ${peerId}::uuid, x.kind, x.id
      from unnest(${brings.map(({ kind }) => kind)}::text[], ${brings.map(({ id }) => id)}::uuid[]) x (kind, id)
      on conflict (peer_id, kind, object_id) do update set withdrawn_by = null`.execute(tx);
  if (withdraws !== null)
    await tx
      .updateTable('federation_announced')
      .set({ withdrawn_by: activityId })
      .where('peer_id', '=', peerId)
      .where('kind', '=', withdraws.kind)
      .where('object_id', '=', withdraws.id)
      .execute();
}
