-- How far a visibility exposes assets is said once in the database. The registry in contract/src/visibilities.ts says the
-- same, and a test compares them. An unknown visibility exposes nothing.
create function exposure_of(visibility text) returns text language sql immutable parallel safe
  return case
    when visibility = 'public' then 'public'
    when visibility = 'org-only' then 'org-only'
    when visibility in ('followers', 'explicit-share', 'private') then 'narrow'
  end;

-- Also returns assets to `none` when their last post goes: a missing post counted as a narrow one.
create or replace function refresh_exposure(ids uuid[]) returns void language plpgsql as $$
begin
  -- Locks first: the next statement then sees what concurrent changes to other posts of these assets committed.
  perform from assets where id = any(ids) order by id for no key update;
  update assets a set exposure = found.exposure
  from (
    select i.id, case min(case exposure_of(p.visibility) when 'public' then 1 when 'org-only' then 2 when 'narrow' then 3 end)
        when 1 then 'public' when 2 then 'org-only' when 3 then 'narrow' else 'none' end as exposure
    from (select distinct unnest(ids) as id) i
      join assets x on x.id = i.id
      left join lateral (
        select post_id from post_members where asset_id = i.id
        union all
        select t.id from posts t where t.cover_thumbnail_asset_id = i.id
      ) m on true
      left join posts p on p.id = m.post_id and p.deleted_at is null and not p.draft
        and (p.author_user_ref = x.owner_user_ref or p.team_id = x.team_id)
    group by i.id
  ) found
  where a.id = found.id and a.exposure <> found.exposure;
end
$$;
update assets a set exposure = 'none'
where a.exposure = 'narrow' and not exists (
  select from posts p
  where p.id in (
      select m.post_id from post_members m where m.asset_id = a.id
      union all
      select t.id from posts t where t.cover_thumbnail_asset_id = a.id)
    and p.deleted_at is null and not p.draft and (p.author_user_ref = a.owner_user_ref or p.team_id = a.team_id));

create or replace function know_tags_of_new_posts() returns trigger language plpgsql as $$
declare
  kind record;
begin
  for kind in
    select exposure_of(p.visibility) = 'public' as in_public, array_agg(distinct n) as names
    from new_rows p, unnest(p.tags) as n group by 1
  loop
    perform know_tags(kind.names, kind.in_public);
  end loop;
  return null;
end
$$;
create or replace function know_tags_of_post() returns trigger language plpgsql as $$
begin
  perform know_tags(new.tags, exposure_of(new.visibility) = 'public');
  return null;
end
$$;
