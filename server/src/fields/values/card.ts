import type { CardField } from '@vitrine/contract/field-values';
import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { appliesToAsset, cardFields } from '../../access/field-values.ts';
import { plainText } from './plain-text.ts';

/** What a card has room for. */
const MOST_FIELDS = 6;
const MOST_CHARACTERS = 200;

const labels = sql`(select string_agg(coalesce(t.label, x.value), ', ' order by x.place)
  from unnest(coalesce(v.value_options, array[v.value_text])) with ordinality as x (value, place)
  left join field_terms t on t.field_id = d.id and t.value = x.value)`;

/** A value in words, or null where there is nothing to say; a reference is the title of what the caller is shown. */
function inWords(caller: Caller): RawBuilder<string | null> {
  return sql`case d.type
    when 'number' then v.value_num::text
    when 'boolean' then case v.value_num when 1 then 'true' else 'false' end
    when 'date' then to_char(v.value_date, 'YYYY-MM-DD')
    when 'datetime' then to_char(v.value_date, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    when 'reference' then (select a.title from assets a where a.id = v.value_ref and ${shownAssets(caller)})
    when 'rich_text' then ${plainText}
    when 'text' then v.value_text when 'longtext' then v.value_text
    else ${labels} end`;
}

/**
 * The strip of values on the card of `assets a`, as JSON or null: part of the statement that reads the asset, so that
 * a page of cards costs no further one (spec 2.5, 2.7 rule 4). `offset 0` keeps PostgreSQL from planning the words twice,
 * and a library whose cards show no field never looks for values.
 */
export function cardColumn(caller: Caller): RawBuilder<CardField[] | null> {
  return sql`case when (select exists (select from fields d where ${cardFields})) then (select json_agg(json_build_object('code', c.code, 'label', c.label, 'value', c.value)
      order by c.display_order, c.code)
    from (select d.code, d.label, d.display_order, left(btrim(w.words), ${MOST_CHARACTERS}) as value
      from fields d join asset_field_values v on v.field_id = d.id and v.asset_id = a.id,
        lateral (select ${inWords(caller)} as words offset 0) w
      where ${cardFields} and ${appliesToAsset} and btrim(w.words) <> ''
      order by d.display_order, d.code limit ${MOST_FIELDS}) c) end`;
}
