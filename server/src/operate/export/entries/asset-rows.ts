import { type RawBuilder, sql } from 'kysely';
import { type Extent, exportedAssets, exportedFields } from '../../../access/exports.ts';
import { withOffset } from '../../../content/fields/values/moments.ts';
import { type Database, timestampOfJson } from '../../../platform/database/pool.ts';
import type { Named } from '../bag/names.ts';

/** Rows read at a time. */
export const PAGE = 200;

/** Whether the id of another row of a table begins like that of `row`, as an index scan. */
export function isAlike(table: string, row: string): RawBuilder<boolean> {
  const id = sql.ref(`${row}.id`);
  return sql<boolean>`exists (select from ${sql.table(table)} other where other.id <> ${id}
    and other.id >= (left(${id}::text, 8) || '-0000-0000-0000-000000000000')::uuid
    and other.id <= (left(${id}::text, 8) || '-ffff-ffff-ffff-ffffffffffff')::uuid)`;
}

/** A value of a field, for people and other programs. */
export interface ExportedValue {
  code: string;
  label: string;
  type: string;
  /** The property of files that the field is about, or its code. */
  source: string;
  /** The text, number, date or labels. */
  values: string[];
  /** The labels from the root to a term of a tree. */
  path?: string[];
}

interface ValueRow {
  code: string;
  label: string;
  type: string;
  source: string;
  text: string | null;
  num: number | null;
  date: string | null;
  offset: number | null;
  ref: string | null;
  labels: string[] | null;
  path: string[] | null;
}

/** A file that an asset had before. */
interface VersionRow {
  number: number;
  hash: string;
  bytes: number;
  note: string;
  file_name: string;
}

interface SubtitleRow {
  lang: string;
  hash: string;
  bytes: number;
}

export interface AssetRow extends Named {
  title: string;
  description: string;
  file_name: string;
  file_hash: string;
  size_bytes: number;
  tags: string[];
  values: ExportedValue[];
  versions: VersionRow[];
  subtitles: SubtitleRow[];
  film: { hash: string; bytes: number; extension: string | null } | null;
}

function wordsOf(value: ValueRow): string[] {
  if (value.labels !== null) return value.labels;
  if (value.date !== null) {
    const instant = withOffset(timestampOfJson(value.date), value.offset);
    return [value.type === 'date' ? instant.slice(0, 10) : instant];
  }
  const word = value.text ?? value.num?.toString() ?? value.ref;
  return word === null || word === undefined || word === '' ? [] : [word];
}

function showValue(value: ValueRow): ExportedValue {
  const { code, label, type, source, path } = value;
  const values = wordsOf(value);
  return { code, label, type, source, values, ...(path === null ? {} : { path }) };
}

/** The values of `v`, which belongs to the subject that the caller joins, as JSON. */
export function valuesColumn(extent: Extent, kind: 'asset' | 'collection'): RawBuilder<ValueRow[]> {
  const table = sql.table(kind === 'asset' ? 'asset_field_values' : 'collection_field_values');
  const subject = kind === 'asset' ? sql`v.asset_id = a.id` : sql`v.collection_id = c.id`;
  return sql<
    ValueRow[]
  >`(select coalesce(json_agg(json_build_object('code', d.code, 'label', d.label, 'type', d.type,
      'source', coalesce(nullif(d.extraction_source, ''), d.mirrors_column, d.code), 'text', v.value_text,
      'num', v.value_num, 'date', v.value_date, 'offset', v.value_offset, 'ref', v.value_ref,
      'labels', (select json_agg(coalesce(t.label, x.value) order by x.place)
        from unnest(coalesce(v.value_options, case when d.type in ('select', 'tree') then array[v.value_text] end))
          with ordinality x (value, place)
        left join field_terms t on t.field_id = d.id and t.value = x.value),
      'path', case when d.type = 'tree' then (select json_agg(above.label order by x.place)
        from field_terms t, unnest(t.path) with ordinality x (value, place)
        join field_terms above on above.field_id = d.id and above.value = x.value
        where t.field_id = d.id and t.value = v.value_text) end)
    order by d.display_order, d.code), '[]')
    from ${table} v join fields d on d.id = v.field_id
    where ${subject} and d.mirrors_column is null and ${exportedFields(extent, kind)})`;
}

/** Converts values that `valuesColumn` has read. */
export function showValues(rows: readonly ValueRow[]): ExportedValue[] {
  return rows.map(showValue).filter(({ values }) => values.length > 0);
}

/** Returns the assets `a` of an export that meet a condition. */
async function selectAssets(db: Database, extent: Extent, which: RawBuilder<unknown>): Promise<AssetRow[]> {
  const { rows } = await sql<Omit<AssetRow, 'values'> & { values: ValueRow[] }>`
    select a.id, ${isAlike('assets', 'a')} as is_alike, a.created_at, a.title, a.description, a.file_name, a.file_hash,
      f.size_bytes, array(select t.value from asset_tags t where t.asset_id = a.id order by t.position, t.value) as tags,
      ${valuesColumn(extent, 'asset')} as values,
      (select coalesce(json_agg(json_build_object('number', v.number, 'hash', v.file_hash, 'bytes', o.size_bytes,
          'note', v.note, 'file_name', v.file_name) order by v.number), '[]')
        from asset_versions v join files o on o.hash = v.file_hash
        where v.asset_id = a.id and v.file_hash <> a.file_hash) as versions,
      (select coalesce(json_agg(json_build_object('lang', s.lang, 'hash', s.file_hash, 'bytes', s.size_bytes)
          order by s.lang collate "C"), '[]')
        from subtitles s where s.asset_id = a.id) as subtitles,
      (select json_build_object('hash', m.hash, 'bytes', m.size_bytes, 'extension', m.extension)
        from files m where m.hash = a.film_hash) as film
    from assets a join files f on f.hash = a.file_hash
    where ${exportedAssets(extent)} and ${which}`.execute(db);
  return rows.map((row) => ({ ...row, values: showValues(row.values) }));
}

/** Yields the assets of an export in the order of their ids. */
export async function* readAssets(db: Database, extent: Extent): AsyncGenerator<AssetRow> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await selectAssets(db, extent, sql`a.id > ${after} order by a.id limit ${PAGE}`);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.id;
  }
}

/** Returns one asset of the library with all its values; null if there is none, or it is in the trash. */
export async function readAsset(db: Database, id: string): Promise<AssetRow | null> {
  const rows = await selectAssets(db, { kind: 'library' }, sql`a.id = ${id} and a.deleted_at is null`);
  return rows[0] ?? null;
}
