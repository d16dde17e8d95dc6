-- The text of files is searched. It is as visible as their bytes, so for a mature file it is gated like the file name.
alter table files add column text text not null default '' check (length(text) <= 100000);

-- Prevents that the text of a file makes writing its document fail. A tsvector is limited to a megabyte: a text in any
-- script takes less, but may exceed the limit together with many long fields.
create function with_text(language regconfig, document tsvector, value text) returns tsvector language plpgsql stable as $$
begin
  return document || search_vector(language, value, 'D');
exception when program_limit_exceeded then
  return document;
end
$$;

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
end
$$;

-- Locks in the order of writers of assets: assets first, by id.
create function write_documents_of_text() returns trigger language plpgsql as $$
begin
  perform from assets where file_hash = new.hash order by id for no key update;
  perform write_asset_documents(array(select id from assets where file_hash = new.hash));
  return null;
end
$$;

create trigger files_text_searched after update of text on files for each row when (new.text <> old.text)
  execute function write_documents_of_text();
