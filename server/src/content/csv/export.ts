import { exportAssets } from '@vitrine/contract/asset-csv';
import type { QueryOf } from '@vitrine/contract/operation';
import { sql } from 'kysely';
import { shownAssets } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { appliesToAsset, disclosedReference, readableFields } from '../../access/field-values.ts';
import { handle } from '../../core/handle.ts';
import type { Columns, Database } from '../../platform/database/pool.ts';
import { narrowing } from '../assets/list.ts';
import { withoutProfilePictures } from '../assets/profile-pictures.ts';
import { rulesOf } from '../fields/types/registry.ts';
import { storedIn, type ValueColumns } from '../fields/values/typed-value.ts';
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

type AssetRow = Columns<'assets', 'id' | 'file_name' | 'file_hash'>;

interface ValueRow extends ValueColumns {
  asset_id: string;
  field_id: string;
}

/** Reads the values of these assets that the caller may read; an empty mirrored column is not a value. */
async function readValues(
  db: Database,
  caller: SignedIn,
  ids: readonly string[],
  fields: readonly FieldColumn[],
): Promise<ValueRow[]> {
  const stored = fields.filter(({ mirrors_column }) => mirrors_column === null).map(({ id }) => id);
  const mirrors = fields.filter(({ mirrors_column }) => mirrors_column !== null).map(({ id }) => id);
  const readable = sql`${readableFields(caller, 'asset')} and ${appliesToAsset}`;
  const { rows } = await sql<ValueRow>`
    select v.asset_id, v.field_id, v.value_text, v.value_num, v.value_date, v.value_offset, v.value_options, v.value_ref
    from assets a join asset_field_values v on v.asset_id = a.id join fields d on d.id = v.field_id
    where a.id = any(${ids}::uuid[]) and d.id = any(${stored}::uuid[]) and ${readable}
      and ${disclosedReference(caller, sql`v.value_ref`)}
    union all
    select a.id, d.id, nullif(case d.mirrors_column when 'title' then a.title else a.description end, ''),
      null, null, null, null, null
    from assets a join fields d on d.id = any(${mirrors}::uuid[])
    where a.id = any(${ids}::uuid[]) and ${readable}`.execute(db);
  return rows;
}

/** Assets per statement. */
const AT_ONCE = 1000;

/** Yields the cells of each row. What the caller may no longer see when its row is written is left out. */
async function* cellsOf(
  db: Database,
  caller: SignedIn,
  ids: Buffer,
  fields: readonly FieldColumn[],
): AsyncIterable<string[]> {
  const places = new Map(fields.map(({ id }, at) => [id, at]));
  for (let at = 0; at < ids.length; at += AT_ONCE * UUID_BYTES) {
    const wanted = idsIn(ids.subarray(at, at + AT_ONCE * UUID_BYTES));
    const { rows } = await sql<AssetRow>`select a.id, a.file_name, a.file_hash from assets a
      where a.id = any(${wanted}::uuid[]) and ${shownAssets(caller)}`.execute(db);
    const shown = new Map(rows.map((row) => [row.id, row]));
    const texts = new Map(rows.map(({ id }) => [id, fields.map(() => '')]));
    for (const row of await readValues(db, caller, [...shown.keys()], fields)) {
      const place = places.get(row.field_id);
      const field = place === undefined ? undefined : fields[place];
      const value = storedIn(row);
      const cells = texts.get(row.asset_id);
      if (place === undefined || field === undefined || value === null || cells === undefined) continue;
      const text = rulesOf[field.type].cells.write(value);
      // A negative number is no formula.
      cells[place] = value.kind === 'num' ? text : neutralised(text);
    }
    for (const id of wanted) {
      const row = shown.get(id);
      if (row !== undefined)
        yield [id, neutralised(row.file_name), row.file_hash ?? '', ...(texts.get(id) ?? [])];
    }
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
    rows: cellsOf(db, caller, ids, fields),
  });
});
