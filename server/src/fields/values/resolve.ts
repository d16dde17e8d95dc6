import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { mayExtendVocabularies } from '../../access/fields.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import type { Definition } from './definition.ts';
import { createTerms, isBlank, type Match, matchTerms } from './terms.ts';
import { type TypedValue, termsOf, withTerms } from './typed-value.ts';

/** A value for a field, and what stands there now. */
export interface Meant {
  field: Definition;
  value: TypedValue;
  before: TypedValue | null;
}

/** spec 2.7 rule 2: honoured for multi_select only. */
export function isOpen(field: Definition): boolean {
  return field.open_vocabulary && field.type === 'multi_select';
}

/** Whether writing these values would create a term, so that the definitions are to be held for that. */
export async function createsTerms(tx: Tx, meant: readonly Omit<Meant, 'before'>[]): Promise<boolean> {
  const named = meant.flatMap(({ field, value }) =>
    isOpen(field) ? termsOf(field, value).map((text) => ({ fieldId: field.id, text })) : [],
  );
  return (await matchTerms(tx, named)).includes(null);
}

/** Throws the 422 of a text that names no term to be chosen. A term the value has already may stay. */
function checkChoosable({ field, before }: Meant, text: string, match: Exclude<Match, null>): void {
  const kept = before !== null && termsOf(field, before).includes(match.value);
  if (kept) return;
  if (match.status !== 'active') throw refuse(422, `${field.code}: the term ${text} is ${match.status}`);
  if (field.type === 'tree' && !match.isLeaf)
    throw refuse(422, `${field.code}: ${text} has narrower terms; name one of them`);
}

/**
 * The values with the slugs of the terms they name (spec 2.7 rules 1 and 2). An unknown one is 422, or is created
 * where the vocabulary is open, for a caller who may extend it; the definitions are held for that.
 */
export async function resolveTerms(tx: Tx, caller: Caller, meant: readonly Meant[]): Promise<TypedValue[]> {
  const named = meant.flatMap((one) =>
    termsOf(one.field, one.value).map((text) => ({ fieldId: one.field.id, text })),
  );
  const matches = await matchTerms(tx, named);
  const resolved: TypedValue[] = [];
  let next = 0;
  for (const one of meant) {
    const texts = termsOf(one.field, one.value);
    const its = matches.slice(next, next + texts.length);
    next += texts.length;
    const unknown = texts.filter((_, index) => its[index] === null);
    if (unknown.length > 0) checkMayExtend(caller, one.field, unknown);
    const made =
      unknown.length === 0 ? new Map<string, string>() : await createTerms(tx, one.field.id, unknown);
    if (made === null) throw refuse(422, `${one.field.code}: the vocabulary is full`);
    const slugs = texts.map((text, index) => {
      const match = its[index] ?? null;
      if (match === null) return made.get(text) ?? '';
      checkChoosable(one, text, match);
      return match.value;
    });
    resolved.push(withTerms(one.value, slugs));
  }
  return resolved;
}

function checkMayExtend(caller: Caller, field: Definition, unknown: readonly string[]): void {
  const [first = ''] = unknown;
  if (!isOpen(field)) throw refuse(422, `${field.code}: unknown term ${first.slice(0, 200)}`);
  if (unknown.some(isBlank)) throw refuse(422, `${field.code}: a term is not blank`);
  if (!mayExtendVocabularies(caller))
    throw refuse(
      403,
      `missing capability fields.vocabulary.extend to add ${first.slice(0, 200)} to ${field.code}`,
    );
}

/** Throws the 422 of a reference to an asset the caller is not shown, as of one there never was. */
export async function checkReferences(
  tx: Tx,
  caller: Caller,
  meant: readonly Omit<Meant, 'before'>[],
): Promise<void> {
  const refs = meant.flatMap(({ field, value }) => (value.kind === 'ref' ? [{ field, ref: value.ref }] : []));
  if (refs.length === 0) return;
  const { rows } = await sql<{ id: string }>`select a.id from assets a
    where a.id = any(${refs.map(({ ref }) => ref)}::uuid[]) and ${shownAssets(caller)}`.execute(tx);
  const readable = new Set(rows.map(({ id }) => id));
  const missing = refs.find(({ ref }) => !readable.has(ref));
  if (missing !== undefined) throw refuse(422, `${missing.field.code}: asset ${missing.ref} not found`);
}
