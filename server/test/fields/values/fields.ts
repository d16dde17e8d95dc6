import type { FieldValue } from '@vitrine/contract/field-values';
import type { FieldType, SubjectKind } from '@vitrine/contract/fields';
import type { Insertable } from 'kysely';
import { termKey } from '../../../src/content/fields/vocabulary/terms.ts';
import type { Tables } from '../../../src/platform/database/tables.ts';
import type { Visitor } from '../../support/client.ts';
import type { Library } from '../../support/library.ts';

/** Properties of a field besides its type. */
export interface Defined {
  code?: string;
  label?: string;
  subject_kind?: SubjectKind;
  options?: Record<string, unknown>;
  open_vocabulary?: boolean;
  required?: boolean;
  applies_to?: number[];
  read_capability?: string;
  write_capability?: string;
  display_order?: number;
  show_on_card?: boolean;
  read_only?: boolean;
  regexp_filter?: string;
  status?: 'active' | 'deprecated' | 'archived';
  default_value?: Record<string, unknown>;
  terms?: readonly TermRow[];
}

interface TermRow {
  value: string;
  label?: string;
  status?: 'active' | 'deprecated' | 'archived';
  replaced_by?: string;
  parent?: string;
  aliases?: string[];
}

let named = 0;

/** Inserts a definition with its terms as the operations would, and returns its id. */
export async function define(
  { deps: { db } }: Library,
  type: FieldType,
  defined: Defined = {},
): Promise<string> {
  const { terms = [], options, default_value, ...rest } = defined;
  named += 1;
  const code = defined.code ?? `${type}_${named}`;
  const { id } = await db
    .insertInto('fields')
    .values({
      ...rest,
      code,
      label: defined.label ?? code,
      type,
      ...(options === undefined ? {} : { options: JSON.stringify(options) }),
      ...(default_value === undefined ? {} : { default_value: JSON.stringify(default_value) }),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const paths = new Map<string, string[]>();
  const rows = terms.map((term, index) => {
    const path = [...(term.parent === undefined ? [] : (paths.get(term.parent) ?? [])), term.value];
    paths.set(term.value, path);
    return {
      field_id: id,
      value: term.value,
      label: term.label ?? term.value,
      label_key: termKey(term.label ?? term.value),
      status: term.status ?? 'active',
      parent: term.parent ?? null,
      path,
      position: index,
    };
  });
  if (rows.length > 0) await db.insertInto('field_terms').values(rows).execute();
  for (const { value, replaced_by, aliases = [] } of terms) {
    if (replaced_by !== undefined)
      await db
        .updateTable('field_terms')
        .set({ replaced_by })
        .where('field_id', '=', id)
        .where('value', '=', value)
        .execute();
    for (const alias of aliases)
      await db
        .insertInto('field_term_aliases')
        .values({ field_id: id, alias, key: termKey(alias), value })
        .execute();
  }
  return id;
}

/** The columns of a stored value. */
export type Columns = Partial<
  Pick<
    Insertable<Tables['asset_field_values']>,
    'value_text' | 'value_num' | 'value_date' | 'value_options' | 'value_ref'
  >
>;

/** Stores a value of an asset without any checks, as an import does. */
export async function store(
  { deps: { db } }: Library,
  asset_id: string,
  field_id: string,
  columns: Columns,
): Promise<void> {
  await db
    .insertInto('asset_field_values')
    .values({ asset_id, field_id, set_by: 'import', ...columns })
    .execute();
}

/** Returns the value of a field as the list of an asset shows it to this caller. */
export async function fieldValueOf(
  as: Visitor,
  id: string,
  field_id: string,
): Promise<FieldValue | undefined> {
  const { items } = await as.ok('listAssetFieldValues', { params: { id } });
  return items.find((value) => value.field_id === field_id);
}

/** Archives all fields except those that mirror columns. */
export async function archiveFields({ deps: { db } }: Library): Promise<void> {
  await db.updateTable('fields').set({ status: 'archived' }).where('mirrors_column', 'is', null).execute();
}
