import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { fieldsGiven, type PeerCaller, referenceGivenTo } from '../../../access/federation.ts';
import { appliesToAsset, ofVocabulary } from '../../../access/field-values.ts';
import type { WireForm } from '../../../content/fields/types/field-type.ts';
import { rulesOf } from '../../../content/fields/types/registry.ts';
import { withOffset } from '../../../content/fields/values/moments.ts';
import type { ValueColumns } from '../../../content/fields/values/typed-value.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { objectUri } from '../protocol/addresses.ts';
import type { AaFieldDefinition } from '../protocol/field-definitions.ts';
import type { AaFieldValue, WireValue } from '../protocol/objects.ts';
import { type GivenDefinition, MOST_BYTES, readGivenDefinitions, sizeOf } from './definitions.ts';

/** Maximum per subject in the protocol. */
const MOST_VALUES = 200;
const LONGEST_TEXT = 100_000;
/** Size limit of all values in one envelope, which may have a megabyte. */
const MOST_VALUE_BYTES = 400_000;

interface ValueRow extends ValueColumns {
  subject: string;
  field_id: string;
  code: string;
  label: string;
  type: AaFieldValue['type'];
  terms: { value: string; label: string }[] | null;
}

/** Writes a stored value in each form; null when the protocol cannot carry it. */
const writers: Readonly<Record<WireForm, (row: ValueRow, installUrl: string) => WireValue | null>> = {
  text: ({ value_text: text }) => (text === null || text.length > LONGEST_TEXT ? null : text),
  number: ({ value_num }) => value_num,
  flag: ({ value_num }) => (value_num === null ? null : value_num === 1),
  day: ({ value_date }) => (isCarried(value_date) ? value_date.slice(0, 10) : null),
  time: ({ value_date, value_offset }) =>
    isCarried(value_date) ? withOffset(value_date, value_offset) : null,
  term: writtenTerms,
  terms: writtenTerms,
  asset: ({ value_ref }, installUrl) =>
    value_ref === null ? null : objectUri(installUrl, 'assets', value_ref),
};

/** Whether the protocol has the year: 1000 to 8999. */
function isCarried(date: string | null): date is string {
  return date !== null && /^[1-8]\d{3}-/.test(date);
}

function writtenTerms({ terms }: ValueRow): WireValue | null {
  return terms === null || terms.length === 0 ? null : terms;
}

function wireValue(installUrl: string, row: ValueRow): AaFieldValue | null {
  const { code, label, type } = row;
  const value = writers[rulesOf[type].federation.form](row, installUrl);
  return value === null ? null : { code, label, type, value };
}

/** The values of several subjects in the form for a peer, and their fields. */
export interface GivenValues {
  bySubject: ReadonlyMap<string, AaFieldValue[]>;
  fieldIds: readonly string[];
}

const columns = sql`d.id as field_id, d.code, d.label, d.type, v.value_text, v.value_num, v.value_date, v.value_offset, v.value_options,
  v.value_ref, case when ${ofVocabulary} then (
    select json_agg(json_build_object('value', x.value, 'label', coalesce(t.label, x.value)) order by x.place)
    from unnest(coalesce(v.value_options, array[v.value_text])) with ordinality as x (value, place)
    left join field_terms t on t.field_id = d.id and t.value = x.value) end as terms`;

/**
 * Returns the values of assets or collections in the form for the peer, in field order (FED-60). Values past the limits
 * of an envelope are left out. One statement.
 */
export async function readGivenValues(
  db: Database,
  installUrl: string,
  peer: PeerCaller,
  kind: 'asset' | 'collection',
  ids: readonly string[],
): Promise<GivenValues> {
  if (ids.length === 0) return { bySubject: new Map(), fieldIds: [] };
  const from =
    kind === 'asset'
      ? sql`asset_field_values v join assets a on a.id = v.asset_id join fields d on d.id = v.field_id
          and d.subject_kind = 'asset' and ${appliesToAsset}`
      : sql`collection_field_values v join fields d on d.id = v.field_id and d.subject_kind = 'collection'`;
  const subject = sql.ref(kind === 'asset' ? 'v.asset_id' : 'v.collection_id');
  const { rows } = await sql<ValueRow>`select ${subject} as subject, ${columns} from ${from}
    where ${subject} = any(${[...ids]}::uuid[]) and ${fieldsGiven} and ${referenceGivenTo(peer)}
    order by d.display_order, d.code`.execute(db);
  const bySubject = new Map<string, AaFieldValue[]>();
  const fieldIds = new Set<string>();
  let bytes = 0;
  for (const row of rows) {
    const value = wireValue(installUrl, row);
    const own = bySubject.get(row.subject) ?? [];
    if (value === null || own.length >= MOST_VALUES) continue;
    const length = Buffer.byteLength(JSON.stringify(value));
    if (bytes + length > MOST_VALUE_BYTES) continue;
    bytes += length;
    own.push(value);
    bySubject.set(row.subject, own);
    fieldIds.add(row.field_id);
  }
  return { bySubject, fieldIds: [...fieldIds] };
}

/** Definitions that are sent in one envelope. */
export interface DefinitionsObject {
  type: 'aa:FieldDefinitions';
  attributedTo: string;
  updated: string;
  items: AaFieldDefinition[];
}

/**
 * Returns the definitions among these of which the peer lacks the current version, as objects that fit into an
 * envelope each, and what to record once they are delivered (FED-60).
 */
export async function missingDefinitions(
  db: Database,
  peer: PeerCaller,
  actor: string,
  fieldIds: readonly string[],
): Promise<{ objects: DefinitionsObject[]; sent: GivenDefinition[] }> {
  const given = await readGivenDefinitions(db, fieldIds);
  if (given.length === 0) return { objects: [], sent: [] };
  const rows = await db
    .selectFrom('federation_sent_fields')
    .select(['field_id', 'digest'])
    .where('peer_id', '=', peer.peerId)
    .where('field_id', '=', sql<string>`any(${[...fieldIds]}::uuid[])`)
    .execute();
  const known = new Map(rows.map(({ field_id, digest }) => [field_id, digest]));
  const sent = given.filter(({ fieldId, digest }) => known.get(fieldId) !== digest);
  const updated = new Date().toISOString();
  const objects: DefinitionsObject[] = [];
  let size = MOST_BYTES;
  for (const { definition } of sent) {
    const length = sizeOf(definition);
    const last = objects.at(-1);
    if (last === undefined || size + length > MOST_BYTES) {
      objects.push({ type: 'aa:FieldDefinitions', attributedTo: actor, updated, items: [definition] });
      size = length;
    } else {
      last.items.push(definition);
      size += length;
    }
  }
  return { objects, sent };
}

/** Records which definitions were sent, in the statement that stores the envelopes for retries. */
export async function rememberSent(
  db: Database,
  peerId: string,
  sent: readonly GivenDefinition[],
): Promise<void> {
  if (sent.length === 0) return;
  await sql`insert into federation_sent_fields (peer_id, field_id, digest)
    select ${peerId}, x.field_id, x.digest
    from unnest(${sent.map(({ fieldId }) => fieldId)}::uuid[], ${sent.map(({ digest }) => digest)}::text[])
      as x (field_id, digest)
    on conflict (peer_id, field_id) do update set digest = excluded.digest`.execute(db);
}

/** The id of an activity without its own row in the outbox. */
export function freshActivityUri(installUrl: string): string {
  return `${installUrl}/activities/${randomUUID()}`;
}
