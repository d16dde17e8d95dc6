import { createHash } from 'node:crypto';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { fieldsGiven } from '../../../access/federation.ts';
import { showFields } from '../../../content/fields/definitions/read.ts';
import { constraintsOf } from '../../../content/fields/values/rules.ts';
import type { Database } from '../../../platform/database/pool.ts';
import type { AaFieldDefinition, AaTerm } from '../protocol/field-definitions.ts';

/** Maximum number of terms sent with a vocabulary. Values include the labels of their terms. */
const MOST_TERMS = 2000;
/** Size limit of the definitions in one envelope, which may have a megabyte. */
export const MOST_BYTES = 500_000;

/** The terms that may be chosen, without their history. */
function termsOf(values: unknown): AaTerm[] {
  if (!Array.isArray(values)) return [];
  return values.flatMap((given: unknown): AaTerm[] => {
    if (typeof given === 'string') return [{ value: given }];
    // `showFields` writes terms as slugs or as objects of this form.
    const { value, label, status, aliases, children } = given as AaTerm & { status?: string };
    if (status === 'archived') return [];
    const below = termsOf(children);
    return [
      {
        value,
        ...(label === undefined ? {} : { label }),
        ...(aliases === undefined ? {} : { aliases }),
        ...(below.length === 0 ? {} : { children: below }),
      },
    ];
  });
}

function defaultOf({ default_value: value }: FieldDefinition): AaFieldDefinition['default_value'] {
  // A reference names an asset of this library.
  if (value === null || value.value_ref != null) return null;
  const { kind, value_text, value_num, value_date, value_options, context } = value;
  return {
    kind,
    ...(value_text == null ? {} : { value_text }),
    ...(value_num == null ? {} : { value_num }),
    ...(value_date == null ? {} : { value_date }),
    ...(value_options == null ? {} : { value_options }),
    ...(context === undefined ? {} : { context }),
  };
}

/**
 * Returns a definition in the form of the protocol, without properties that are local to a library (FED-60).
 */
export function wireDefinition(field: FieldDefinition): AaFieldDefinition {
  const { values } = field.options;
  return {
    type: 'aa:FieldDefinition',
    code: field.code,
    label: field.label,
    description: field.description,
    field_type: field.type,
    subject_kind: field.subject_kind,
    required: field.required,
    searchable: field.searchable,
    open_vocabulary: field.open_vocabulary,
    display_group: field.display_group,
    display_order: field.display_order,
    show_on_card: field.show_on_card,
    show_in_advanced_search: field.show_in_advanced_search,
    show_on_upload: field.show_on_upload,
    edit_tab: field.edit_tab,
    regexp_filter: field.regexp_filter,
    display_condition: field.display_condition,
    default_value: defaultOf(field),
    options: {
      ...constraintsOf(field.type, field.options),
      ...(values === undefined ? {} : { values: termsOf(values) }),
    },
  };
}

/** Returns the size of a definition in bytes. */
export function sizeOf(definition: AaFieldDefinition): number {
  return Buffer.byteLength(JSON.stringify(definition));
}

/** Returns the definition with as much of its vocabulary as fits into an envelope. */
function withinLimits(definition: AaFieldDefinition): AaFieldDefinition {
  let { values } = definition.options;
  let shorter = definition;
  while (values !== undefined && sizeOf(shorter) > MOST_BYTES) {
    values = values.slice(0, values.length >> 1);
    shorter = { ...definition, options: { ...definition.options, values } };
  }
  return shorter;
}

/** A definition to send to a peer. */
export interface GivenDefinition {
  fieldId: string;
  definition: AaFieldDefinition;
  /** Hash that changes with every property that is sent. */
  digest: string;
}

/** Returns the definitions of those fields that may be sent to peers. */
export async function readGivenDefinitions(db: Database, ids: readonly string[]): Promise<GivenDefinition[]> {
  if (ids.length === 0) return [];
  const fields = await showFields(db, sql`(d.id = any(${[...ids]}::uuid[]) and ${fieldsGiven})`, {
    rest: sql`order by d.display_order, d.code`,
    terms: MOST_TERMS,
  });
  return fields.map((field) => {
    const definition = withinLimits(wireDefinition(field));
    const digest = createHash('sha256').update(JSON.stringify(definition)).digest('hex');
    return { fieldId: field.id, definition, digest };
  });
}
