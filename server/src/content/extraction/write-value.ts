import { holdsSeveral, isNested, isOpenVocabulary } from '@vitrine/contract/field-types';
import { mostOptions, type SetBy } from '@vitrine/contract/field-values';
import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { shortened, titleFrom } from '../assets/insert.ts';
import { charactersIn } from '../fields/types/characters.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { type Definition, definitionColumns, faultOf } from '../fields/values/rules.ts';
import {
  definitionsFor,
  isByPeople,
  readCurrentValue,
  type Stored,
  type Subject,
  storeValue,
} from '../fields/values/store.ts';
import { isSame, type TypedValue } from '../fields/values/typed-value.ts';
import { setColumn } from '../fields/values/write.ts';
import { createTerms, isBlank, matchTerms } from '../fields/vocabulary/terms.ts';

/** What the system found, before conversion to the field's type. */
export type RawValue = string | number | readonly string[];

/** EXTRACT-3: the empty mode equals `skip_if_set`. */
export type Mode = '' | 'skip_if_set' | 'replace' | 'append' | 'prepend';

/** `renew` replaces only what was read from a file, when the asset gets another one (EXTRACT-17). */
export type WriteMode = Mode | 'renew';

export interface SystemWrite {
  assetId: string;
  fieldId: string;
  found: RawValue;
  mode: WriteMode;
  setBy: Exclude<SetBy, 'manual' | 'api'>;
  /** What files of the asset contained before, which `renew` replaces, too. */
  former?: readonly RawValue[];
  /** Values of other versions of the asset. A column has no record of who wrote it, so one with such a text is replaced. */
  earlier?: readonly RawValue[];
}

/** `kept`: the existing value takes precedence or is equal. `unfit`: the field cannot have this value. */
export type Outcome = 'written' | 'kept' | 'unfit';

/**
 * Writes a value from a file's metadata or a computation. Such a write ignores `read_only`, the pattern and the write
 * capability (EXTRACT-6). It never replaces what people wrote or removed, and always replaces a default. Idempotent.
 * A transaction that writes several fields does so in the order of their ids, as all writers do, to avoid deadlocks.
 */
export async function writeSystemValue(
  tx: Tx,
  { assetId, fieldId, found, mode, setBy, former = [], earlier = [] }: SystemWrite,
): Promise<Outcome> {
  const subject: Subject = { kind: 'asset', id: assetId };
  const { rows: assets } = await sql`select from assets a
    where a.id = ${assetId} for no key update of a`.execute(tx);
  if (assets.length === 0) return 'unfit';
  const field = await holdDefinition(tx, subject, fieldId, found);
  if (field === null) return 'unfit';
  const value = await typedValueOf(tx, field, found);
  if (value === null || faultOf(field, value) !== null) return 'unfit';
  if (field.mirrors_column !== null) return fillColumn(tx, subject, field, value, [...former, ...earlier]);
  const { stored, clearedBy } = await readCurrentValue(tx, subject, field.id);
  const isKept = stored === null ? clearedBy !== null && isByPeople(clearedBy) : isByPeople(stored.setBy);
  if (isKept) return 'kept';
  const isRenewed = mode === 'renew' && stored !== null && (await isAmong(tx, field, stored.value, former));
  const after = isRenewed ? value : merged(field, stored, value, { mode, setBy });
  if (after === null || (stored !== null && stored.setBy !== 'default' && isSame(stored.value, after)))
    return 'kept';
  if (faultOf(field, after) !== null) return 'unfit';
  await storeValue(tx, { subject, fieldId, before: stored, after, setBy, userRef: null });
  return 'written';
}

/** Returns whether a stored value is one of those that files contained before. */
async function isAmong(
  tx: Tx,
  field: Definition,
  stored: TypedValue,
  former: readonly RawValue[],
): Promise<boolean> {
  for (const found of former) {
    const value = await typedValueOf(tx, field, found);
    if (value !== null && isSame(value, stored)) return true;
  }
  return false;
}

/** Locks the active definition, exclusively when the write adds terms. */
async function holdDefinition(
  tx: Tx,
  subject: Subject,
  fieldId: string,
  found: RawValue,
): Promise<Definition | null> {
  const asked = sql`select ${definitionColumns(subject)} from ${definitionsFor(subject)}
    where d.id = ${fieldId} and d.status = 'active' and d.subject_kind = 'asset'`;
  const { rows: seen } = await sql<Definition>`${asked}`.execute(tx);
  const [first] = seen;
  const texts = textsOf(found);
  const isExtended =
    first !== undefined &&
    isOpenVocabulary(first) &&
    (
      await matchTerms(
        tx,
        texts.map((text) => ({ fieldId, text })),
      )
    ).includes(null);
  const { rows } =
    await sql<Definition>`${asked} for ${isExtended ? sql`no key update` : sql`share`} of d`.execute(tx);
  const [field] = rows;
  return field?.applies === true ? field : null;
}

function textsOf(found: RawValue): string[] {
  const texts =
    typeof found === 'string' ? [found] : typeof found === 'number' ? [String(found)] : [...found];
  return texts.filter((text) => !isBlank(text) && charactersIn(text) <= 200).slice(0, 500);
}

/** Converts what was found to the field's type; null when that is impossible. */
async function typedValueOf(tx: Tx, field: Definition, found: RawValue): Promise<TypedValue | null> {
  const { extraction } = rulesOf[field.type];
  switch (extraction.from) {
    case 'nothing':
      return null;
    case 'terms':
      return fittedTerms(tx, field, textsOf(found));
    case 'text': {
      const text = typeof found === 'object' ? found.join(', ') : String(found);
      return extraction.convert(shortened(text, extraction.longest));
    }
    case 'single':
      return extraction.convert(typeof found === 'object' ? (found[0] ?? '') : found);
  }
}

/** Resolves names to active terms. Adds unknown ones to an open vocabulary with room, and ignores them otherwise. */
async function fittedTerms(tx: Tx, field: Definition, texts: readonly string[]): Promise<TypedValue | null> {
  const matches = await matchTerms(
    tx,
    texts.map((text) => ({ fieldId: field.id, text })),
  );
  const unknown = isOpenVocabulary(field) ? texts.filter((_, index) => matches[index] === null) : [];
  const made = unknown.length === 0 ? null : await createTerms(tx, field.id, unknown);
  const slugs = texts.flatMap((text, index) => {
    const match = matches[index] ?? null;
    if (match === null) return made?.get(text) ?? [];
    return match.status === 'active' && (!isNested(field.type) || match.isLeaf) ? [match.value] : [];
  });
  const [first] = slugs;
  if (first === undefined) return null;
  return holdsSeveral(field.type)
    ? { kind: 'options', options: [...new Set(slugs)] }
    : { kind: 'text', text: first };
}

/**
 * Whether a value was read from a file. Imports, too, are recorded as `import`; so such a value counts only if its
 * successor is a fact of the file as well.
 */
function isFromFile(storedBy: SetBy, setBy: SetBy): boolean {
  return storedBy === 'import' ? setBy === 'import' : ['exif', 'iptc', 'xmp'].includes(storedBy);
}

/** Whether the text already contains this part. */
function holdsPart(whole: string, part: string, separator: string): boolean {
  if (separator === '') return whole.includes(part);
  return `${separator}${whole}${separator}`.includes(`${separator}${part}${separator}`);
}

/** Combines the existing value with what was found, according to the mode; null keeps the existing value. */
function merged(
  field: Definition,
  stored: Stored | null,
  found: TypedValue,
  { mode, setBy }: Pick<SystemWrite, 'mode' | 'setBy'>,
): TypedValue | null {
  if (stored === null || stored.setBy === 'default' || mode === 'replace') return found;
  if (mode === 'renew') return isFromFile(stored.setBy, setBy) ? found : null;
  if (mode !== 'append' && mode !== 'prepend') return null;
  const { value } = stored;
  if (value.kind === 'options' && found.kind === 'options') {
    // Options found again keep their position.
    const fresh = found.options.filter((option) => !value.options.includes(option));
    const options = mode === 'append' ? [...value.options, ...fresh] : [...fresh, ...value.options];
    return fresh.length === 0 || options.length > mostOptions ? null : { kind: 'options', options };
  }
  const { extraction } = rulesOf[field.type];
  if (extraction.from !== 'text' || value.kind !== 'text' || found.kind !== 'text') return null;
  const { separator, longestJoined } = extraction;
  if (holdsPart(value.text, found.text, separator)) return null;
  const text = (mode === 'append' ? [value.text, found.text] : [found.text, value.text]).join(separator);
  return text.length > longestJoined ? null : { kind: 'text', text };
}

/**
 * EXTRACT-7: fills a mirrored column that nobody has written: an empty description, or a title that equals the file
 * name's.
 */
async function fillColumn(
  tx: Tx,
  subject: Subject,
  field: Definition,
  value: TypedValue,
  former: readonly RawValue[],
): Promise<Outcome> {
  const row = await tx
    .selectFrom('assets')
    .select(['title', 'description', 'file_name'])
    .where('id', '=', subject.id)
    .executeTakeFirstOrThrow();
  const column = field.mirrors_column === 'title' ? 'title' : 'description';
  const current = row[column];
  const most = column === 'title' ? 500 : 20_000;
  const textOf = (typed: TypedValue | null) => (typed?.kind === 'text' ? shortened(typed.text, most) : '');
  const isDefault = current === '' || (column === 'title' && current === titleFrom(row.file_name));
  if (!isDefault) {
    const texts: string[] = [];
    for (const found of former) texts.push(textOf(await typedValueOf(tx, field, found)));
    if (!texts.includes(current)) return 'kept';
  }
  const text = textOf(value);
  if (text === '' || text === current) return 'kept';
  await setColumn(tx, subject, field, { kind: 'text', text });
  return 'written';
}
