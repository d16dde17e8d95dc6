-- Documents of posts, assets and collections contain the time of their row and are stored in its order, so that the
-- newest matches are found without reading the matching rows.

create table post_documents_in_order as
  select d.post_id, p.posted_at as at, d.document, d.names
  from post_documents d join posts p on p.id = d.post_id order by p.posted_at, p.id;
drop table post_documents;
alter table post_documents_in_order rename to post_documents;
alter table post_documents
  alter column post_id set not null, alter column at set not null,
  alter column document set not null, alter column names set not null,
  add primary key (post_id),
  add foreign key (post_id) references posts (id) on delete cascade;

create table asset_documents_in_order as
  select d.asset_id, a.created_at as at, d.document, d.names
  from asset_documents d join assets a on a.id = d.asset_id order by a.created_at, a.id;
drop table asset_documents;
alter table asset_documents_in_order rename to asset_documents;
alter table asset_documents
  alter column asset_id set not null, alter column at set not null,
  alter column document set not null, alter column names set not null,
  add primary key (asset_id),
  add foreign key (asset_id) references assets (id) on delete cascade;

create table collection_documents_in_order as
  select d.collection_id, c.created_at as at, d.document, d.names
  from collection_documents d join collections c on c.id = d.collection_id order by c.created_at, c.id;
drop table collection_documents;
alter table collection_documents_in_order rename to collection_documents;
alter table collection_documents
  alter column collection_id set not null, alter column at set not null,
  alter column document set not null, alter column names set not null,
  add primary key (collection_id),
  add foreign key (collection_id) references collections (id) on delete cascade;

create index post_documents_words on post_documents using gin (document);
create index post_documents_names on post_documents using gin (names gin_trgm_ops);
create index post_documents_titles on post_documents using gin (ts_filter(document, '{a}'));
create index post_documents_at on post_documents (at desc, post_id desc);
create index asset_documents_words on asset_documents using gin (document);
create index asset_documents_names on asset_documents using gin (names gin_trgm_ops);
create index asset_documents_titles on asset_documents using gin (ts_filter(document, '{a}'));
create index asset_documents_at on asset_documents (at desc, asset_id desc);
create index collection_documents_words on collection_documents using gin (document);
create index collection_documents_names on collection_documents using gin (names gin_trgm_ops);
create index collection_documents_titles on collection_documents using gin (ts_filter(document, '{a}'));
create index collection_documents_at on collection_documents (at desc, collection_id desc);
-- Newly created tables have no statistics yet.
analyze post_documents, asset_documents, collection_documents;

-- As before, plus the time.
create or replace function write_post_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  -- Locks in id order, which prevents deadlocks, before reading the current state.
  perform from post_documents where post_id = any(ids) order by post_id for update;
  insert into post_documents as d (post_id, at, document, names)
  select p.id, p.posted_at, search_vector(language, p.title, 'A')
      || search_vector(language, array_to_string(p.tags, ' '), 'B')
      || search_vector(language, p.description, 'C')
      || search_vector(language, coalesce(case when p.comment_count > 0 then (
          select string_agg(c.body, ' ') from (
            select c.body from comments c where c.post_id = p.id and c.deleted_at is null
            order by c.created_at desc, c.id desc limit 1000) c) end, ''), 'D'),
    resembling_text(p.title || ' ' || array_to_string(p.tags, ' '))
  from posts p where p.id = any(ids) order by p.id
  on conflict (post_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
end
$$;

-- A document has the time of its post's publication, which every writer may set.
create function time_post_document() returns trigger language plpgsql as $$
begin
  update post_documents set at = new.posted_at where post_id = new.id and at <> new.posted_at;
  return null;
end
$$;
create trigger posts_document_timed after update on posts for each row
  when (new.posted_at is distinct from old.posted_at) execute function time_post_document();

create or replace function write_asset_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from asset_documents where asset_id = any(ids) order by asset_id for update;
  insert into asset_documents as d (asset_id, at, document, names)
  select a.id, a.created_at, search_vector(language, a.title, 'A')
      || search_vector(language, tags.words, 'B')
      || search_vector(language, case when a.mature then '' else a.file_name end, 'B')
      || search_vector(language, a.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C'),
    resembling_text(a.title || ' ' || tags.words)
  from assets a left join asset_field_words(ids) w on w.asset_id = a.id and w.gate = ''
    cross join lateral (select coalesce(string_agg(t.value, ' ' order by t.position, t.value), '') as words
      from asset_tags t where t.asset_id = a.id) tags
  where a.id = any(ids) order by a.id
  on conflict (asset_id) do update set at = excluded.at, document = excluded.document, names = excluded.names
    where (d.at, d.document, d.names) is distinct from (excluded.at, excluded.document, excluded.names);
  delete from asset_gated_documents where asset_id = any(ids);
  insert into asset_gated_documents (asset_id, gate, document)
  select w.asset_id, w.gate, search_vector(language, w.words, 'C') from asset_field_words(ids) w where w.gate <> ''
  union all
  select a.id, 'mature', search_vector(language, a.file_name, 'B') from assets a where a.id = any(ids) and a.mature;
end
$$;

create function time_asset_document() returns trigger language plpgsql as $$
begin
  update asset_documents set at = new.created_at where asset_id = new.id and at <> new.created_at;
  return null;
end
$$;
create trigger assets_document_timed after update on assets for each row
  when (new.created_at is distinct from old.created_at) execute function time_asset_document();

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
end
$$;

create function time_collection_document() returns trigger language plpgsql as $$
begin
  update collection_documents set at = new.created_at where collection_id = new.id and at <> new.created_at;
  return null;
end
$$;
create trigger collections_document_timed after update on collections for each row
  when (new.created_at is distinct from old.created_at) execute function time_collection_document();

-- For callers who may read little: finds those rows without scanning the others.
create index assets_public on assets (created_at desc, id desc) where deleted_at is null and sensitivity = 'public';
create index posts_visibility on posts (visibility, posted_at desc, id desc) where deleted_at is null and not draft;
