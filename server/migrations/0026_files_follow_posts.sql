-- Sensitivity `posts`: an asset is seen through the posts that contain it. Existing assets keep their value.
-- `org`: everyone who is signed in.
alter table assets drop constraint assets_sensitivity_check;
alter table assets add constraint assets_sensitivity_check
  check (sensitivity in ('posts', 'public', 'org', 'team', 'restricted'));

-- The widest audience among the live, published posts that pass the asset on: those of its owner or of its team that
-- have it as a member or as their standalone thumbnail (a cover is a member). `narrow` stands for every visibility that
-- depends on the reader, `none` for no such post. Stored here, so that most reads need not look at posts.
alter table assets add column exposure text not null default 'none'
  check (exposure in ('none', 'narrow', 'org-only', 'public'));

create function refresh_exposure(ids uuid[]) returns void language plpgsql as $$
begin
  -- Locks first: the next statement then sees what concurrent changes to other posts of these assets committed.
  perform from assets where id = any(ids) order by id for no key update;
  update assets a set exposure = found.exposure
  from (
    select i.id, case min(case p.visibility when 'public' then 1 when 'org-only' then 2 else 3 end)
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

create function refresh_exposure_of_members() returns trigger language plpgsql as $$
declare
  ids uuid[];
begin
  -- A draft passes nothing on; a purged post no longer exists.
  ids := array(select distinct m.asset_id from changed_rows m left join posts p on p.id = m.post_id
    where p.id is null or (p.deleted_at is null and not p.draft));
  if cardinality(ids) > 0 then
    perform refresh_exposure(ids);
  end if;
  return null;
end
$$;
create trigger post_members_expose after insert on post_members
  referencing new table as changed_rows for each statement execute function refresh_exposure_of_members();
create trigger post_members_withdraw after delete on post_members
  referencing old table as changed_rows for each statement execute function refresh_exposure_of_members();

create function refresh_exposure_of_post() returns trigger language plpgsql as $$
declare
  ids uuid[] := '{}';
begin
  if tg_op <> 'INSERT' then
    ids := ids || old.cover_thumbnail_asset_id;
  end if;
  if tg_op <> 'DELETE' then
    ids := ids || new.cover_thumbnail_asset_id || array(select asset_id from post_members where post_id = new.id);
  end if;
  perform refresh_exposure(array_remove(ids, null));
  return null;
end
$$;
create trigger posts_expose after insert on posts for each row
  when (new.cover_thumbnail_asset_id is not null and new.deleted_at is null and not new.draft)
  execute function refresh_exposure_of_post();
create trigger posts_expose_anew after update on posts for each row
  when ((new.deleted_at is null and not new.draft) is distinct from (old.deleted_at is null and not old.draft)
    or (new.deleted_at is null and not new.draft and (
      new.visibility is distinct from old.visibility or new.author_user_ref is distinct from old.author_user_ref
      or new.team_id is distinct from old.team_id
      or new.cover_thumbnail_asset_id is distinct from old.cover_thumbnail_asset_id)))
  execute function refresh_exposure_of_post();
create trigger posts_withdraw after delete on posts for each row
  when (old.cover_thumbnail_asset_id is not null) execute function refresh_exposure_of_post();

create function refresh_exposure_of_asset() returns trigger language plpgsql as $$
begin
  perform refresh_exposure(array[new.id]);
  return null;
end
$$;
create trigger assets_expose after update of owner_user_ref, team_id on assets for each row
  when (new.owner_user_ref is distinct from old.owner_user_ref or new.team_id is distinct from old.team_id)
  execute function refresh_exposure_of_asset();

update assets a set exposure = found.exposure
from (
  select x.id, case min(case p.visibility when 'public' then 1 when 'org-only' then 2 else 3 end)
      when 1 then 'public' when 2 then 'org-only' else 'narrow' end as exposure
  from (
    select post_id, asset_id from post_members
    union
    select id, cover_thumbnail_asset_id from posts where cover_thumbnail_asset_id is not null
  ) m
    join assets x on x.id = m.asset_id
    join posts p on p.id = m.post_id and p.deleted_at is null and not p.draft
      and (p.author_user_ref = x.owner_user_ref or p.team_id = x.team_id)
  group by x.id
) found
where a.id = found.id;

-- Accounts with which an asset is shared, regardless of its sensitivity.
create table asset_shares (
  asset_id uuid not null references assets (id) on delete cascade,
  user_ref bigint not null references users (ref) on delete cascade,
  shared_by_user_ref bigint,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  primary key (asset_id, user_ref)
);
create index asset_shares_user on asset_shares (user_ref, asset_id);
create index asset_shares_expiry on asset_shares (expires_at) where expires_at is not null;

-- Indexes for the lists of anonymous callers, accounts and readers of narrower posts (access/whereabouts.ts).
drop index assets_public;
create index assets_for_visitors on assets (created_at desc, id desc)
  where deleted_at is null and (sensitivity = 'public' or (sensitivity = 'posts' and exposure = 'public'));
create index assets_for_accounts on assets (created_at desc, id desc)
  where deleted_at is null and (sensitivity <> 'posts' or exposure in ('public', 'org-only'));
drop index assets_team;
create index assets_team on assets (team_id, created_at desc, id desc) where team_id is not null;
create index assets_for_some on assets (created_at desc, id desc)
  where deleted_at is null and sensitivity = 'posts' and exposure = 'narrow';

-- Tags of content that becomes public are marked as seen in public (possibleTags, access/tags.ts).
create or replace function know_tags_of_assets() returns trigger language plpgsql as $$
declare
  kind record;
begin
  for kind in
    select (a.sensitivity = 'public' or (a.sensitivity = 'posts' and a.exposure = 'public')) as in_public,
      array_agg(distinct t.value) as names
    from new_rows t join assets a on a.id = t.asset_id group by 1
  loop
    perform know_tags(kind.names, kind.in_public);
  end loop;
  return null;
end
$$;
drop trigger assets_tags_known on assets;
create trigger assets_tags_known after update of sensitivity, exposure on assets for each row
  when ((new.sensitivity = 'public' or (new.sensitivity = 'posts' and new.exposure = 'public'))
    and not (old.sensitivity = 'public' or (old.sensitivity = 'posts' and old.exposure = 'public')))
  execute function know_tags_of_opened_asset();
