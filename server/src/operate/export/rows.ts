import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import type { ExportedRows } from './bag/description.ts';
import type { Entry } from './bag/entry.ts';
import { exportedTables } from './tables.ts';

/** Rows fetched at a time; some have texts of 100,000 characters. */
const FETCHED = 100;

/** Returns the path of the rows of a table in an export. */
export function rowsPath(table: string): string {
  return `data/rows/${table}.jsonl`;
}

interface TableShape {
  name: string;
  columns: string[];
  key: string[];
}

/** Returns the columns of the exported tables, without computed ones and those that a restore makes anew, and their keys. */
export async function readShapes(tx: Tx): Promise<TableShape[]> {
  const { rows } = await sql<TableShape>`
    select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns,
      (select array_agg(k.attname::text order by x.place) from pg_index i,
          unnest(i.indkey::int2[]) with ordinality x (num, place), pg_attribute k
        where i.indrelid = c.oid and i.indisprimary and k.attrelid = c.oid and k.attnum = x.num) as key
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relname = any(${[...exportedTables.keys()]}::text[])
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.oid, c.relname order by c.relname`.execute(tx);
  return rows.map((shape) => ({
    ...shape,
    columns: shape.columns.filter(
      (column) => exportedTables.get(shape.name)?.restored?.[column] === undefined,
    ),
  }));
}

/** The statement that reads the rows of a table as JSON, in the order of its key. */
export function rowsQuery({ name, columns, key }: TableShape): string {
  const { where = 'true', instead = {} } = exportedTables.get(name) ?? {};
  const list = columns.map((column) => {
    const own = instead[column];
    return own === undefined ? `"${column}"` : `${own} as "${column}"`;
  });
  const order = key.map((column) => `r."${column}"`).join(', ');
  return `select row_to_json(r)::text as line from (select ${list.join(', ')} from "${name}" where ${where}) r order by ${order}`;
}

async function* linesOf(tx: Tx, shape: TableShape, onRow: () => void): AsyncGenerator<string> {
  const cursor = sql.id(`exported_${shape.name}`);
  await sql`declare ${cursor} no scroll cursor for ${sql.raw(rowsQuery(shape))}`.execute(tx);
  for (;;) {
    const { rows } = await sql<{ line: string }>`fetch ${sql.lit(FETCHED)} from ${cursor}`.execute(tx);
    for (const { line } of rows) {
      onRow();
      yield `${line}\n`;
    }
    if (rows.length < FETCHED) break;
  }
  await sql`close ${cursor}`.execute(tx);
}

/** The tables of an export, whose rows are counted as they are written. */
export async function openRows(tx: Tx): Promise<{ tables: ExportedRows[]; entries(): Iterable<Entry> }> {
  const shapes = await readShapes(tx);
  const tables = shapes.map(({ name, columns }) => ({ name, columns, rows: 0 }));
  return {
    tables,
    *entries() {
      for (const [at, shape] of shapes.entries()) {
        const open = () =>
          linesOf(tx, shape, () => {
            const table = tables[at];
            if (table !== undefined) table.rows += 1;
          });
        yield { key: `1 rows/${shape.name}`, path: rowsPath(shape.name), content: { kind: 'stream', open } };
      }
    },
  };
}

/** Reads the last numbers that sequences of exported tables have given. */
export async function readSequences(tx: Tx): Promise<{ name: string; value: string }[]> {
  const { rows } = await sql<{ name: string; value: string }>`
    select s.sequencename::text as name, s.last_value::text as value
    from pg_sequences s join pg_class q on q.relname = s.sequencename and q.relnamespace = 'public'::regnamespace
      join pg_depend d on d.objid = q.oid and d.deptype in ('i', 'a')
      join pg_class c on c.oid = d.refobjid
    where s.schemaname = 'public' and s.last_value is not null
      and c.relname = any(${[...exportedTables.keys()]}::text[]) order by 1`.execute(tx);
  return rows;
}
