-- Tags that can be looked up and followed, the featured list, and saved views of the feed.

create extension if not exists pg_trgm;

-- Every tag that was ever used on a post or an asset, so that looking one up never scans posts. A name reveals nothing
-- by itself: access is decided by posts and assets (access/tags.ts).
create table tags (
  name text collate "C" primary key,
  folded text collate "C" not null generated always as (lower(name collate "default")) stored,
  -- True if the tag was ever used on public content. Lets queries of anonymous callers skip other names; a stale value
  -- costs time but reveals nothing.
  seen_in_public boolean not null default false
);
create index tags_by_name on tags (folded, name);
create index tags_seen_in_public on tags (folded, name) where seen_in_public;
create index tags_within on tags using gin (folded gin_trgm_ops);

-- Inserts in name order, which prevents deadlocks. Skips known names.
create function know_tags(names text[], in_public boolean) returns void language plpgsql as $$
begin
  insert into tags (name, seen_in_public)
    select distinct n collate "C", in_public from unnest(names) as n order by 1
    on conflict (name) do nothing;
  if in_public then
    update tags set seen_in_public = true where name in (
      select t.name from tags t where t.name = any(names) and not t.seen_in_public
      order by t.name for no key update);
  end if;
end
$$;

create function know_tags_of_new_posts() returns trigger language plpgsql as $$
declare
  kind record;
begin
  for kind in
    select p.visibility = 'public' as in_public, array_agg(distinct n) as names
    from new_rows p, unnest(p.tags) as n group by 1
  loop
    perform know_tags(kind.names, kind.in_public);
  end loop;
  return null;
end
$$;
create trigger posts_tags_known after insert on posts
  referencing new table as new_rows for each statement execute function know_tags_of_new_posts();

create function know_tags_of_post() returns trigger language plpgsql as $$
begin
  perform know_tags(new.tags, new.visibility = 'public');
  return null;
end
$$;
-- Does not run during a merge, which registers its target tag itself instead of once per row.
create trigger posts_tags_known_anew after update of tags, visibility on posts for each row
  when ((new.tags <> old.tags or new.visibility <> old.visibility) and cardinality(new.tags) > 0
    and current_setting('vitrine.merging_tags', true) is distinct from 'on')
  execute function know_tags_of_post();

create function know_tags_of_assets() returns trigger language plpgsql as $$
declare
  kind record;
begin
  for kind in
    select a.sensitivity = 'public' as in_public, array_agg(distinct t.value) as names
    from new_rows t join assets a on a.id = t.asset_id group by 1
  loop
    perform know_tags(kind.names, kind.in_public);
  end loop;
  return null;
end
$$;
create trigger asset_tags_known after insert on asset_tags
  referencing new table as new_rows for each statement
  when (current_setting('vitrine.merging_tags', true) is distinct from 'on')
  execute function know_tags_of_assets();

create function know_tags_of_opened_asset() returns trigger language plpgsql as $$
begin
  perform know_tags(array(select value from asset_tags where asset_id = new.id), true);
  return null;
end
$$;
create trigger assets_tags_known after update of sensitivity on assets for each row
  when (new.sensitivity = 'public' and old.sensitivity <> 'public')
  execute function know_tags_of_opened_asset();

insert into tags (name, seen_in_public)
  select name collate "C", bool_or(in_public) from (
    select unnest(tags) as name, visibility = 'public' as in_public from posts
    union all
    select t.value, a.sensitivity = 'public' from asset_tags t join assets a on a.id = t.asset_id
  ) known group by 1;

-- Returns a JSON list of tags with one tag renamed; a duplicate keeps its first position.
create function with_tag_renamed(list jsonb, source text, target text) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(name order by place), '[]') from (
    select case when e.name = source then target else e.name end as name, min(e.place) as place
    from jsonb_array_elements_text(list) with ordinality as e (name, place) group by 1
  ) renamed
$$;

create table tag_follows (
  user_ref bigint not null references users (ref) on delete cascade,
  tag text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  primary key (user_ref, tag)
);
create index tag_follows_tag on tag_follows (tag);

-- A deleted or unpublished post keeps its position and is not shown meanwhile.
create table featured_posts (
  post_id uuid primary key references posts (id) on delete cascade,
  position integer not null,
  featured_by_user_ref bigint,
  created_at timestamptz(3) not null default now()
);

create table feed_views (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  name text not null,
  query jsonb not null,
  position integer not null,
  created_at timestamptz(3) not null default now()
);
create unique index feed_views_name on feed_views (user_ref, lower(name));
