-- Search documents, one per row. Triggers rewrite a document in the transaction of every write to the words of its row.
-- A document contains only words that every reader of the row may read; words behind a capability are in separate
-- documents (asset_gated_documents).

create extension if not exists pg_trgm;
create extension if not exists unaccent;

-- The form in which words are compared: without case, accents and punctuation. Scripts that are written without spaces
-- are split into characters, so that any part of a sentence is found as a phrase.
create function search_text(value text) returns text language plpgsql stable parallel safe as $$
declare
  folded text := translate(lower(unaccent('unaccent', normalize(value, nfkc))),
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ');
begin
  if octet_length(folded) = length(folded) then return folded; end if;
  folded := regexp_replace(folded,
    '[\u0080-\u00bf\u00d7\u00f7\u2000-\u206f\u3000-\u3004\u3008-\u3020\ufe00-\ufe6f]', ' ', 'g');
  return regexp_replace(folded,
    '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2190-\u2bff\u2e80-\u2fdf\u3005-\u3007\u3021-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff])',
    ' \1 ', 'g');
end
$$;

-- The form in which names are compared for misspellings. Transliterates Greek and Cyrillic, because some databases
-- build trigrams of Latin letters only.
create function resembling_text(value text) returns text language sql stable parallel safe as $$
  select translate(left(search_text(value), 2000),
    'абвгдежзийклмнопрстуфхцчшщыэюяіїєґαβγδεζηθικλμνξοπρσςτυφχψωъь',
    'abvgdejziyklmnoprstufhcqwwyeuaiieabgdezhqiklmnxoprsstufxywoo')
$$;

-- The stemming language, and the previous one while documents are being rewritten.
create function search_languages() returns regconfig[] language sql stable parallel safe as $$
  select array_remove(array[
    ('pg_catalog.' || coalesce((select value #>> '{}' from settings where key = 'search_language'), 'simple'))::regconfig,
    ('pg_catalog.' || (select value ->> 'from' from settings where key = 'search_rewrite'))::regconfig], null)
$$;

create function search_vector(language regconfig, value text, weight "char") returns tsvector
language sql stable parallel safe as $$
  select setweight(to_tsvector(language, search_text(left(value, 100000))), weight)
$$;

-- A tsquery for one word of a query, optionally as a prefix; empty if it contains no word. Punctuation is removed
-- before to_tsquery.
create function search_word(language regconfig, word text, is_beginning boolean, labels text) returns tsquery
language plpgsql stable parallel safe set client_min_messages = warning as $$
declare
  parts text[] := regexp_split_to_array(btrim(regexp_replace(search_text(word), '\s+', ' ', 'g')), ' ');
  answer tsquery := '';
  suffix text;
begin
  for i in 1 .. cardinality(parts) loop
    continue when parts[i] = '';
    suffix := labels || case when is_beginning and i = cardinality(parts) then '*' else '' end;
    answer := answer <-> to_tsquery(language, '''' || left(parts[i], 400) || '''' || case when suffix = '' then '' else ':' || suffix end);
  end loop;
  return answer;
end
$$;

-- A query: all of `wanted`, none of `unwanted`; `either` matches any of `wanted`.
create function search_question(words text[], are_unwanted boolean[], are_beginnings boolean[], labels text,
  out wanted tsquery, out unwanted tsquery, out either tsquery) language plpgsql stable parallel safe set client_min_messages = warning as $$
declare
  languages regconfig[] := search_languages();
  word tsquery;
begin
  wanted := '';
  unwanted := '';
  either := '';
  for i in 1 .. cardinality(words) loop
    word := search_word(languages[1], words[i], are_beginnings[i], labels);
    if cardinality(languages) > 1 then
      word := word || search_word(languages[2], words[i], are_beginnings[i], labels);
    end if;
    if are_unwanted[i] then
      unwanted := unwanted && !!word;
    else
      wanted := wanted && word;
      either := either || word;
    end if;
  end loop;
end
$$;

create aggregate tsvector_of_all(tsvector) (sfunc = tsvector_concat, stype = tsvector, initcond = '');

-- Posts --------------------------------------------------------------------------

create table post_documents (
  post_id uuid primary key references posts (id) on delete cascade,
  document tsvector not null,
  -- Title and tags, for similarity search.
  names text not null
);

-- The newest 1,000 comments are part of the document of their post.
create function write_post_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  -- Locks in id order, which prevents deadlocks, before reading the current state.
  perform from post_documents where post_id = any(ids) order by post_id for update;
  insert into post_documents as d (post_id, document, names)
  select p.id, search_vector(language, p.title, 'A')
      || search_vector(language, array_to_string(p.tags, ' '), 'B')
      || search_vector(language, p.description, 'C')
      || search_vector(language, coalesce(case when p.comment_count > 0 then (
          select string_agg(c.body, ' ') from (
            select c.body from comments c where c.post_id = p.id and c.deleted_at is null
            order by c.created_at desc, c.id desc limit 1000) c) end, ''), 'D'),
    resembling_text(p.title || ' ' || array_to_string(p.tags, ' '))
  from posts p where p.id = any(ids) order by p.id
  on conflict (post_id) do update set document = excluded.document, names = excluded.names
    where (d.document, d.names) is distinct from (excluded.document, excluded.names);
end
$$;

create function write_post_document() returns trigger language plpgsql as $$
begin
  perform write_post_documents(array[new.id]);
  return null;
end
$$;
create trigger posts_document after insert on posts for each row execute function write_post_document();
-- Does not run during a merge of tags, which writes its documents itself in batches (search-index/documents.ts).
create trigger posts_document_anew after update of title, description, tags on posts for each row
  when ((new.title, new.description, new.tags) is distinct from (old.title, old.description, old.tags)
    and current_setting('vitrine.merging_tags', true) is distinct from 'on')
  execute function write_post_document();

-- Named to run after the triggers that count comments: the count tells whether there are comments to read.
create function write_documents_of_comments() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform write_post_documents(array(select distinct post_id from new_rows where deleted_at is null));
  elsif tg_op = 'DELETE' then
    perform write_post_documents(array(select distinct post_id from old_rows where deleted_at is null));
  else
    perform write_post_documents(array(select distinct n.post_id from new_rows n join old_rows o on o.id = n.id
      where n.body <> o.body or (n.deleted_at is null) <> (o.deleted_at is null)));
  end if;
  return null;
end
$$;
create trigger comments_searched_in after insert on comments
  referencing new table as new_rows for each statement execute function write_documents_of_comments();
create trigger comments_searched_out after delete on comments
  referencing old table as old_rows for each statement execute function write_documents_of_comments();
create trigger comments_searched_anew after update on comments
  referencing old table as old_rows new table as new_rows
  for each statement when (pg_trigger_depth() = 0) execute function write_documents_of_comments();

-- Assets -------------------------------------------------------------------------

create table asset_documents (
  asset_id uuid primary key references assets (id) on delete cascade,
  document tsvector not null,
  names text not null
);

-- Words that only some callers may read: values of a field, by its capability, and the name of a mature file (gate
-- `mature`), which is as visible as its bytes.
create table asset_gated_documents (
  asset_id uuid not null references assets (id) on delete cascade,
  gate text not null,
  document tsvector not null,
  primary key (asset_id, gate)
);

-- The words of a value, or an empty string. Tags and entities of rich text are not words.
create function field_value_text(type text, field uuid, single text, several text[]) returns text
language sql stable parallel safe as $$
  select coalesce(case
    when type in ('text', 'longtext') then single
    when type = 'rich_text' then regexp_replace(regexp_replace(single, '<[^>]*>', ' ', 'g'), '&#?\w+;', ' ', 'g')
    when type in ('select', 'tree', 'multi_select') then
      (select string_agg(t.label || ' ' || t.value, ' ') from field_terms t
        where t.field_id = field and t.value = any(coalesce(several, array[single])))
  end, '')
$$;

-- Words of the values of assets, by gate; '' means everyone who is shown the asset.
create function asset_field_words(ids uuid[]) returns table (asset_id uuid, gate text, words text)
language sql stable as $$
  select v.asset_id, coalesce(d.read_capability, ''),
    left(string_agg(left(field_value_text(d.type, d.id, v.value_text, v.value_options), 20000), ' ' order by d.id), 100000)
  from asset_field_values v join fields d on d.id = v.field_id join assets a on a.id = v.asset_id
  where v.asset_id = any(ids) and d.searchable and d.status <> 'archived' and d.subject_kind = 'asset'
    and d.mirrors_column is null and (d.applies_to = '{}' or a.asset_type = any(d.applies_to))
    and (v.value_text is not null or v.value_options is not null)
  group by 1, 2
$$;

create function write_asset_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from asset_documents where asset_id = any(ids) order by asset_id for update;
  insert into asset_documents as d (asset_id, document, names)
  select a.id, search_vector(language, a.title, 'A')
      || search_vector(language, tags.words, 'B')
      || search_vector(language, case when a.mature then '' else a.file_name end, 'B')
      || search_vector(language, a.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C'),
    resembling_text(a.title || ' ' || tags.words)
  from assets a left join asset_field_words(ids) w on w.asset_id = a.id and w.gate = ''
    cross join lateral (select coalesce(string_agg(t.value, ' ' order by t.position, t.value), '') as words
      from asset_tags t where t.asset_id = a.id) tags
  where a.id = any(ids) order by a.id
  on conflict (asset_id) do update set document = excluded.document, names = excluded.names
    where (d.document, d.names) is distinct from (excluded.document, excluded.names);
  delete from asset_gated_documents where asset_id = any(ids);
  insert into asset_gated_documents (asset_id, gate, document)
  select w.asset_id, w.gate, search_vector(language, w.words, 'C') from asset_field_words(ids) w where w.gate <> ''
  union all
  select a.id, 'mature', search_vector(language, a.file_name, 'B') from assets a where a.id = any(ids) and a.mature;
end
$$;

create function write_asset_document() returns trigger language plpgsql as $$
begin
  perform write_asset_documents(array[new.id]);
  return null;
end
$$;
create trigger assets_document after insert on assets for each row execute function write_asset_document();
create trigger assets_document_anew after update of title, description, file_name, mature, asset_type on assets
  for each row when ((new.title, new.description, new.file_name, new.mature, new.asset_type)
    is distinct from (old.title, old.description, old.file_name, old.mature, old.asset_type))
  execute function write_asset_document();

-- For tags and field values of assets; the rows of both have a column `asset_id`.
create function write_documents_of_assets() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform write_asset_documents(array(select distinct asset_id from old_rows));
  elsif tg_op = 'INSERT' then
    perform write_asset_documents(array(select distinct asset_id from new_rows));
  else
    perform write_asset_documents(array(select asset_id from new_rows union select asset_id from old_rows));
  end if;
  return null;
end
$$;
create trigger asset_tags_searched_in after insert on asset_tags
  referencing new table as new_rows for each statement when (current_setting('vitrine.merging_tags', true) is distinct from 'on')
  execute function write_documents_of_assets();
create trigger asset_tags_searched_out after delete on asset_tags
  referencing old table as old_rows for each statement when (current_setting('vitrine.merging_tags', true) is distinct from 'on')
  execute function write_documents_of_assets();
create trigger asset_tags_searched_anew after update on asset_tags
  referencing old table as old_rows new table as new_rows
  for each statement when (current_setting('vitrine.merging_tags', true) is distinct from 'on')
  execute function write_documents_of_assets();
-- Waits for concurrent changes of these definitions, so that documents use their current state.
create function wait_for_definitions() returns trigger language plpgsql as $$
begin
  perform from fields where id in (select field_id from new_rows) order by id for key share;
  return null;
end
$$;
create trigger asset_field_values_await_in after insert on asset_field_values
  referencing new table as new_rows for each statement execute function wait_for_definitions();
create trigger asset_field_values_await_anew after update on asset_field_values
  referencing new table as new_rows for each statement execute function wait_for_definitions();
create trigger asset_field_values_searched_in after insert on asset_field_values
  referencing new table as new_rows for each statement execute function write_documents_of_assets();
create trigger asset_field_values_searched_out after delete on asset_field_values
  referencing old table as old_rows for each statement execute function write_documents_of_assets();
create trigger asset_field_values_searched_anew after update on asset_field_values
  referencing old table as old_rows new table as new_rows
  for each statement execute function write_documents_of_assets();

-- Collections --------------------------------------------------------------------

create table collection_documents (
  collection_id uuid primary key references collections (id) on delete cascade,
  document tsvector not null,
  names text not null
);

create table collection_gated_documents (
  collection_id uuid not null references collections (id) on delete cascade,
  gate text not null,
  document tsvector not null,
  primary key (collection_id, gate)
);

create function collection_field_words(ids uuid[]) returns table (collection_id uuid, gate text, words text)
language sql stable as $$
  select v.collection_id, coalesce(d.read_capability, ''),
    left(string_agg(left(field_value_text(d.type, d.id, v.value_text, v.value_options), 20000), ' ' order by d.id), 100000)
  from collection_field_values v join fields d on d.id = v.field_id
  where v.collection_id = any(ids) and d.searchable and d.status <> 'archived' and d.subject_kind = 'collection'
    and (v.value_text is not null or v.value_options is not null)
  group by 1, 2
$$;

create function write_collection_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from collection_documents where collection_id = any(ids) order by collection_id for update;
  insert into collection_documents as d (collection_id, document, names)
  select c.id, search_vector(language, c.name, 'A') || search_vector(language, c.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C'), resembling_text(c.name)
  from collections c left join collection_field_words(ids) w on w.collection_id = c.id and w.gate = ''
  where c.id = any(ids) order by c.id
  on conflict (collection_id) do update set document = excluded.document, names = excluded.names
    where (d.document, d.names) is distinct from (excluded.document, excluded.names);
  delete from collection_gated_documents where collection_id = any(ids);
  insert into collection_gated_documents (collection_id, gate, document)
  select w.collection_id, w.gate, search_vector(language, w.words, 'C') from collection_field_words(ids) w where w.gate <> '';
end
$$;

create function write_collection_document() returns trigger language plpgsql as $$
begin
  perform write_collection_documents(array[new.id]);
  return null;
end
$$;
create trigger collections_document after insert on collections
  for each row execute function write_collection_document();
create trigger collections_document_anew after update of name, description on collections
  for each row when ((new.name, new.description) is distinct from (old.name, old.description))
  execute function write_collection_document();

create function write_documents_of_collections() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform write_collection_documents(array(select distinct collection_id from old_rows));
  elsif tg_op = 'INSERT' then
    perform write_collection_documents(array(select distinct collection_id from new_rows));
  else
    perform write_collection_documents(array(
      select collection_id from new_rows union select collection_id from old_rows));
  end if;
  return null;
end
$$;
create trigger collection_field_values_await_in after insert on collection_field_values
  referencing new table as new_rows for each statement execute function wait_for_definitions();
create trigger collection_field_values_await_anew after update on collection_field_values
  referencing new table as new_rows for each statement execute function wait_for_definitions();
create trigger collection_field_values_searched_in after insert on collection_field_values
  referencing new table as new_rows for each statement execute function write_documents_of_collections();
create trigger collection_field_values_searched_out after delete on collection_field_values
  referencing old table as old_rows for each statement execute function write_documents_of_collections();
create trigger collection_field_values_searched_anew after update on collection_field_values
  referencing old table as old_rows new table as new_rows
  for each statement execute function write_documents_of_collections();

-- Users and tags: names, without stemming -----------------------------------------

create table user_documents (
  user_ref bigint primary key references users (ref) on delete cascade,
  -- Without the full name, which anonymous callers never see (IDENTITY-2).
  document tsvector not null,
  names text not null,
  full_document tsvector not null,
  full_names text not null
);

create function write_user_documents(refs bigint[]) returns void language sql as $$
  insert into user_documents as d (user_ref, document, names, full_document, full_names)
  select u.ref, search_vector('simple', n.told, 'A'), resembling_text(n.told),
    search_vector('simple', n.full_told, 'A'), resembling_text(n.full_told)
  from users u cross join lateral (select u.username || ' ' || coalesce(u.display_name, '') as told,
    concat_ws(' ', u.username, u.display_name, u.fullname) as full_told) n
  where u.ref = any(refs) order by u.ref
  on conflict (user_ref) do update set document = excluded.document, names = excluded.names,
    full_document = excluded.full_document, full_names = excluded.full_names
$$;

create function write_user_document() returns trigger language plpgsql as $$
begin
  perform write_user_documents(array[new.ref]);
  return null;
end
$$;
create trigger users_document after insert on users for each row execute function write_user_document();
create trigger users_document_anew after update of username, display_name, fullname on users
  for each row when ((new.username, new.display_name, new.fullname)
    is distinct from (old.username, old.display_name, old.fullname))
  execute function write_user_document();

create table tag_documents (
  tag text collate "C" primary key references tags (name) on delete cascade on update cascade,
  document tsvector not null,
  names text not null
);

create function write_tag_document() returns trigger language plpgsql as $$
begin
  insert into tag_documents (tag, document, names)
    values (new.name, search_vector('simple', new.name, 'A'), resembling_text(new.name))
  on conflict (tag) do update set document = excluded.document, names = excluded.names;
  return null;
end
$$;
create trigger tags_document after insert or update of name on tags for each row execute function write_tag_document();

-- Documents of existing rows; the indexes follow, because that is many times faster.
insert into post_documents (post_id, document, names)
  select p.id, search_vector('simple', p.title, 'A') || search_vector('simple', array_to_string(p.tags, ' '), 'B')
      || search_vector('simple', p.description, 'C')
      || search_vector('simple', coalesce(case when p.comment_count > 0 then (
          select string_agg(c.body, ' ') from (
            select c.body from comments c where c.post_id = p.id and c.deleted_at is null
            order by c.created_at desc, c.id desc limit 1000) c) end, ''), 'D'),
    resembling_text(p.title || ' ' || array_to_string(p.tags, ' '))
  from posts p;
insert into asset_documents (asset_id, document, names)
  select a.id, search_vector('simple', a.title, 'A') || search_vector('simple', tags.words, 'B')
      || search_vector('simple', case when a.mature then '' else a.file_name end, 'B')
      || search_vector('simple', a.description, 'C'),
    resembling_text(a.title || ' ' || tags.words)
  from assets a cross join lateral (select coalesce(string_agg(t.value, ' ' order by t.position, t.value), '') as words
    from asset_tags t where t.asset_id = a.id) tags;
insert into asset_gated_documents (asset_id, gate, document)
  select a.id, 'mature', search_vector('simple', a.file_name, 'B') from assets a where a.mature;
-- For libraries that had fields before search.
select write_asset_documents(array(select distinct asset_id from asset_field_values));
select write_collection_documents(array(select id from collections));
select write_user_documents(array(select ref from users));
insert into tag_documents (tag, document, names)
  select name, search_vector('simple', name, 'A'), resembling_text(name) from tags;

create index post_documents_words on post_documents using gin (document);
create index post_documents_names on post_documents using gin (names gin_trgm_ops);
create index asset_documents_words on asset_documents using gin (document);
create index asset_documents_names on asset_documents using gin (names gin_trgm_ops);
create index asset_gated_documents_words on asset_gated_documents using gin (document);
create index collection_documents_words on collection_documents using gin (document);
create index collection_documents_names on collection_documents using gin (names gin_trgm_ops);
create index collection_gated_documents_words on collection_gated_documents using gin (document);
create index user_documents_words on user_documents using gin (document);
create index user_documents_full_words on user_documents using gin (full_document);
create index user_documents_names on user_documents using gin (names gin_trgm_ops);
create index user_documents_full_names on user_documents using gin (full_names gin_trgm_ops);
create index tag_documents_words on tag_documents using gin (document);
create index tag_documents_names on tag_documents using gin (names gin_trgm_ops);

-- Saved searches of accounts.
create table saved_searches (
  id uuid primary key default gen_random_uuid(),
  user_ref bigint not null references users (ref) on delete cascade,
  name text not null,
  query jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index saved_searches_name on saved_searches (user_ref, lower(name));
