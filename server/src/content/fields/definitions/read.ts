import { hasVocabulary } from '@vitrine/contract/field-types';
import { type FieldDefinition, type FieldOptions, getField, listFields } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import type { Caller } from '../../../access/caller.ts';
import { gatedDefinitions, shownDefinitions } from '../../../access/fields.ts';
import { handle } from '../../../core/handle.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { cursorCodec } from '../../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/refuse.ts';
import { type StoredTerm, writeVocabulary } from '../vocabulary/document.ts';
import { readTerm } from './condition.ts';

/** How many terms a definition includes, alone and in a list. `GET /fields/{id}/values` lists the rest. */
const TERMS_ALONE = 2000;
const TERMS_LISTED = 200;

interface TermRow extends StoredTerm {
  field_id: string;
}

/** Reads the first terms of each field, and the number of terms where there are more. At most two statements. */
async function readTerms(db: Database, ids: readonly string[], most: number) {
  const { rows } = await sql<TermRow>`
    select t.field_id, t.value, t.label, t.translations, t.status, t.replaced_by, t.parent, t.aliases
    from unnest(${[...ids]}::uuid[]) as f (id), lateral (
      select t.*, coalesce((select array_agg(x.alias order by x.alias) from field_term_aliases x
        where x.field_id = t.field_id and x.value = t.value), '{}') as aliases
      from field_terms t where t.field_id = f.id order by t.depth, t.position, t.value limit ${most + 1}) t
    order by t.field_id, t.depth, t.position, t.value`.execute(db);
  const terms = new Map<string, TermRow[]>();
  for (const row of rows) {
    const own = terms.get(row.field_id);
    if (own === undefined) terms.set(row.field_id, [row]);
    else own.push(row);
  }
  const long = [...terms].filter(([, own]) => own.length > most).map(([id]) => id);
  return { terms, sizes: await countTerms(db, long) };
}

async function countTerms(db: Database, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ field_id: string; size: number }>`
    select field_id, count(*) as size from field_terms where field_id = any(${[...ids]}::uuid[])
    group by field_id`.execute(db);
  return new Map(rows.map((row) => [row.field_id, row.size]));
}

interface DefinitionRow extends Omit<FieldDefinition, 'options'> {
  options: FieldOptions;
}

interface Which {
  rest?: RawBuilder<unknown>;
  terms?: number;
}

/**
 * Reads definitions `fields d` that satisfy a condition, with the first terms of their vocabularies. At most three
 * statements.
 */
export async function showFields(
  db: Database,
  which: RawBuilder<boolean>,
  { rest = sql``, terms: most = TERMS_ALONE }: Which = {},
): Promise<FieldDefinition[]> {
  const { rows } = await sql<DefinitionRow>`
    select d.id, d.code, d.label, d.translations, d.description, d.type, d.subject_kind, d.options, d.open_vocabulary, d.required,
      d.searchable, d.applies_to, d.read_capability, d.write_capability, d.display_order, d.display_group,
      d.extraction_source, d.extraction_mode, d.show_on_card, d.show_in_advanced_search, d.show_on_upload, d.edit_tab,
      d.read_only, d.regexp_filter, d.mirrors_column, d.display_condition, d.status, d.deprecated_replacement_id,
      d.default_value, d.created_at, d.updated_at
    from fields d where ${which} ${rest}`.execute(db);
  const ids = rows.filter(({ type }) => hasVocabulary(type)).map(({ id }) => id);
  if (ids.length === 0) return rows;
  const { terms, sizes } = await readTerms(db, ids, most);
  return rows.map((row) => {
    if (!hasVocabulary(row.type)) return row;
    const values = writeVocabulary(terms.get(row.id)?.slice(0, most) ?? []);
    const size = sizes.get(row.id);
    const cut = size === undefined ? {} : { truncated: true, vocabulary_size: size };
    return { ...row, options: { ...row.options, values, ...cut } };
  });
}

const controllersOf = ({ display_condition }: FieldDefinition) =>
  (display_condition ?? []).flatMap((text) => readTerm(text)?.code ?? []);

/**
 * Reads definitions for the caller. Omits a condition that names a field hidden from the caller, because it would
 * reveal that field's code and terms. Such a condition has no verdict for them, so that the form offers the field
 * either way (FIELD-30).
 */
async function showFieldsTo(
  db: Database,
  caller: Caller,
  which: RawBuilder<boolean>,
  options: Which = {},
): Promise<FieldDefinition[]> {
  const fields = await showFields(db, sql`${shownDefinitions(caller)} and ${which}`, options);
  const codes = [...new Set(fields.flatMap(controllersOf))];
  if (codes.length === 0) return fields;
  const { rows } = await sql<{ code: string }>`
    select d.code from fields d where d.code = any(${codes}::text[]) and ${gatedDefinitions(caller)}`.execute(
    db,
  );
  const gated = new Set(rows.map(({ code }) => code));
  return fields.map((field) =>
    controllersOf(field).some((code) => gated.has(code)) ? { ...field, display_condition: null } : field,
  );
}

/** The position of a definition in display order. */
const placeCursor = cursorCodec(
  'field',
  Type.Object({
    display_order: Type.Integer({ minimum: -2_147_483_647, maximum: 2_147_483_647 }),
    code: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
  }),
);

export const list = handle(listFields, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = placeCursor.read(query.cursor);
  const { status } = query;
  const conditions = [
    status === undefined
      ? sql<boolean>`d.status <> 'archived'`
      : status === 'any'
        ? sql<boolean>`true`
        : sql<boolean>`d.status = ${status}`,
    query.subject_kind === undefined
      ? sql<boolean>`true`
      : sql<boolean>`d.subject_kind = ${query.subject_kind}`,
    // FIELD-6: an empty list means all types. Collections have no type.
    query.asset_type === undefined
      ? sql<boolean>`true`
      : sql<boolean>`(d.subject_kind = 'asset' and (d.applies_to = '{}' or ${query.asset_type} = any(d.applies_to)))`,
    after === null
      ? sql<boolean>`true`
      : sql<boolean>`(d.display_order, d.code) > (${after.display_order}, ${after.code})`,
  ];
  const rest = sql`order by d.display_order, d.code limit ${limit + 1}`;
  const rows = await showFieldsTo(db, caller, sql`${sql.join(conditions, sql` and `)}`, {
    rest,
    terms: TERMS_LISTED,
  });
  return { status: 200, body: cutPage(rows, limit, placeCursor.after) };
});

export const get = handle(getField, async ({ db }, { caller, params }) => {
  const [field] = await showFieldsTo(db, caller, sql`d.id = ${params.id}`);
  if (field === undefined) throw notFound();
  return { status: 200, body: field };
});
