import { sql } from 'kysely';
import { refreshAssetEnds, refreshGranted } from '../../../access/mirrored-audience.ts';
import { enqueueAll } from '../../../core/job-table.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { dropRecipients } from './recipients.ts';
import { removeUnnamedTeams } from './team.ts';

/** Removes mirrored posts, with their comments and likes. */
async function removePosts(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from federated_objects where kind = 'comment' and local_id in (
    select id from comments where post_id = any(${ids}::uuid[]))`.execute(tx);
  await tx.deleteFrom('posts').where('id', '=', sql<string>`any(${ids}::uuid[])`).execute();
  await tx
    .deleteFrom('federated_objects')
    .where('kind', '=', 'post')
    .where('local_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
}

/** Removes mirrored assets; a job releases bytes that no other asset has. */
async function removeAssets(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ file_hash: string }>`
    with history as (delete from field_value_history where subject_id = any(${ids}::uuid[])),
      tracks as (select file_hash from subtitles where asset_id = any(${ids}::uuid[])),
      gone as (delete from assets where id = any(${ids}::uuid[]) returning file_hash)
    select file_hash from gone union select file_hash from tracks`.execute(tx);
  await tx
    .deleteFrom('federated_objects')
    .where('kind', '=', 'asset')
    .where('local_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
  const hashes = rows.map(({ file_hash }) => file_hash).sort();
  await enqueueAll(
    tx,
    'release-bytes',
    hashes.map((hash) => ({ payload: { hash }, key: `release:${hash}` })),
  );
}

async function removeCollections(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .deleteFrom('field_value_history')
    .where('subject_kind', '=', 'collection')
    .where('subject_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
  await tx.deleteFrom('collections').where('id', '=', sql<string>`any(${ids}::uuid[])`).execute();
  await tx
    .deleteFrom('federated_objects')
    .where('kind', '=', 'collection')
    .where('local_id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
}

async function idsOf(tx: Tx, query: ReturnType<typeof sql<{ id: string }>>): Promise<string[]> {
  const { rows } = await query.execute(tx);
  return rows.map(({ id }) => id);
}

/** Removes the mirror of this address, if any, after its origin has deleted or withdrawn the object. */
export async function removeMirrored(tx: Tx, peerId: string, uri: string): Promise<void> {
  const rows = await tx
    .selectFrom('federated_objects')
    .select(['kind', 'local_id'])
    .where('uri', '=', uri)
    .where('peer_id', '=', peerId)
    .forUpdate()
    .execute();
  for (const { kind, local_id } of rows) {
    if (kind === 'post') await removePosts(tx, [local_id]);
    if (kind === 'asset') await removeAssets(tx, [local_id]);
    if (kind === 'collection') await removeCollections(tx, [local_id]);
  }
  await purgeUngranted(tx, peerId);
}

const granted = sql`exists (select from federation_grants g where g.peer_id = o.peer_id and g.uri = o.uri
  and (g.expires_at is null or g.expires_at > now()))`;

/**
 * Removes mirrored objects of a peer that no grant covers (FED-33): collections and posts by their own grant,
 * posts also by that of a collection, assets also as members of a remaining post.
 */
export async function purgeUngranted(tx: Tx, peerId: string): Promise<void> {
  const { rows: expired } = await sql<{ kind: 'post' | 'asset' | 'collection'; uri: string }>`
    with expired as (
      delete from federation_grants where peer_id = ${peerId} and expires_at <= now() returning kind, uri)
    select distinct kind, uri from expired`.execute(tx);
  await removeCollections(
    tx,
    await idsOf(
      tx,
      sql<{ id: string }>`select o.local_id as id from federated_objects o
        where o.peer_id = ${peerId} and o.kind = 'collection' and not ${granted}`,
    ),
  );
  await removePosts(
    tx,
    await idsOf(
      tx,
      sql<{ id: string }>`select o.local_id as id from federated_objects o
        where o.peer_id = ${peerId} and o.kind = 'post' and not ${granted} and not exists (
          select from federated_collection_items i join collections c on c.id = i.collection_id
          where i.uri = o.uri and c.origin_peer_id = o.peer_id)`,
    ),
  );
  await removeAssets(
    tx,
    await idsOf(
      tx,
      sql<{ id: string }>`select o.local_id as id from federated_objects o
        where o.peer_id = ${peerId} and o.kind = 'asset' and not ${granted} and not exists (
          select from post_members m join posts p on p.id = m.post_id
          where m.asset_id = o.local_id and p.origin_peer_id = o.peer_id)`,
    ),
  );
  // What another grant still covers stays, for the people of that grant. Few grants expire between two passes.
  for (const { kind, uri } of expired) await refreshGranted(tx, peerId, kind, uri);
  // What opened these for a time only may be gone.
  await refreshAssetEnds(tx, sql`a.origin_peer_id = ${peerId} and a.visible_until is not null`);
  await dropRecipients(tx, peerId);
  await removeUnnamedTeams(tx, peerId);
}

/**
 * Removes everything received from a peer except comments by its people on local posts, which belong to those posts,
 * and cancels pending changes and revokes shares to the peer (FED-14).
 */
export async function leavePeer(tx: Tx, peerId: string): Promise<void> {
  await tx
    .updateTable('federation_outbox')
    .set({ status: 'cancelled', envelope: null, preludes: [] })
    .where('peer_id', '=', peerId)
    .where('status', '=', sql.lit('queued'))
    .execute();
  await tx
    .updateTable('federation_shares')
    .set({ revoked_at: sql<string>`now()` })
    .where('peer_id', '=', peerId)
    .where('revoked_at', 'is', null)
    .execute();
  await tx.deleteFrom('federation_grants').where('peer_id', '=', peerId).execute();
  await purgeUngranted(tx, peerId);
  await sql`update comments set remote_actor_ref = null where remote_actor_ref in (
    select ref from remote_actors where peer_id = ${peerId})`.execute(tx);
  await tx.deleteFrom('federated_objects').where('peer_id', '=', peerId).execute();
  await tx.deleteFrom('federation_fields').where('peer_id', '=', peerId).execute();
  await tx.deleteFrom('federation_sent_fields').where('peer_id', '=', peerId).execute();
  await tx.deleteFrom('federation_announced').where('peer_id', '=', peerId).execute();
  await tx.deleteFrom('remote_actors').where('peer_id', '=', peerId).execute();
  await tx.deleteFrom('federation_retired_keys').where('peer_id', '=', peerId).execute();
}
