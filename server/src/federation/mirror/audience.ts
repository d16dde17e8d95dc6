import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';

/**
 * Gives mirrored posts the audience of their grants (FED-31): everyone here, or the persons they name. A post is public here
 * only if it is public at the peer and this install accepts that; `comments_enabled` needs the scope `comment`.
 */
export async function refreshAudience(tx: Tx, peerId: string, postIds: readonly string[]): Promise<void> {
  if (postIds.length === 0) return;
  const grants = sql`(select o.local_id as post_id, g.target_user_ref, g.scope
    from federated_objects o join federation_grants g on g.peer_id = o.peer_id and g.uri = o.uri
    where o.kind = 'post' and o.peer_id = ${peerId} and o.local_id = any(${postIds}::uuid[])
      and (g.expires_at is null or g.expires_at > now())
    union all
    select o.local_id, g.target_user_ref, g.scope
    from federated_objects o join federated_collection_items i on i.uri = o.uri
      join federated_objects c on c.kind = 'collection' and c.local_id = i.collection_id and c.peer_id = o.peer_id
      join federation_grants g on g.peer_id = c.peer_id and g.uri = c.uri
    where o.kind = 'post' and o.peer_id = ${peerId} and o.local_id = any(${postIds}::uuid[])
      and (g.expires_at is null or g.expires_at > now()))`;
  await sql`
    with given as materialized ${grants}, per_post as (
      select post_id, bool_or(target_user_ref is null) as for_all from given group by post_id),
    dropped as (
      delete from post_shares s using per_post x where s.post_id = x.post_id and (x.for_all or not exists (
        select from given g where g.post_id = s.post_id and g.target_user_ref = s.user_ref))),
    added as (
      insert into post_shares (post_id, user_ref)
      select distinct g.post_id, g.target_user_ref from given g join per_post x on x.post_id = g.post_id
      where not x.for_all and g.target_user_ref is not null on conflict do nothing)
    update posts p set visibility = case when not x.for_all then 'explicit-share'
        when p.remote_visibility = 'public' and pe.accept_public then 'public' else 'org-only' end,
      comments_enabled = p.remote_comments and exists (
        select from given g where g.post_id = p.id and g.scope = 'comment')
    from per_post x, federation_peers pe
    where p.id = x.post_id and pe.id = p.origin_peer_id`.execute(tx);
}
