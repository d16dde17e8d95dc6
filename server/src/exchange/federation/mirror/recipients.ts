import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/database/pool.ts';

/** Shares these mirrored restricted assets `a` with exactly the persons they were encrypted for. */
async function refresh(tx: Tx, which: RawBuilder<unknown>): Promise<void> {
  const mirrored = sql`a.origin_peer_id is not null and a.sensitivity = 'restricted' and ${which}`;
  await sql`delete from asset_shares s using assets a where a.id = s.asset_id and ${mirrored} and not exists (
    select from federated_recipients r where r.asset_id = s.asset_id and r.user_ref = s.user_ref)`.execute(
    tx,
  );
  await sql`insert into asset_shares as s (asset_id, user_ref, shared_by_user_ref, expires_at)
    select r.asset_id, r.user_ref, a.owner_user_ref, nullif(max(coalesce(g.expires_at, 'infinity')), 'infinity')
    from federated_recipients r join assets a on a.id = r.asset_id
      join federation_grants g on g.peer_id = a.origin_peer_id and g.uri = r.uri and g.target_user_ref = r.user_ref
    where ${mirrored} group by r.asset_id, r.user_ref, a.owner_user_ref
    on conflict (asset_id, user_ref) do update set expires_at = excluded.expires_at
      where s.expires_at is distinct from excluded.expires_at`.execute(tx);
}

/**
 * Gives an asset that arrived encrypted to the persons it was encrypted for (FED-55), as far as the object it arrived
 * in is shared with them by name. Does nothing for one that arrived plain.
 */
export async function setRecipients(
  tx: Tx,
  peerId: string,
  assetId: string,
  uri: string,
  recipients: readonly number[],
): Promise<void> {
  await sql`delete from federated_recipients where asset_id = ${assetId} and uri = ${uri}
    and user_ref <> all(${recipients}::bigint[])`.execute(tx);
  await sql`insert into federated_recipients (asset_id, uri, user_ref)
    select ${assetId}, ${uri}, r.ref from unnest(${recipients}::bigint[]) as r (ref)
    where exists (select from federation_grants g where g.peer_id = ${peerId} and g.uri = ${uri}
      and g.target_user_ref = r.ref) on conflict do nothing`.execute(tx);
  await refresh(tx, sql`a.id = ${assetId}`);
}

/**
 * Withdraws assets from persons when the object they arrived in is no longer shared with them, or no longer contains
 * them.
 */
export async function dropRecipients(tx: Tx, peerId: string): Promise<void> {
  const { rows } = await sql<{ asset_id: string }>`
    delete from federated_recipients r using assets a
    where a.id = r.asset_id and a.origin_peer_id = ${peerId} and (
      not exists (select from federation_grants g where g.peer_id = ${peerId} and g.uri = r.uri
        and g.target_user_ref = r.user_ref)
      or not exists (select from federated_objects o where o.uri = r.uri and (o.local_id = r.asset_id
        or exists (select from post_members m where m.post_id = o.local_id and m.asset_id = r.asset_id))))
    returning r.asset_id`.execute(tx);
  const ids = rows.map(({ asset_id }) => asset_id);
  if (ids.length > 0) await refresh(tx, sql`a.id = any(${ids}::uuid[])`);
}

/** Sets until when persons see what was encrypted for them, after the grants of this object have changed. */
export async function refreshRecipients(tx: Tx, uri: string): Promise<void> {
  await refresh(tx, sql`a.id in (select r.asset_id from federated_recipients r where r.uri = ${uri})`);
}
