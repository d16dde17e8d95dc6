import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../platform/database/pool.ts';
import { grantedAccounts } from './federation.ts';

/** When the last of the grants `g` that meet a condition ends; null when one of them has no end. */
function lastEnd(which: RawBuilder<unknown> = sql`true`): RawBuilder<unknown> {
  return sql`nullif(max(coalesce(g.expires_at, 'infinity')) filter (where ${which}), 'infinity')`;
}

/**
 * Sets until when mirrored assets `a` may be decided about by their sensitivity and `exposure` alone (access/assets.ts): for
 * those that everyone here was given by themselves, when that ends; for others until the first end of what gives them.
 */
export async function refreshAssetEnds(tx: Tx, which: RawBuilder<unknown>): Promise<void> {
  const ownEnd = (which?: RawBuilder<unknown>) => sql`(select ${lastEnd(which)} from federated_objects o
    join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
    where o.kind = 'asset' and o.local_id = a.id)`;
  await sql`update assets a set visible_until = x.ends from (
    select a.id, case when a.sensitivity = 'org' then ${ownEnd(sql`g.for_all`)} else least(${ownEnd()}, (
      select min(p.visible_until) from post_members m join posts p on p.id = m.post_id
      where m.asset_id = a.id and p.deleted_at is null)) end as ends
    from assets a where a.origin_peer_id is not null and ${which}) x
  where x.id = a.id and a.visible_until is distinct from x.ends`.execute(tx);
}

/**
 * Sets the audience of mirrored posts from their grants (FED-31): everyone here, or the persons and the
 * members of the teams that they name. A post is public here
 * only if it is public at the peer and this install accepts that; `comments_enabled` needs the scope `comment`.
 */
export async function refreshAudience(tx: Tx, peerId: string, postIds: readonly string[]): Promise<void> {
  if (postIds.length === 0) return;
  const grants = sql`(select o.local_id as post_id, g.for_all, g.user_ref, g.scope, g.expires_at
    from federated_objects o join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
    where o.kind = 'post' and o.peer_id = ${peerId} and o.local_id = any(${postIds}::uuid[])
    union all
    select o.local_id, g.for_all, g.user_ref, g.scope, g.expires_at
    from federated_objects o join federated_collection_items i on i.uri = o.uri
      join federated_objects c on c.kind = 'collection' and c.local_id = i.collection_id and c.peer_id = o.peer_id
      join ${grantedAccounts} g on g.peer_id = c.peer_id and g.uri = c.uri
    where o.kind = 'post' and o.peer_id = ${peerId} and o.local_id = any(${postIds}::uuid[]))`;
  await sql`
    with given as materialized ${grants}, per_post as (
      select g.post_id, bool_or(g.for_all) as for_all,
        case when bool_or(g.for_all) then ${lastEnd(sql`g.for_all`)} else ${lastEnd()} end as ends
      from given g group by g.post_id),
    dropped as (
      delete from post_shares s using per_post x where s.post_id = x.post_id and (x.for_all or not exists (
        select from given g where g.post_id = s.post_id and g.user_ref = s.user_ref))),
    added as (
      insert into post_shares as s (post_id, user_ref, expires_at)
      select g.post_id, g.user_ref, ${lastEnd()} from given g join per_post x on x.post_id = g.post_id
      where not x.for_all and g.user_ref is not null group by g.post_id, g.user_ref
      on conflict (post_id, user_ref) do update set expires_at = excluded.expires_at
        where s.expires_at is distinct from excluded.expires_at)
    update posts p set visibility = case when not x.for_all then 'explicit-share'
        when p.remote_visibility = 'public' and pe.accept_public then 'public' else 'org-only' end,
      comments_enabled = p.remote_comments and exists (
        select from given g where g.post_id = p.id and g.scope = 'comment'),
      visible_until = x.ends
    from per_post x, federation_peers pe
    where p.id = x.post_id and pe.id = p.origin_peer_id`.execute(tx);
  await refreshAssetEnds(
    tx,
    sql`a.id in (select m.asset_id from post_members m where m.post_id = any(${postIds}::uuid[]))`,
  );
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
      select o.local_id, g.for_all, g.user_ref, g.expires_at from federated_objects o
        join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
      where o.kind = 'asset' and o.peer_id = ${peerId} and o.uri = ${uri}),
    dropped as (
      delete from asset_shares s using federated_objects o where o.kind = 'asset' and o.uri = ${uri}
        and s.asset_id = o.local_id and not exists (select from assets a where a.id = o.local_id and a.sensitivity = 'restricted')
        and not exists (
          select from given g where g.local_id = s.asset_id and g.user_ref = s.user_ref)),
    added as (
      insert into asset_shares as s (asset_id, user_ref, shared_by_user_ref, expires_at)
      select g.local_id, g.user_ref, a.owner_user_ref, ${lastEnd()}
      from given g join assets a on a.id = g.local_id and a.sensitivity <> 'restricted'
      where g.user_ref is not null group by g.local_id, g.user_ref, a.owner_user_ref
      on conflict (asset_id, user_ref) do update set expires_at = excluded.expires_at
        where s.expires_at is distinct from excluded.expires_at)
    update assets a set sensitivity = case when exists (select from given where for_all) then 'org' else 'posts' end
    from federated_objects o where o.kind = 'asset' and o.uri = ${uri} and a.id = o.local_id and a.sensitivity <> 'restricted'`.execute(
    tx,
  );
  await refreshAssetEnds(
    tx,
    sql`a.id in (select local_id from federated_objects where kind = 'asset' and uri = ${uri})`,
  );
}

/** Sets the audience of a mirrored collection and of its posts from their grants. */
export async function refreshCollectionAudience(tx: Tx, peerId: string, uri: string): Promise<void> {
  await sql`with given as (
      select o.local_id, g.for_all, g.user_ref, g.expires_at from federated_objects o
        join ${grantedAccounts} g on g.peer_id = o.peer_id and g.uri = o.uri
      where o.kind = 'collection' and o.peer_id = ${peerId} and o.uri = ${uri}),
    added as (
      insert into collection_shares as s (collection_id, user_ref, expires_at)
      select g.local_id, g.user_ref, ${lastEnd()} from given g
      where g.user_ref is not null group by g.local_id, g.user_ref
      on conflict (collection_id, user_ref) do update set expires_at = excluded.expires_at
        where s.expires_at is distinct from excluded.expires_at),
    dropped as (
      delete from collection_shares s using federated_objects o where o.kind = 'collection' and o.uri = ${uri}
        and s.collection_id = o.local_id and not exists (
          select from given g where g.user_ref = s.user_ref))
    update collections c set visibility = case when exists (select from given where for_all)
        then 'org-only' else 'explicit-share' end,
      visible_until = (select case when bool_or(g.for_all) then ${lastEnd(sql`g.for_all`)} else ${lastEnd()} end
        from given g)
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
