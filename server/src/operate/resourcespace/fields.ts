import type { FieldType } from '@vitrine/contract/field-types';
import { hasVocabulary } from '@vitrine/contract/field-types';
import { sql } from 'kysely';
import { changeDefinition, createDefinition } from '../../content/fields/definitions/write.ts';
import { appendTerms } from '../../content/fields/vocabulary/terms.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { sentence, WordedError } from '../../platform/language/sentence.ts';
import type { Context } from './context.ts';
import type { FieldPlan } from './field-plan.ts';
import { readCapability } from './group-plan.ts';
import { ownFields } from './plan.ts';
import { type Options, readOptions, termsFor } from './vocabulary.ts';

/** A field of the library, and the terms of its options. */
export interface ImportedField {
  id: string;
  plan: FieldPlan;
  options: Options | null;
  slugOfNode: ReadonlyMap<number, string>;
  /** The field for texts in other languages. */
  translationsId: string | null;
}

/** Fields that the import adds, by their codes, and those of the earlier system, by their numbers. */
export interface ImportedFields {
  byRef: ReadonlyMap<number, ImportedField>;
  own: Readonly<Record<keyof typeof ownFields, string>>;
}

/** Whether the titles of assets are what every group reads as the title of resources. */
export function isTitle(
  { field, readers }: FieldPlan,
  { installation }: Pick<Context, 'installation'>,
): boolean {
  return field.ref === installation.titleField && readers === null;
}

interface KnownField {
  id: string;
  type: string;
  read_capability: string | null;
}

async function findField(tx: Tx, code: string): Promise<KnownField | undefined> {
  return tx
    .selectFrom('fields')
    .select(['id', 'type', 'read_capability'])
    .where('code', '=', code)
    .executeTakeFirst();
}

interface Wanted {
  code: string;
  label: string;
  type: FieldType;
  group: string;
  isGated: boolean;
  description?: string;
  appliesTo?: number[];
  order?: number;
  isSearchable?: boolean;
}

async function createWanted(tx: Tx, { owner }: Context, wanted: Wanted): Promise<string> {
  const { id } = await createDefinition(tx, owner, {
    code: wanted.code,
    label: wanted.label,
    type: wanted.type,
    description: wanted.description ?? '',
    display_group: wanted.group,
    applies_to: wanted.appliesTo ?? [],
    display_order: wanted.order ?? 100,
    searchable: wanted.isSearchable ?? true,
    open_vocabulary: false,
    read_capability: wanted.isGated ? readCapability(wanted.code) : null,
  });
  return id;
}

/** Sets what creation does not take. A pattern that the library does not accept is left out. */
async function setFlags(tx: Tx, context: Context, id: string, { field, type }: FieldPlan): Promise<void> {
  const { owner, reporter } = context;
  await changeDefinition(tx, owner, id, {
    show_on_upload: field.showsOnUpload,
    show_in_advanced_search: field.showsInSearch,
    required: field.isRequired,
    ...(field.tab === null ? {} : { edit_tab: field.tab.slice(0, 100) }),
    ...(field.isActive ? {} : { status: 'deprecated' as const }),
  });
  if (field.isReadOnly)
    reporter.change('field', field.ref, sentence('was read-only in forms; here it can be edited'));
  if (field.pattern === null) return;
  try {
    if (type !== 'text' && type !== 'longtext')
      throw new WordedError(sentence('fields of type {type} have none', { type }));
    await changeDefinition(tx, owner, id, { regexp_filter: field.pattern });
  } catch (error) {
    reporter.leaveOut(
      'field',
      field.ref,
      sentence('its pattern {pattern}: {reason}', {
        pattern: String(field.pattern),
        reason: sentenceOfError(error),
      }),
    );
  }
}

/** Adds the terms of options that have none, and returns the terms of all. */
async function keepTerms(
  context: Context,
  fieldId: string,
  plan: FieldPlan,
  options: Options,
): Promise<Map<number, string>> {
  const { deps, ledger, reporter } = context;
  const slugs = new Map<number, string>();
  for (const node of options.byNode.keys()) {
    const known = ledger.find('node', node);
    if (known !== undefined && known.fingerprint === fieldId) slugs.set(node, known.target);
  }
  const fresh = await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ key: string }>`
      select value as key from field_terms where field_id = ${fieldId}
      union select key from field_term_aliases where field_id = ${fieldId} and key is not null`.execute(tx);
    const terms = termsFor(
      options,
      plan.type === 'tree',
      slugs,
      rows.map(({ key }) => key),
    );
    if (terms.length === 0) return terms;
    await appendTerms(
      tx,
      fieldId,
      terms.map(({ entry }) => entry),
    );
    for (const { node, entry } of terms) await ledger.record(tx, 'node', node, entry.value, fieldId);
    return terms;
  });
  for (const { node, entry } of fresh) slugs.set(node, entry.value);
  if (fresh.length > 0) reporter.count('options', fresh.length);
  for (const node of options.cyclic)
    reporter.change(
      'option',
      node,
      sentence('was above itself in the tree of field {field}; it is now at the top', {
        field: String(plan.field.ref),
      }),
    );
  return slugs;
}

async function importField(
  context: Context,
  plan: FieldPlan,
  typeOf: ReadonlyMap<number, number>,
): Promise<ImportedField> {
  const { deps, staging, ledger, reporter, installation } = context;
  const { field, code } = plan;
  const known = ledger.find('field', field.ref)?.target;
  const isGated = plan.readers !== null;
  const group = (field.tab ?? 'general').slice(0, 100) || 'general';
  const wanted = {
    code,
    label: plan.label,
    type: plan.type,
    group,
    isGated,
    description: field.help.slice(0, 10_000),
    appliesTo: field.types.flatMap((ref) => typeOf.get(ref) ?? []),
    order: Math.max(-1_000_000, Math.min(1_000_000, Math.round(field.order))),
    isSearchable: field.isSearchable,
  };
  let id = known;
  if (id === undefined) {
    id = await deps.db.transaction().execute(async (tx) => {
      // The operator may map a field to one of the library.
      const existing = await findField(tx, code);
      const fits = existing?.type === plan.type && (!isGated || existing.read_capability !== null);
      const made = fits ? existing.id : await createWanted(tx, context, wanted);
      await ledger.record(tx, 'field', field.ref, made);
      if (!fits) await setFlags(tx, context, made, plan);
      return made;
    });
    reporter.count('fields');
  }
  const stored = await deps.db.selectFrom('fields').select('type').where('id', '=', id).executeTakeFirst();
  // The type was decided by the first run; later values that do not fit it are reported.
  const type = stored?.type as FieldType | undefined;
  const own = { ...plan, type: type ?? plan.type };
  const options = hasVocabulary(own.type)
    ? await readOptions(staging, field.ref, installation.language)
    : null;
  const slugOfNode =
    options === null ? new Map<number, string>() : await keepTerms(context, id, own, options);
  const translationsId = plan.hasTranslations
    ? await keepOwn(context, {
        ...wanted,
        code: `${code}_translations`.slice(0, 64),
        label: `${plan.label} (other languages)`.slice(0, 200),
        type: 'longtext',
      })
    : null;
  return { id, plan: own, options, slugOfNode, translationsId };
}

/** Creates a field that the import adds by itself, unless an earlier run did. A gated one is read under its own capability. */
async function keepOwn(context: Context, wanted: Wanted): Promise<string> {
  const { deps, ledger } = context;
  const known = ledger.find('field', wanted.code)?.target;
  if (known !== undefined) return known;
  return deps.db.transaction().execute(async (tx) => {
    const taken = await findField(tx, wanted.code);
    const code = taken === undefined ? wanted.code : `rs_${wanted.code}`.slice(0, 64);
    const id = await createWanted(tx, context, { ...wanted, code });
    await ledger.record(tx, 'field', wanted.code, id);
    return id;
  });
}

const labels = {
  history: ['History in ResourceSpace', 'longtext', true],
  otherValues: ['Other values in ResourceSpace', 'longtext', true],
  contributor: ['Contributed by', 'text', true],
  rating: ['Rating', 'number', false],
  ratings: ['Ratings in ResourceSpace', 'longtext', true],
  latitude: ['Latitude', 'number', false],
  longitude: ['Longitude', 'number', false],
  licences: ['Licences', 'longtext', true],
  consents: ['Consents', 'longtext', true],
} as const satisfies Record<keyof typeof ownFields, readonly [string, FieldType, boolean]>;

/** Creates asset types, workflow states and fields. Returns the fields by the numbers of the earlier system. */
export async function importFields(
  context: Context,
  typeOf: ReadonlyMap<number, number>,
): Promise<ImportedFields> {
  const { plan, reporter } = context;
  const byRef = new Map<number, ImportedField>();
  for (const field of plan.fields) {
    if (!field.isImported) {
      reporter.leaveOut('field', field.field.ref, sentence('the mapping leaves this field out'));
    } else if (isTitle(field, context)) {
      const translationsId = field.hasTranslations
        ? await keepOwn(context, {
            code: 'title_translations',
            label: 'Title (other languages)',
            type: 'longtext',
            group: 'general',
            isGated: false,
          })
        : null;
      byRef.set(field.field.ref, {
        id: '',
        plan: field,
        options: null,
        slugOfNode: new Map(),
        translationsId,
      });
    } else byRef.set(field.field.ref, await importField(context, field, typeOf));
  }
  const own: Partial<Record<keyof typeof ownFields, string>> = {};
  for (const [name, [label, type, isGated]] of Object.entries(labels) as [
    keyof typeof labels,
    (typeof labels)[keyof typeof labels],
  ][])
    own[name] = await keepOwn(context, {
      code: ownFields[name],
      label,
      type,
      group: 'ResourceSpace',
      isGated,
      // ResourceSpace does not search it either, and the names of fields and people in it would find everything.
      isSearchable: name !== 'history',
      order: 900,
    });
  return { byRef, own: own as ImportedFields['own'] };
}
