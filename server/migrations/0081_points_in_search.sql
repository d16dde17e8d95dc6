-- Words are compared without the points of Hebrew and Arabic, which most people do not type, and without the lengthening
-- of Arabic letters (kashida).
create or replace function search_text(value text) returns text language plpgsql stable parallel safe as $$
declare
  folded text := translate(lower(unaccent('unaccent', normalize(value, nfkc))),
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ');
begin
  if octet_length(folded) = length(folded) then return folded; end if;
  folded := regexp_replace(folded,
    '[\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff]',
    '', 'g');
  folded := regexp_replace(folded,
    '[\u0080-\u00bf\u00d7\u00f7\u05be\u05c0\u05c3\u2000-\u206f\u3000-\u3004\u3008-\u3020\ufe00-\ufe6f]', ' ', 'g');
  return regexp_replace(folded,
    '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2190-\u2bff\u2e80-\u2fdf\u3005-\u3007\u3021-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff])',
    ' \1 ', 'g');
end
$$;

-- The job that rewrites documents after a change of language does so now, too: from the language to itself.
insert into settings (key, value)
  select 'search_rewrite', jsonb_build_object('id', gen_random_uuid(),
    'from', coalesce((select value #>> '{}' from settings where key = 'search_language'), 'simple'),
    'done', '0', 'total', (counted.total)::text, 'kind', 'post', 'after', '00000000-0000-0000-0000-000000000000')
  from (select (select count(*) from post_documents) + (select count(*) from asset_documents)
    + (select count(*) from collection_documents) as total) counted
  where counted.total > 0
  on conflict (key) do update set value = excluded.value, updated_at = now()
    where settings.value = 'null';
