import { holdsSeveral, isNested, isOpenVocabulary } from '@vitrine/contract/field-types';
import { sql } from 'kysely';
import type { WireForm } from '../../../content/fields/types/field-type.ts';
import { rulesOf } from '../../../content/fields/types/registry.ts';
import { readFitting } from '../../../content/fields/values/read-given.ts';
import { type Definition, definitionColumns, faultOf } from '../../../content/fields/values/rules.ts';
import {
  definitionsFor,
  readCurrentValue,
  type Subject,
  storeValue,
} from '../../../content/fields/values/store.ts';
import { isSame, type TypedValue, withTerms } from '../../../content/fields/values/typed-value.ts';
import { createTerms, isBlank, matchTerms } from '../../../content/fields/vocabulary/terms.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import type { AaFieldValue, WireValue } from '../protocol/objects.ts';
import { compareOffered } from './offered.ts';

/** Returns whether a field of our type can store a peer's values of this type. */
export function takes(ours: Definition['type'], theirs: AaFieldValue['type']): boolean {
  return rulesOf[ours].federation.takes.includes(theirs);
}

interface ReceivedValue {
  code: string;
  value: AaFieldValue;
  /** The field that receives the value. */
  field_id: string;
}

/** A value of a peer for a field here. */
interface Offered {
  field: Definition;
  value: WireValue;
  peerId: string;
}

type Reader = (tx: Tx, offered: Offered) => Promise<TypedValue | null>;

/** Reads a value of each form; null when the field here cannot store it. */
const readers: Readonly<Record<WireForm, Reader>> = {
  text: async (_, { field, value }) =>
    typeof value === 'string' ? readFitting(field, { value_text: value }) : null,
  number: async (_, { field, value }) =>
    typeof value === 'number' ? readFitting(field, { value_num: value }) : null,
  flag: async (_, { field, value }) => readFitting(field, { value_num: value === true ? 1 : 0 }),
  day: momentValue,
  time: momentValue,
  term: termsValue,
  terms: termsValue,
  asset: referenceValue,
};

async function momentValue(_: Tx, { field, value }: Offered): Promise<TypedValue | null> {
  return typeof value === 'string' ? readFitting(field, { value_date: value }) : null;
}

/** Returns the terms here that a value names by slug or label; null unless all of them can be used. */
async function termsValue(tx: Tx, { field, value }: Offered): Promise<TypedValue | null> {
  if (typeof value !== 'object') return null;
  const names = (text: string) => ({ fieldId: field.id, text });
  const bySlug = await matchTerms(
    tx,
    value.map((term) => names(term.value)),
  );
  const byLabel = await matchTerms(
    tx,
    value.map((term) => names(term.label)),
  );
  const found = value.map((term, index) => ({ term, match: bySlug[index] ?? byLabel[index] ?? null }));
  const missing = found
    .filter(({ match }) => match === null)
    .map(({ term }) => term.label.trim() || term.value);
  if (missing.length > 0 && (!isOpenVocabulary(field) || missing.some(isBlank))) return null;
  const made = missing.length === 0 ? new Map<string, string>() : await extend(tx, field.id, missing);
  if (made === null) return null;
  const slugs: string[] = [];
  for (const { term, match } of found) {
    if (match?.status === 'archived' || (isNested(field.type) && match?.isLeaf === false)) return null;
    slugs.push(match?.value ?? made.get(term.label.trim() || term.value) ?? '');
  }
  const [first = ''] = slugs;
  return holdsSeveral(field.type)
    ? withTerms({ kind: 'options', options: slugs }, slugs)
    : { kind: 'text', text: first };
}

/** Adds terms to an open vocabulary under the lock of its field (TERM-8). */
async function extend(
  tx: Tx,
  fieldId: string,
  labels: readonly string[],
): Promise<Map<string, string> | null> {
  await tx.selectFrom('fields').where('id', '=', fieldId).forNoKeyUpdate().execute();
  const matches = await matchTerms(
    tx,
    labels.map((text) => ({ fieldId, text })),
  );
  const known = labels.flatMap((label, index): [string, string][] => {
    const match = matches[index] ?? null;
    return match === null ? [] : [[label, match.value]];
  });
  const made = await createTerms(
    tx,
    fieldId,
    labels.filter((_, index) => matches[index] === null),
  );
  return made === null ? null : new Map([...known, ...made]);
}

/** Returns the mirror of an asset that a value refers to; null if it is not mirrored. */
async function referenceValue(tx: Tx, { peerId, value: uri }: Offered): Promise<TypedValue | null> {
  const { rows } = await sql<{ id: string }>`select local_id as id from federated_objects
    where uri = ${uri} and kind = 'asset' and peer_id = ${peerId}`.execute(tx);
  return rows[0] === undefined ? null : { kind: 'ref', ref: rows[0].id };
}

/** Converts a peer's value to the field here; null if the field cannot store it. */
async function acceptableValue(
  tx: Tx,
  peerId: string,
  field: Definition,
  value: AaFieldValue,
): Promise<TypedValue | null> {
  if (!takes(field.type, value.type)) return null;
  const { form } = rulesOf[value.type].federation;
  const read = await readers[form](tx, { field, value: value.value, peerId });
  return read === null || faultOf(field, read) !== null ? null : read;
}

/**
 * Replaces the values of a mirrored asset or collection by those of its origin that this library uses (FED-62): of
 * fields that have the same meaning here or about which the operator has decided. The caller holds the lock of the
 * subject's row.
 */
async function useValues(tx: Tx, peerId: string, uri: string, subject: Subject): Promise<void> {
  await compareOffered(tx, peerId);
  const { rows } = await sql<ReceivedValue>`
    select v.code, v.value, coalesce(o.field_id, own.id) as field_id from federated_values v
      join federation_fields o on o.peer_id = ${peerId} and o.code = v.code
        and (o.decision is null and o.agrees or o.decision in ('map', 'adopt'))
      left join fields own on own.code = o.code
    where v.uri = ${uri} and coalesce(o.field_id, own.id) is not null
    order by field_id, v.code`.execute(tx);
  const { rows: fields } = await sql<Definition>`
    select ${definitionColumns(subject)} from ${definitionsFor(subject)}
    where d.id = any(${rows.map(({ field_id }) => field_id)}::uuid[]) and d.subject_kind = ${subject.kind}
      and d.status <> 'archived' and d.mirrors_column is null order by d.id for share of d`.execute(tx);
  const byId = new Map(fields.map((field) => [field.id, field]));
  const wanted = new Map<string, TypedValue>();
  for (const { field_id, value } of rows) {
    const field = byId.get(field_id);
    // If two of the peer's fields map to one of ours, the first one wins.
    if (field === undefined || wanted.has(field_id)) continue;
    const fit = await acceptableValue(tx, peerId, field, value);
    if (fit !== null) wanted.set(field_id, fit);
  }
  const table = sql.table(`${subject.kind}_field_values`);
  const { rows: stored } = await sql<{ field_id: string }>`select field_id from ${table}
    where ${sql.ref(`${subject.kind}_id`)} = ${subject.id}`.execute(tx);
  const ids = new Set([...stored.map(({ field_id }) => field_id), ...wanted.keys()]);
  for (const fieldId of [...ids].toSorted()) {
    const { stored: before } = await readCurrentValue(tx, subject, fieldId);
    const after = wanted.get(fieldId) ?? null;
    if (isSame(before?.value ?? null, after)) continue;
    await storeValue(tx, { subject, fieldId, before, after, setBy: 'import', userRef: null });
  }
}

/** Replaces the values of a mirrored asset or collection by those that its origin sent. */
export async function receiveValues(
  tx: Tx,
  peerId: string,
  uri: string,
  subject: Subject,
  values: readonly AaFieldValue[] = [],
): Promise<void> {
  const received = values.map((value) => ({ code: value.code, value }));
  await sql`delete from federated_values where uri = ${uri} and code <> all(${received.map(({ code }) => code)}::text[])`.execute(
    tx,
  );
  if (received.length > 0) {
    await sql`insert into federated_values (uri, code, value)
      select distinct on (x.code) ${uri}, x.code, x.value
      from jsonb_to_recordset(${JSON.stringify(received)}::jsonb) as x (code text, value jsonb)
      on conflict (uri, code) do update set value = excluded.value`.execute(tx);
  }
  await useValues(tx, peerId, uri, subject);
}

/** Mirrored objects per transaction. */
const BATCH = 100;

/** Uses the values of a peer's field again for everything that has one, after a decision or a change of its meaning. */
export function useFieldValuesJob({ db }: Deps): JobHandler<'use-field-values'> {
  return async ({ peer, code }) => {
    let after = '';
    for (;;) {
      const last = await db.transaction().execute(async (tx) => {
        // Locks in the order of receiving: the peer, the object, its values.
        await tx.selectFrom('federation_peers').where('id', '=', peer).forNoKeyUpdate().execute();
        const { rows } = await sql<{ uri: string; kind: 'asset' | 'collection'; local_id: string }>`
          select o.uri, o.kind, o.local_id from federated_values v join federated_objects o on o.uri = v.uri
          where v.code = ${code} and o.kind in ('asset', 'collection') and o.peer_id = ${peer} and v.uri > ${after} order by v.uri limit ${BATCH}`.execute(
          tx,
        );
        for (const { uri, kind, local_id } of rows) {
          await sql`select from ${sql.table(`${kind}s`)} where id = ${local_id} for no key update`.execute(
            tx,
          );
          await useValues(tx, peer, uri, { kind, id: local_id });
        }
        return rows.length < BATCH ? null : (rows.at(-1)?.uri ?? null);
      });
      if (last === null) return;
      after = last;
    }
  };
}
