import { type FieldType, isNested } from '@vitrine/contract/field-types';
import { mostOptions } from '@vitrine/contract/field-values';
import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../../../platform/http/refuse.ts';
import { lowerCased, termKey } from '../vocabulary/terms.ts';
import { termsCells, textCells } from './cells.ts';
import { charactersIn, emptyValue } from './characters.ts';
import type { FieldTypeRules } from './field-type.ts';
import type { Filterable } from './filtering.ts';

/** Terms by slug, label or alias. A tombstone also stands for its successor. */
function termsNamed(field: Filterable, text: string): RawBuilder<unknown> {
  const key = termKey(text);
  return sql`named (value) as (
      select t.value from field_terms t where t.field_id = ${field.id} and t.value in (${lowerCased(text)}, ${text})
      union select t.value from field_terms t where t.field_id = ${field.id}
        and t.label_key = ${key}
      union select l.value from field_term_aliases l where l.field_id = ${field.id} and l.key = ${key}
    ), followed (value) as (
      select value from named
      union select next.value from followed f cross join lateral (
        select t.replaced_by as value from field_terms t
        where t.field_id = ${field.id} and t.value = f.value and t.status = 'archived' and t.replaced_by is not null
        -- TERM-19: values that a job has not moved yet.
        union all select r.source from field_runs r
        where r.field_id = ${field.id} and r.target = f.value and r.finished_at is null) next
    )`;
}

/** The slugs of a term, and in a tree of those below it, because values are leaves (VALUE-16). */
function slugsBelow(field: Filterable, name: string): RawBuilder<unknown> {
  const reached = isNested(field.type)
    ? sql`select t.value from field_terms t where t.field_id = ${field.id} and t.path && array(select value from followed)`
    : sql`select value from followed`;
  return sql`array(with recursive ${termsNamed(field, name)} ${reached})`;
}

/** The labels of a value's terms in their order. */
const labels = sql<string | null>`(select string_agg(coalesce(t.label, x.value), ', ' order by x.place)
  from unnest(coalesce(v.value_options, array[v.value_text])) with ordinality as x (value, place)
  left join field_terms t on t.field_id = d.id and t.value = x.value)`;

/** The labels in every language, so that readers of each find them (LANGUAGE-5). */
const searched = sql<string | null>`coalesce((select string_agg(concat_ws(', ', t.label,
    (select string_agg(x.value, ', ') from jsonb_each_text(t.translations) x)), ', ') from field_terms t
  where t.field_id = d.id and t.value = any(coalesce(v.value_options, array[v.value_text]))), v.value_text)`;

const common = {
  ofContext: () => null,
  words: () => labels,
  searched,
  extraction: { from: 'terms' },
} as const;

/** One term. */
function oneOf(takes: readonly FieldType[]): FieldTypeRules {
  return {
    ...common,
    parse: (code, { value_text: text }) => {
      if (text == null) return null;
      if (text === '') throw emptyValue(code);
      if (charactersIn(text) > 200) throw refuse('value-exceeds-term', { property: code });
      return { kind: 'text', text };
    },
    faultOf: () => null,
    filter: ({ value }, field) => sql`left(v.value_text, 100) = any(${slugsBelow(field, value)})`,
    cells: textCells,
    federation: { form: 'term', takes },
  };
}

export const select = oneOf(['select', 'tree']);
export const tree = oneOf(['tree', 'select']);

/** Any number of terms. */
export const multiSelect: FieldTypeRules = {
  ...common,
  parse: (code, { value_options: options }) => {
    if (options == null) return null;
    if (options.length === 0) throw emptyValue(code);
    if (options.length > mostOptions) throw refuse('value-names-too-many-terms', { property: code });
    return { kind: 'options', options };
  },
  faultOf: ({ min_items, max_items }, value) => {
    const items = value.kind === 'options' ? value.options.length : 0;
    if (min_items !== undefined && items < min_items) return { kind: 'too-few-terms', limit: min_items };
    if (max_items !== undefined && items > max_items) return { kind: 'too-many-terms', limit: max_items };
    return null;
  },
  filter: ({ value }, field) => sql`v.value_options && ${slugsBelow(field, value)}`,
  cells: termsCells,
  federation: { form: 'terms', takes: ['select', 'tree', 'multi_select'] },
};
