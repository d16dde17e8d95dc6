import { exportAssets } from '@vitrine/contract/asset-csv';
import type { QueryOf } from '@vitrine/contract/operation';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { appliesToAsset, disclosedReference, readableFields } from '../../access/field-values.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { readAhead } from '../../platform/read-ahead.ts';
import { narrowing } from '../assets/list.ts';
import { withoutProfilePictures } from '../assets/profile-pictures.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { type ValueArrays, valueArrays, valueAt } from '../fields/values/value-arrays.ts';
import { columnName, type FieldColumn, fixedColumns, readColumns } from './columns.ts';
import { neutralised } from './formulas.ts';
import { sendCsv } from './send.ts';

type Query = QueryOf<typeof exportAssets>;

const UUID_BYTES = 16;

/** Returns the ids of all rows, 16 bytes each, so that a million of them need little memory. */
async function selectIds(db: Database, caller: SignedIn, { ids, bom: _, ...query }: Query): Promise<Buffer> {
  const conditions = [
    shownAssets(caller),
    ...(ids === undefined ? withoutProfilePictures(query) : []),
    ...(await narrowing(db, caller, query)),
  ];
  if (ids !== undefined) conditions.push(sql`a.id = any(${ids}::uuid[])`);
  const order =
    ids !== undefined
      ? sql`array_position(${ids}::uuid[], a.id)`
      : query.sort === 'oldest'
        ? sql`a.created_at, a.id`
        : sql`a.created_at desc, a.id desc`;
  const { rows } = await sql<{ ids: Buffer | null }>`
    select string_agg(uuid_send(a.id), ''::bytea order by ${order}) as ids
    from assets a where ${sql.join(conditions, sql` and `)}`.execute(db);
  return rows[0]?.ids ?? Buffer.alloc(0);
}

/** Returns the ids in these bytes as text. */
function idsIn(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return Array.from({ length: bytes.length / UUID_BYTES }, (_, at) =>
    hex
      .slice(at * 2 * UUID_BYTES, (at + 1) * 2 * UUID_BYTES)
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  );
}

/** Files and their values. Places are counted from 1. */
interface PageRow extends ValueArrays {
  /** The files that are shown: their places among those that were asked for, and their columns. */
  shown: number[] | null;
  names: string[] | null;
  hashes: (string | null)[] | null;
  /** The places of the file and of the field of each value. */
  owners: number[] | null;
  fields: number[] | null;
}

/** Reads what the caller may see of these assets; an empty mirrored column is not a value. */
async function readPage(
  db: Database,
  caller: SignedIn,
  ids: readonly string[],
  columns: readonly FieldColumn[],
): Promise<PageRow> {
  const { rows } = await sql<PageRow>`
    with a as materialized (
      select w.place, a.id, a.file_name, a.file_hash, a.title, a.description, a.asset_type, a.team_id
      from unnest(${ids}::uuid[]) with ordinality as w (id, place) join assets a on a.id = w.id
      where ${shownAssets(caller)}),
    d as (
      select d.*, w.place from unnest(${columns.map(({ id }) => id)}::uuid[]) with ordinality as w (id, place)
        join fields d on d.id = w.id),
    v as (
      select a.place as owner, d.place as field,
        v.value_text, v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref
      from a join asset_field_values v on v.asset_id = a.id join d on d.id = v.field_id
      where d.mirrors_column is null and ${readableFields(caller, 'asset')} and ${appliesToAsset}
        and ${disclosedReference(caller, sql`v.value_ref`)}
      union all
      select a.place, d.place, nullif(case d.mirrors_column when 'title' then a.title else a.description end, ''),
        null, null, null, null, null
      from a cross join d
      where d.mirrors_column is not null and ${readableFields(caller, 'asset')} and ${appliesToAsset})
    select files.*, cells.*
    from (select json_agg(a.place order by a.place) as shown, json_agg(a.file_name order by a.place) as names,
        json_agg(a.file_hash order by a.place) as hashes from a) files,
      (select json_agg(v.owner) as owners, json_agg(v.field) as fields, ${valueArrays} from v) cells`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate has no row');
  return row;
}

/** Returns the cells of the files of a page. */
function rowsOf(ids: readonly string[], columns: readonly FieldColumn[], page: PageRow): string[][] {
  const { shown, names, hashes, owners, fields } = page;
  const rows = new Map<number, string[]>();
  for (const [at, place] of (shown ?? []).entries()) {
    const fixed = [ids[place - 1] ?? '', neutralised(names?.[at] ?? ''), hashes?.[at] ?? ''];
    rows.set(place, [...fixed, ...columns.map(() => '')]);
  }
  for (const [at, owner] of (owners ?? []).entries()) {
    const place = (fields?.[at] ?? 0) - 1;
    const column = columns[place];
    const cells = rows.get(owner);
    const value = valueAt(page, at);
    if (column === undefined || value === null || cells === undefined) continue;
    const text = rulesOf[column.type].cells.write(value);
    // Spreadsheets read a negative number as a number, not as a formula.
    cells[fixedColumns.length + place] = value.kind === 'num' ? text : neutralised(text);
  }
  return [...rows.values()];
}

/** Assets per statement: few, so that what is read of them is collected while it is young. */
const AT_ONCE = 200;

/** Yields the rows of some assets. What the caller may no longer see when they are read is left out. */
async function* readRows(
  db: Database,
  caller: SignedIn,
  ids: Buffer,
  fields: readonly FieldColumn[],
): AsyncIterable<string[][]> {
  for (let at = 0; at < ids.length; at += AT_ONCE * UUID_BYTES) {
    const wanted = idsIn(ids.subarray(at, at + AT_ONCE * UUID_BYTES));
    yield rowsOf(wanted, fields, await readPage(db, caller, wanted, fields));
  }
}

/** `GET /assets/export.csv`, streamed (CSV-1 to CSV-4). */
export const exportCsv = handle(exportAssets, async ({ db, log }, { caller, query, http }) => {
  const fields = await readColumns(db, caller);
  const ids = http.isHead ? Buffer.alloc(0) : await selectIds(db, caller, query);
  return sendCsv(log, http, {
    name: 'metadata',
    bom: query.bom === true,
    columns: [...fixedColumns, ...fields.map(columnName)],
    rows: readAhead(readRows(db, caller, ids, fields)),
  });
});
