-- Reads the words of fields once, and writes each document once: marking it as gated afterwards wrote it again, with all of its
-- words in the indexes if its page was full.
create or replace function write_asset_documents(ids uuid[]) returns void language plpgsql as $$
declare
  language regconfig := (search_languages())[1];
begin
  perform from asset_documents where asset_id = any(ids) order by asset_id for update;
  delete from asset_gated_documents where asset_id = any(ids);
  with words as materialized (select asset_id, gate, words from asset_field_words(ids)),
  gated as (
    insert into asset_gated_documents (asset_id, gate, document)
    select w.asset_id, w.gate, search_vector(language, w.words, 'C') from words w where w.gate <> ''
    union all
    select a.id, 'mature', with_text(language, search_vector(language, a.file_name, 'B'), f.text)
    from assets a join files f on f.hash = a.file_hash where a.id = any(ids) and a.mature)
  insert into asset_documents as d (asset_id, at, document, names, gated)
  select a.id, a.created_at,
    case when f.text = '' or a.mature then own.document else with_text(language, own.document, f.text) end,
    resembling_text(a.title || ' ' || tags.words), a.mature or g.asset_id is not null
  from assets a join files f on f.hash = a.file_hash
    left join words w on w.asset_id = a.id and w.gate = ''
    left join (select distinct asset_id from words where gate <> '') g on g.asset_id = a.id
    cross join lateral (select coalesce(string_agg(t.value, ' ' order by t.position, t.value), '') as words
      from asset_tags t where t.asset_id = a.id) tags
    cross join lateral (select search_vector(language, a.title, 'A')
      || search_vector(language, tags.words, 'B')
      || search_vector(language, case when a.mature then '' else a.file_name end, 'B')
      || search_vector(language, a.description, 'C')
      || search_vector(language, coalesce(w.words, ''), 'C') as document) own
  where a.id = any(ids) order by a.id
  on conflict (asset_id) do update
    set at = excluded.at, document = excluded.document, names = excluded.names, gated = excluded.gated
    where (d.at, d.document, d.names, d.gated) is distinct from (excluded.at, excluded.document, excluded.names, excluded.gated);
end
$$;
