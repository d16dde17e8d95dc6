import { sql } from 'kysely';
import { grantedAccounts } from '../../access/federation.ts';
import type { Tx } from '../../platform/database/pool.ts';

/**
 * Sets the audience of mirrored posts from their grants (FED-31): everyone here, or the persons and the
 * members of the teams that they name. A post is public here
 * only if it is public at the peer and this install accepts that; `comments_enabled` needs the scope `comment`.
 */
export async function refreshAudience(tx: Tx, peerId: string, postIds: readonly string[]): Promise<void> {
  if (postIds.length === 0) return;
  const grants = sql`(select o.local_id as post_id, g.for_all, g.user_ref, g.scope
    from federated_objects o join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
    where o.kind = 'post' and o.peer_id = ${peerId} and o.local_id = any(${postIds}::uuid[])
    union all
    select o.local_id, g.for_all, g.user_ref, g.scope
    from federated_objects o join federated_collection_items i on i.uri = o.uri
      join federated_objects c on c.kind = 'collection' and c.local_id = i.collection_id and c.peer_id = o.peer_id
      join ${grantedAccounts} g on g.peer_id = c.peer_id and g.uri = c.uri
    where o.kind = 'post' and o.peer_id = ${peerId} and o.local_id = any(${postIds}::uuid[]))`;
  await sql`
    with given as materialized ${grants}, per_post as (
      select post_id, bool_or(for_all) as for_all from given group by post_id),
    dropped as (
      delete from post_shares s using per_post x where s.post_id = x.post_id and (x.for_all or not exists (
        select from given g where g.post_id = s.post_id and g.user_ref = s.user_ref))),
    added as (
      insert into post_shares (post_id, user_ref)
      select distinct g.post_id, g.user_ref from given g join per_post x on x.post_id = g.post_id
      where not x.for_all and g.user_ref is not null on conflict do nothing)
    update posts p set visibility = case when not x.for_all then 'explicit-share'
        when p.remote_visibility = 'public' and pe.accept_public then 'public' else 'org-only' end,
      comments_enabled = p.remote_comments and exists (
        select from given g where g.post_id = p.id and g.scope = 'comment')
    from per_post x, federation_peers pe
    where p.id = x.post_id and pe.id = p.origin_peer_id`.execute(tx);
}

/** Shows the public posts of a peer to visitors, or to accounts only, after `accept_public` was changed (FED-31). */
export async function refreshPublic(tx: Tx, peerId: string): Promise<void> {
  await sql`update posts p set visibility = case when pe.accept_public then 'public' else 'org-only' end
    from federation_peers pe
    where pe.id = ${peerId} and p.origin_peer_id = pe.id and p.remote_visibility = 'public'
      and p.visibility in ('public', 'org-only')`.execute(tx);
}

/** Sets the audience of an individually shared asset from its grants: everyone here, or the persons they name. */
export async function refreshAssetAudience(tx: Tx, peerId: string, uri: string): Promise<void> {
  await sql`with given as (
      select o.local_id, g.for_all, g.user_ref from federated_objects o
        join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
      where o.kind = 'asset' and o.peer_id = ${peerId} and o.uri = ${uri}),
    dropped as (
      delete from asset_shares s using federated_objects o where o.kind = 'asset' and o.uri = ${uri}
        and s.asset_id = o.local_id and not exists (select from assets a where a.id = o.local_id and a.sensitivity = 'restricted')
        and not exists (
          select from given g where g.local_id = s.asset_id and g.user_ref = s.user_ref)),
    added as (
      insert into asset_shares (asset_id, user_ref, shared_by_user_ref)
      select distinct g.local_id, g.user_ref, a.owner_user_ref from given g join assets a on a.id = g.local_id and a.sensitivity <> 'restricted'
      where g.user_ref is not null on conflict do nothing)
    update assets a set sensitivity = case when exists (select from given where for_all) then 'org' else 'posts' end
    from federated_objects o where o.kind = 'asset' and o.uri = ${uri} and a.id = o.local_id and a.sensitivity <> 'restricted'`.execute(
    tx,
  );
}

/** Sets the audience of a mirrored collection and of its posts from their grants. */
export async function refreshCollectionAudience(tx: Tx, peerId: string, uri: string): Promise<void> {
  await sql`with given as (
      select o.local_id, g.for_all, g.user_ref from federated_objects o
        join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
      where o.kind = 'collection' and o.peer_id = ${peerId} and o.uri = ${uri}),
    added as (
      insert into collection_shares (collection_id, user_ref)
      select distinct local_id, user_ref from given where user_ref is not null on conflict do nothing),
    dropped as (
      delete from collection_shares s using federated_objects o where o.kind = 'collection' and o.uri = ${uri}
        and s.collection_id = o.local_id and not exists (
          select from given g where g.user_ref = s.user_ref))
    update collections c set visibility = case when exists (select from given where for_all)
        then 'org-only' else 'explicit-share' end
    from federated_objects o where o.kind = 'collection' and o.uri = ${uri} and c.id = o.local_id`.execute(
    tx,
  );
  const { rows } = await sql<{ id: string }>`select p.local_id as id from federated_objects c
      join federated_collection_items i on i.collection_id = c.local_id
      join federated_objects p on p.uri = i.uri and p.kind = 'post' and p.peer_id = c.peer_id
    where c.kind = 'collection' and c.uri = ${uri} and c.peer_id = ${peerId}`.execute(tx);
  await refreshAudience(
    tx,
    peerId,
    rows.map(({ id }) => id),
  );
}

/** Updates the audience of a mirrored object after its grants have changed. */
export async function refreshGranted(
  tx: Tx,
  peerId: string,
  kind: 'post' | 'asset' | 'collection',
  uri: string,
): Promise<void> {
  if (kind === 'asset') return refreshAssetAudience(tx, peerId, uri);
  if (kind === 'collection') return refreshCollectionAudience(tx, peerId, uri);
  const { rows } = await sql<{ local_id: string }>`select local_id from federated_objects
    where kind = 'post' and uri = ${uri} and peer_id = ${peerId}`.execute(tx);
  return refreshAudience(
    tx,
    peerId,
    rows.map(({ local_id }) => local_id),
  );
}

/**
 * Gives everything that peers share with this team to its present members (FED-65). Call it in the transaction that
 * changes the members or closes the team, under the lock of the team.
 */
export async function refreshTeamAudience(tx: Tx, teamId: string): Promise<void> {
  const { rows } = await sql<{ peer_id: string; kind: 'post' | 'asset' | 'collection'; uri: string }>`
    select peer_id, kind, uri from federation_grants where target_team_id = ${teamId} order by peer_id, uri`.execute(
    tx,
  );
  for (const { peer_id, kind, uri } of rows) await refreshGranted(tx, peer_id, kind, uri);
}
