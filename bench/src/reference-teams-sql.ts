/**
 * The references of `bench teams`: the same pages as the service, each written by hand as one statement that returns
 * the JSON text. Keys without a value are null, which the comparison ignores.
 */

const team = (
  counts: string,
) => `json_build_object('id', t.id, 'slug', t.slug, 'name', t.name, 'description', t.description,
  'origin_server_id', t.origin_server_id,
  'hero_asset_id', (select a.id from assets a join files f on f.hash = a.file_hash
    where a.id = t.hero_asset_id and a.team_id = t.id and a.deleted_at is null and a.status = 'active'
      and a.processing_status in ('ready', 'pending') and a.sensitivity = 'public' and not a.mature and f.renditions ? 'col'),
  'parents', coalesce((select json_agg(json_build_object('parent_id', p.id, 'parent_slug', p.slug, 'parent_name', p.name)
      order by p.name, p.id)
    from team_parents tp join teams p on p.id = tp.parent_id and p.deleted_at is null where tp.team_id = t.id), '[]'),
  ${counts} 'created_at', t.created_at, 'updated_at', t.updated_at)`;

const counts = `'member_count', (select count(*) from team_members m where m.team_id = t.id),
  'content_count', (select count(*) from assets a where a.team_id = t.id and a.deleted_at is null),`;

/** $1: the caller. */
export const followedSql = `select coalesce(json_agg(${team('')} order by lower(t.name), t.id), '[]')::text as page from (
  select t.* from teams t join team_follows f on f.team_id = t.id and f.user_ref = $1 where t.deleted_at is null
  order by lower(t.name), t.id limit 200) t`;

/** $1: the number of teams. */
export const teamsSql = `select json_build_object('items', json_agg(${team(counts)} order by lower(t.name), t.id))::text as page
  from (select t.* from teams t where t.deleted_at is null order by lower(t.name), t.id limit $1) t`;

const request = (
  decidable: string,
) => `json_build_object('id', q.id, 'requester_user_ref', q.requester_user_ref,
  'requester', json_build_object('ref', u.ref, 'username', u.username,
    'display_name', coalesce(nullif(trim(u.display_name), ''), nullif(trim(u.fullname), ''), u.username), 'avatar_url', null),
  'target_kind', q.target_kind, 'target_id', q.target_id, 'requested_capability', q.requested_capability,
  'reason', q.reason, 'state', q.state, 'requested_at', q.requested_at, 'decided_at', q.decided_at,
  'decided_by_user_ref', q.decided_by_user_ref, 'decision_reason', q.decision_reason,
  'decidable_by_caller', ${decidable}, 'grant_expires_at', g.expires_at)`;

const joins = `left join users u on u.ref = q.requester_user_ref
  left join user_capability_grants g on g.request_ref = q.id`;

/** $1: the caller, who owns the requested assets; $2: the number of requests. */
export const incomingSql = `select json_build_object('items', coalesce(json_agg(${request(
  `q.state = 'pending' and q.requested_capability in ('content.access.request', 'content.restore.request')`,
)} order by q.requested_at desc, q.id desc), '[]'))::text as page
  from (select q.* from resource_requests q where q.requester_user_ref <> $1 and q.id in (
      select r.id from resource_requests r join assets a on a.id = r.target_id
        where r.target_kind = 'asset' and r.requested_capability <> 'content.restore.request' and a.owner_user_ref = $1
      union all select r.id from resource_requests r join assets a on a.id = r.target_id
        where r.target_kind = 'asset' and r.requested_capability = 'content.restore.request'
          and a.deleted_at is not null and a.deleted_by_user_ref = $1
      union all select r.id from resource_requests r join posts p on p.id = r.target_id
        where r.target_kind = 'post' and r.requested_capability = 'content.restore.request'
          and p.deleted_at is not null and p.deleted_by_user_ref = $1)
    order by q.requested_at desc, q.id desc limit $2) q ${joins}`;

/** $1: the number of requests; for a caller with \`system.admin\`. */
export const allRequestsSql = `select json_build_object('items', json_agg(${request(`q.state = 'pending'`)}
    order by q.requested_at desc, q.id desc))::text as page
  from (select q.* from resource_requests q order by q.requested_at desc, q.id desc limit $1) q ${joins}`;
