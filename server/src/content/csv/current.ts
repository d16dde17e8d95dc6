import type { CsvMatch } from '@vitrine/contract/asset-csv';
import { sql } from 'kysely';
import { editableAssets, readableAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import {
  appliesToAsset,
  disclosedReference,
  knownFields,
  writableFields,
} from '../../access/field-values.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import type { TypedValue } from '../fields/values/typed-value.ts';
import { type ValueArrays, valueArrays, valueAt } from '../fields/values/value-arrays.ts';
import type { FieldColumn } from './columns.ts';

/** The asset that a key names; `reason` says why the caller cannot change it. */
type Matched = { readonly id: string } | { readonly id: string | null; readonly reason: Sentence };

/** What a field allows the caller on one asset, and its value there as far as the caller may know it. */
export interface CurrentCell {
  readonly known: boolean;
  readonly applies: boolean;
  readonly writable: boolean;
  readonly value: TypedValue | null;
}

/** What some rows of a file are compared with. Rows and columns are counted from 0. */
export interface Current {
  matchedAt(row: number): Matched;
  /** Returns null if the row matches no asset that the caller may change. */
  cellAt(row: number, column: number): CurrentCell | null;
}

/** What the statement finds, in order. Places are counted from 1. */
interface CurrentRow extends ValueArrays {
  /** The places of the keys that match, and what they match. */
  matched: number[] | null;
  ids: string[] | null;
  editable: boolean[] | null;
  found: number[] | null;
  /** The rights for each field of each asset that the caller may change, asset by asset. */
  rights: number[] | null;
  /** The places of the key and of the field of each value. */
  owners: number[] | null;
  fields: number[] | null;
}

/** The bits of `rights`. */
const KNOWN = 1;
const APPLIES = 2;
const WRITABLE = 4;

/** Finds assets of keys: an id among those that the caller may read, others among those that the caller may edit. */
function matching(caller: SignedIn, match: CsvMatch, keys: readonly string[]) {
  if (match === 'id')
    return sql`select k.place, a.id, ${editableAssets(caller)} as editable, 1 as found
      from unnest(${keys}::uuid[]) with ordinality as k (key, place) join assets a on a.id = k.key
      where ${readableAssets(caller)}`;
  // File names are stored in the Unicode form in which they were uploaded.
  const named =
    match === 'hash'
      ? sql`a.file_hash = k.key`
      : sql`a.file_name = any(array[k.key, normalize(k.key, nfc), normalize(k.key, nfd)])`;
  return sql`select k.place, min(a.id::text)::uuid as id, true as editable, count(*) as found
    from unnest(${keys}::text[]) with ordinality as k (key, place) join assets a on ${named}
    where ${editableAssets(caller)} group by k.place`;
}

/** An error is made once, not for each of a million rows. */
const NOT_FOUND = notFound().sentence;
const NOT_OWNER = refuse('not-owner').sentence;

function matchedBy(match: CsvMatch, keys: readonly string[], { matched, ids, editable, found }: CurrentRow) {
  const atOf = new Map((matched ?? []).map((place, at) => [place - 1, at]));
  return (row: number): Matched => {
    const at = atOf.get(row);
    const id = at === undefined ? undefined : ids?.[at];
    if (at === undefined || id === undefined)
      return { id: match === 'id' ? (keys[row] ?? null) : null, reason: NOT_FOUND };
    const count = found?.[at] ?? 1;
    if (count > 1) return { id: null, reason: sentence('{count} files match', { count: String(count) }) };
    return editable?.[at] === true ? { id } : { id, reason: NOT_OWNER };
  };
}

function cellsBy(columns: number, current: CurrentRow) {
  const { matched, editable, found, rights, owners, fields } = current;
  const changeable = (matched ?? []).filter((_, at) => editable?.[at] === true && found?.[at] === 1);
  const rankOf = new Map(changeable.map((place, rank) => [place - 1, rank]));
  const placeOf = new Map(
    (owners ?? []).map((owner, at) => [(owner - 1) * columns + (fields?.[at] ?? 0) - 1, at]),
  );
  return (row: number, column: number): CurrentCell | null => {
    const rank = rankOf.get(row);
    if (rank === undefined) return null;
    const bits = rights?.[rank * columns + column] ?? 0;
    const at = placeOf.get(row * columns + column);
    return {
      known: (bits & KNOWN) !== 0,
      applies: (bits & APPLIES) !== 0,
      writable: (bits & WRITABLE) !== 0,
      value: at === undefined ? null : valueAt(current, at),
    };
  };
}

/** Reads with one statement what some rows, which have these keys, are compared with. */
export async function readCurrent(
  tx: Tx,
  caller: SignedIn,
  match: CsvMatch,
  keys: readonly string[],
  columns: readonly FieldColumn[],
): Promise<Current> {
  const { rows } = await sql<CurrentRow>`
    with m as materialized (${matching(caller, match, keys)}),
    a as materialized (
      select m.place, a.id, a.title, a.description, a.asset_type, a.team_id
      from m join assets a on a.id = m.id where m.editable and m.found = 1),
    d as materialized (
      select d.*, w.place from unnest(${columns.map(({ id }) => id)}::uuid[]) with ordinality as w (id, place)
        join fields d on d.id = w.id),
    r as (
      select a.place as owner, d.place as field, ${KNOWN}::integer * ${knownFields(caller, 'asset')}::integer
          + ${APPLIES}::integer * ${appliesToAsset}::integer
          + ${WRITABLE}::integer * ${writableFields(caller, 'asset')}::integer as rights
      from a cross join d),
    v as (
      select a.place as owner, d.place as field,
        v.value_text, v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref
      from a join asset_field_values v on v.asset_id = a.id join d on d.id = v.field_id
      where d.mirrors_column is null and ${knownFields(caller, 'asset')}
        and ${disclosedReference(caller, sql`v.value_ref`)}
      union all
      select a.place, d.place, nullif(case d.mirrors_column when 'title' then a.title else a.description end, ''),
        null, null, null, null, null
      from a join d on d.mirrors_column is not null where ${knownFields(caller, 'asset')})
    select matches.*, permits.*, cells.*
    from (select json_agg(m.place order by m.place) as matched, json_agg(m.id order by m.place) as ids,
        json_agg(m.editable order by m.place) as editable, json_agg(m.found order by m.place) as found from m) matches,
      (select json_agg(r.rights order by r.owner, r.field) as rights from r) permits,
      (select json_agg(v.owner) as owners, json_agg(v.field) as fields, ${valueArrays} from v) cells`.execute(
    tx,
  );
  const [current] = rows;
  if (current === undefined) throw new Error('an aggregate has no row');
  return { matchedAt: matchedBy(match, keys, current), cellAt: cellsBy(columns.length, current) };
}
