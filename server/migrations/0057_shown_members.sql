-- Which members of which posts every signed-in caller is shown, and visitors too, in the order of the posts' times: a
-- search decides about many posts by one range of an index. A row exists exactly while `member_audience` is not null.
-- Every writer of a row first takes the lock of its asset, as for `exposure`.
create table shown_members (
  post_id uuid not null,
  asset_id uuid not null,
  posted_at timestamptz(3) not null,
  audience text not null check (audience in ('org-only', 'public')),
  primary key (post_id, asset_id)
);

-- Who is shown an asset in any case: `public` for everyone, `org-only` for everyone who is signed in, null if it
-- depends on the caller (ASSET-1, ASSET-2, ASSET-3, ASSET-4; access/assets.ts).
create function member_audience(
  deleted_at timestamptz, status text, processing_status text, sensitivity text, exposure text
) returns text language sql immutable parallel safe as $$
  select case
    when deleted_at is not null or status <> 'active' or processing_status not in ('ready', 'pending') then null
    when sensitivity = 'public' or (sensitivity = 'posts' and exposure = 'public')
      then case when processing_status = 'ready' then 'public' else 'org-only' end
    when sensitivity = 'org' or (sensitivity = 'posts' and exposure = 'org-only') then 'org-only'
  end
$$;

insert into shown_members (post_id, asset_id, posted_at, audience)
select m.post_id, m.asset_id, p.posted_at, x.audience
from post_members m join posts p on p.id = m.post_id join assets a on a.id = m.asset_id
  cross join lateral (
    select member_audience(a.deleted_at, a.status, a.processing_status, a.sensitivity, a.exposure) as audience) x
where x.audience is not null
order by p.posted_at, m.post_id;
create index shown_members_at on shown_members (posted_at desc, post_id) include (audience);
analyze shown_members;

create function show_new_members() returns trigger language plpgsql as $$
begin
  -- Locks first: the next statement then sees what concurrent changes of these assets committed.
  perform from assets where id in (select asset_id from new_rows) order by id for no key update;
  insert into shown_members as s (post_id, asset_id, posted_at, audience)
  select n.post_id, n.asset_id, p.posted_at, x.audience
  from new_rows n join posts p on p.id = n.post_id join assets a on a.id = n.asset_id
    cross join lateral (
      select member_audience(a.deleted_at, a.status, a.processing_status, a.sensitivity, a.exposure) as audience) x
  where x.audience is not null
  on conflict (post_id, asset_id) do update set posted_at = excluded.posted_at, audience = excluded.audience
    where (s.posted_at, s.audience) is distinct from (excluded.posted_at, excluded.audience);
  return null;
end
$$;
-- After the trigger for `exposure`, on which the audience depends: triggers run in the order of their names.
create trigger post_members_show after insert on post_members
  referencing new table as new_rows for each statement execute function show_new_members();

create function hide_old_members() returns trigger language plpgsql as $$
begin
  perform from assets where id in (select asset_id from old_rows) order by id for no key update;
  delete from shown_members s using old_rows o where s.post_id = o.post_id and s.asset_id = o.asset_id
    and not exists (select from post_members m where m.post_id = o.post_id and m.asset_id = o.asset_id);
  return null;
end
$$;
create trigger post_members_show_no_more after delete on post_members
  referencing old table as old_rows for each statement execute function hide_old_members();

create function show_members_of_asset() returns trigger language plpgsql as $$
declare
  -- Of the row as it is now: another trigger of the same statement may have changed it since.
  shown_to text := (
    select member_audience(a.deleted_at, a.status, a.processing_status, a.sensitivity, a.exposure)
    from assets a where a.id = new.id);
begin
  if shown_to is null then
    delete from shown_members s using post_members m
    where m.asset_id = new.id and s.post_id = m.post_id and s.asset_id = m.asset_id;
  else
    insert into shown_members as s (post_id, asset_id, posted_at, audience)
    select m.post_id, m.asset_id, p.posted_at, shown_to
    from post_members m join posts p on p.id = m.post_id where m.asset_id = new.id
    on conflict (post_id, asset_id) do update set audience = excluded.audience where s.audience <> excluded.audience;
  end if;
  return null;
end
$$;
create trigger assets_show_members after update of deleted_at, status, processing_status, sensitivity, exposure on assets
  for each row when (
    member_audience(new.deleted_at, new.status, new.processing_status, new.sensitivity, new.exposure) is distinct from
    member_audience(old.deleted_at, old.status, old.processing_status, old.sensitivity, old.exposure))
  execute function show_members_of_asset();

create function time_shown_members() returns trigger language plpgsql as $$
begin
  perform from assets where id in (select asset_id from post_members where post_id = new.id) order by id for no key update;
  update shown_members s set posted_at = p.posted_at from posts p
  where s.post_id = new.id and p.id = new.id and s.posted_at <> p.posted_at;
  return null;
end
$$;
create trigger posts_shown_members_timed after update of posted_at on posts for each row
  when (new.posted_at is distinct from old.posted_at) execute function time_shown_members();

-- A document knows whether its row has gated words, so that most candidates of a search need not look for them.
alter table asset_documents add column gated boolean not null default false;
alter table collection_documents add column gated boolean not null default false;
update asset_documents d set gated = true where asset_id in (select asset_id from asset_gated_documents);
update collection_documents d set gated = true where collection_id in (select collection_id from collection_gated_documents);

create or replace function write_asset_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from asset_documents where asset_id = any(ids) order by asset_id for update;
  insert into asset_documents as d (asset_id, at, document, names)
  select a.id, a.created_at,
    case when f.text = '' or a.mature then own.document else with_text(language, own.document, f.text) end,
    resembling_text(a.title || ' ' || tags.words)
  from assets a join files f on f.hash = a.file_hash
    left join asset_field_words(ids) w on w.asset_id = a.id and w.gate = ''
    cross join lateral (select coalesce(string_agg(t.value, ' ' order by t.position, t.value), '') as words
      from asset_tags t where t.asset_id = a.id) tags
    cross join lateral (select search_vector(language, a.title, 'A')
      || search_vector(language, tags.words, 'B')
      || search_vector(language, case when a.mature then '' else a.file_name end, 'B')
      || search_vector(language, a.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C') as document) own
  where a.id = any(ids) order by a.id
  on conflict (asset_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
  delete from asset_gated_documents where asset_id = any(ids);
  insert into asset_gated_documents (asset_id, gate, document)
  select w.asset_id, w.gate, search_vector(language, w.words, 'C') from asset_field_words(ids) w where w.gate <> ''
  union all
  select a.id, 'mature', with_text(language, search_vector(language, a.file_name, 'B'), f.text)
  from assets a join files f on f.hash = a.file_hash where a.id = any(ids) and a.mature;
  update asset_documents d set gated = not d.gated where asset_id = any(ids)
    and gated <> exists (select from asset_gated_documents g where g.asset_id = d.asset_id);
end
$$;

create or replace function write_collection_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from collection_documents where collection_id = any(ids) order by collection_id for update;
  insert into collection_documents as d (collection_id, at, document, names)
  select c.id, c.created_at, search_vector(language, c.name, 'A') || search_vector(language, c.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C'), resembling_text(c.name)
  from collections c left join collection_field_words(ids) w on w.collection_id = c.id and w.gate = ''
  where c.id = any(ids) order by c.id
  on conflict (collection_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
  delete from collection_gated_documents where collection_id = any(ids);
  insert into collection_gated_documents (collection_id, gate, document)
  select w.collection_id, w.gate, search_vector(language, w.words, 'C') from collection_field_words(ids) w where w.gate <> '';
  update collection_documents d set gated = not d.gated where collection_id = any(ids)
    and gated <> exists (select from collection_gated_documents g where g.collection_id = d.collection_id);
end
$$;

-- Writes the documents of all rows that a statement inserts at once. A call for each row is planned for the table as the
-- first call finds it: while it is empty, each call then scans all rows inserted before.
create function write_new_asset_documents() returns trigger language plpgsql as $$
begin
  perform write_asset_documents(array(select id from new_rows));
  return null;
end
$$;
drop trigger assets_document on assets;
create trigger assets_document after insert on assets
  referencing new table as new_rows for each statement execute function write_new_asset_documents();

create function write_new_post_documents() returns trigger language plpgsql as $$
begin
  perform write_post_documents(array(select id from new_rows));
  return null;
end
$$;
drop trigger posts_document on posts;
create trigger posts_document after insert on posts
  referencing new table as new_rows for each statement execute function write_new_post_documents();

create function write_new_collection_documents() returns trigger language plpgsql as $$
begin
  perform write_collection_documents(array(select id from new_rows));
  return null;
end
$$;
drop trigger collections_document on collections;
create trigger collections_document after insert on collections
  referencing new table as new_rows for each statement execute function write_new_collection_documents();

create function write_new_user_documents() returns trigger language plpgsql as $$
begin
  perform write_user_documents(array(select ref from new_rows));
  return null;
end
$$;
drop trigger users_document on users;
create trigger users_document after insert on users
  referencing new table as new_rows for each statement execute function write_new_user_documents();
