/**
 * The reference: the page of `GET /posts?limit=24`, written by hand as one statement that returns the JSON text. $1
 * is the caller's ref, a member without further capabilities; $2 is the number of posts.
 */
export const referenceSql = `
with page as (
  select p.* from posts p
  where p.deleted_at is null and not p.draft
    and (p.author_user_ref = $1 or p.visibility in ('public', 'org-only')
      or (p.visibility = 'followers' and exists (select from user_follows f
        where f.follower_user_ref = $1 and f.followed_user_ref = p.author_user_ref))
      or (p.visibility = 'explicit-share' and exists (select from post_shares s where s.post_id = p.id and s.user_ref = $1)))
    and (p.author_user_ref = $1 or coalesce((select bool_or(a.deleted_at is null
        and (a.owner_user_ref = $1 or (a.status = 'active' and a.processing_status in ('ready', 'pending')))
        and (a.sensitivity = 'public' or a.owner_user_ref = $1))
      from post_members m join assets a on a.id = m.asset_id where m.post_id = p.id), true))
  order by p.posted_at desc, p.id desc limit $2
)
select json_build_object('items', coalesce(json_agg(json_build_object(
  'id', p.id, 'author_user_ref', p.author_user_ref,
  'author', json_build_object('ref', u.ref, 'username', u.username,
    'display_name', coalesce(nullif(trim(u.display_name), ''), nullif(trim(u.fullname), ''), u.username), 'avatar_url', null),
  'title', p.title, 'description', p.description, 'visibility', p.visibility,
  'cover_asset_id', m.first, 'cover_thumbnail_asset_id', p.cover_thumbnail_asset_id,
  'cover_focal_x', p.cover_focal_x, 'cover_focal_y', p.cover_focal_y, 'draft', p.draft,
  'comments_enabled', p.comments_enabled, 'state_id', p.state_id, 'ai_provenance', v.ai_provenance,
  'posted_at', p.posted_at, 'like_count', p.like_count,
  'liked', exists (select from post_likes l where l.post_id = p.id and l.user_ref = $1),
  'comment_count', p.comment_count, 'comments_preview', c.preview, 'tags', p.tags, 'members', m.members,
  'created_at', p.created_at, 'updated_at', p.updated_at) order by p.posted_at desc, p.id desc), '[]'))::text as page
from page p
left join users u on u.ref = p.author_user_ref
left join lateral (
  select json_agg(json_build_object('id', c.id, 'body', c.body, 'created_at', c.created_at,
      'author', json_build_object('ref', cu.ref, 'username', cu.username,
        'display_name', coalesce(nullif(trim(cu.display_name), ''), nullif(trim(cu.fullname), ''), cu.username), 'avatar_url', null))
    order by c.created_at desc, c.id desc) as preview
  from (select * from comments c where c.post_id = p.id and c.parent_id is null and c.deleted_at is null
    order by c.created_at desc, c.id desc limit 3) c left join users cu on cu.ref = c.author_user_ref
) c on p.comment_count > 0
left join lateral (
  select case when bool_or(a.ai_provenance = 'generated') then 'generated'
    when bool_or(a.ai_provenance = 'assisted') then 'assisted'
    when count(*) > 0 and count(*) = count(*) filter (where a.ai_provenance = 'none') then 'none' end as ai_provenance
  from (select a.ai_provenance from post_members m join assets a on a.id = m.asset_id
      where m.post_id = p.id and a.deleted_at is null
    union all select a.ai_provenance from assets a
      where a.id in (p.cover_asset_id, p.cover_thumbnail_asset_id) and a.deleted_at is null) a
) v on true
left join lateral (
  select (array_agg(a.id order by m.sort_order, m.asset_id))[1] as first,
    json_agg(json_build_object('asset_id', a.id, 'sort_order', m.sort_order, 'restricted', false, 'asset', json_build_object(
      'id', a.id, 'restricted', false, 'title', a.title, 'description', a.description, 'asset_type', a.asset_type,
      'owner_user_ref', a.owner_user_ref, 'owner', json_build_object('ref', o.ref, 'username', o.username,
        'display_name', coalesce(nullif(trim(o.display_name), ''), nullif(trim(o.fullname), ''), o.username), 'avatar_url', null),
      'status', a.status, 'sensitivity', case when a.owner_user_ref = $1 then a.sensitivity end, 'mature', a.mature,
      'ai_provenance', a.ai_provenance, 'file_hash', a.file_hash, 'file_extension', f.extension,
      'file_size_bytes', f.size_bytes, 'tags', t.tags, 'tag_details', t.details, 'metadata', a.metadata,
      'state_id', a.state_id, 'processing_status', a.processing_status,
      'preview_available', s.served and f.renditions ? 'col',
      'ladder_available', s.served and f.renditions ?& array['col', 'preview', 'screen', 'hires'],
      'scrub_available', s.served and f.renditions ? 'sprites.vtt',
      'anonymously_visible', a.status = 'active' and a.sensitivity = 'public' and a.processing_status = 'ready',
      'thumbhash', case when s.served then f.thumbhash end, 'pixel_width', f.pixel_width, 'pixel_height', f.pixel_height,
      'subtitle_tracks', '[]'::json, 'created_at', a.created_at, 'updated_at', a.updated_at)) order by m.sort_order, m.asset_id) as members
  from post_members m join assets a on a.id = m.asset_id join files f on f.hash = a.file_hash
  left join users o on o.ref = a.owner_user_ref
  cross join lateral (select not a.mature or a.owner_user_ref = $1 as served) s
  left join lateral (select json_agg(g.value order by g.position, g.value) as tags,
      json_agg(json_build_object('value', g.value, 'source', g.source, 'confidence', g.confidence,
        'created_by_provider', g.created_by_provider, 'created_by_model', g.created_by_model) order by g.position, g.value) as details
    from asset_tags g where g.asset_id = a.id) t on true
  where m.post_id = p.id and a.deleted_at is null
    and (a.owner_user_ref = $1 or (a.status = 'active' and a.processing_status in ('ready', 'pending')))
    and (a.sensitivity = 'public' or a.owner_user_ref = $1)
) m on true`;
