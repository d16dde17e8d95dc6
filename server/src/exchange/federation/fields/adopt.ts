import { factsOf, hasVocabulary } from '@vitrine/contract/field-types';
import type { FieldDefinition, FieldOptions, FieldUpdate } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { showFields } from '../../../content/fields/definitions/read.ts';
import { definitionChanged } from '../../../content/fields/definitions/transaction.ts';
import { changeDefinition, createDefinition } from '../../../content/fields/definitions/write.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import type { AaFieldDefinition, AaTerm } from '../protocol/field-definitions.ts';

type Written = string | { value: string; children?: Written[] };

function slugsOf(terms: readonly AaTerm[] = []): string[] {
  return terms.flatMap(({ value, children }) => [value, ...slugsOf(children)]);
}

/** Returns the terms of a document without the known ones; narrower terms of known ones move up. */
function without(terms: readonly Written[], known: ReadonlySet<string>): Written[] {
  return terms.flatMap((term) => {
    if (typeof term === 'string') return known.has(term) ? [] : [term];
    const children = without(term.children ?? [], known);
    if (known.has(term.value)) return children;
    return [{ ...term, ...(term.children === undefined ? {} : { children }) }];
  });
}

/**
 * Returns the options of a peer's field; terms and free keys that only ours has are kept, since values may use them.
 */
function adoptedOptions(own: FieldDefinition | null, theirs: AaFieldDefinition): FieldOptions {
  const { values, ...constraints } = theirs.options;
  const names: readonly string[] = factsOf[theirs.field_type].constraints;
  const free = Object.entries(own?.options ?? {}).filter(
    ([name]) => name !== 'values' && !names.includes(name),
  );
  const kept: FieldOptions = { ...Object.fromEntries(free), ...constraints };
  if (!hasVocabulary(theirs.field_type)) return kept;
  if (kept.truncated !== undefined) throw refuse('offer-vocabulary-too-long');
  // `showFields` writes vocabularies in this form.
  const ours = (own?.options.values ?? []) as Written[];
  return { ...kept, values: [...(values ?? []), ...without(ours, new Set(slugsOf(values)))] };
}

/** The properties that a field takes over, besides its display condition. */
function changesOf(own: FieldDefinition | null, theirs: AaFieldDefinition): FieldUpdate {
  const { edit_tab, regexp_filter, default_value } = theirs;
  return {
    label: theirs.label,
    description: theirs.description,
    options: adoptedOptions(own, theirs),
    open_vocabulary: theirs.open_vocabulary,
    required: theirs.required,
    searchable: theirs.searchable,
    display_group: theirs.display_group,
    display_order: theirs.display_order,
    show_on_card: theirs.show_on_card,
    show_in_advanced_search: theirs.show_in_advanced_search,
    show_on_upload: theirs.show_on_upload,
    status: 'active',
    ...(edit_tab === null ? { clear_edit_tab: true } : { edit_tab }),
    ...(regexp_filter === null ? { clear_regexp_filter: true } : { regexp_filter }),
    ...(default_value === null ? { clear_default: true } : { default_value }),
  };
}

/**
 * Takes over the definition of a peer as the field with this code, which is created if there is none (FED-63); returns
 * its id. Throws 409 if the field here has another type, and 400 if the properties conflict.
 */
export async function adoptDefinition(
  tx: Tx,
  caller: SignedIn,
  theirs: AaFieldDefinition,
  { code, isNew }: { code: string; isNew: boolean },
): Promise<string> {
  const [own = null] = await showFields(tx, sql`d.code = ${code}`);
  if (own !== null) {
    if (isNew) throw refuse('field-code-taken', { code });
    if (own.type !== theirs.field_type || own.subject_kind !== theirs.subject_kind)
      throw refuse('offer-code-taken-by-type', { code });
    if (own.mirrors_column !== null)
      throw refuse('offer-field-mirrors-here', { field: code, column: own.mirrors_column });
  }
  const { id } =
    own ??
    (await createDefinition(tx, caller, {
      code,
      label: theirs.label,
      type: theirs.field_type,
      subject_kind: theirs.subject_kind,
    }));
  await changeDefinition(tx, caller, id, changesOf(own, theirs));
  // FIELD-24: a term whose field has not arrived is kept, and has no effect.
  await tx
    .updateTable('fields')
    .set({ display_condition: theirs.display_condition })
    .where('id', '=', id)
    .execute();
  await definitionChanged(tx);
  return id;
}
