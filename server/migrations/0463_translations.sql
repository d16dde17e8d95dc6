-- Labels in other languages, by language. The labels themselves stay what exports and CSV have.
alter table fields add column translations jsonb not null default '{}';
alter table field_terms
  add column translations jsonb not null default '{}',
  -- The translations in the form in which terms are compared, each between line breaks.
  add column translation_keys text not null default '';

create index field_terms_translations on field_terms using gin (field_id, translation_keys gin_trgm_ops);

-- Searches find values by the labels of their terms in every language.
create or replace function field_value_text(type text, field uuid, single text, several text[]) returns text
  language sql stable parallel safe as $function$
  select coalesce(case
    when type in ('text', 'longtext') then single
    when type = 'rich_text' then regexp_replace(regexp_replace(single, '<[^>]*>', ' ', 'g'), '&#?\w+;', ' ', 'g')
    when type in ('select', 'tree', 'multi_select') then
      (select string_agg(concat_ws(' ', t.label, t.value,
          (select string_agg(x.value, ' ') from jsonb_each_text(t.translations) x)), ' ') from field_terms t
        where t.field_id = field and t.value = any(coalesce(several, array[single])))
  end, '')
$function$;
