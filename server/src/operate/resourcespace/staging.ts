import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import { lockImport } from '../imports/lock.ts';
import { type SourceRows, type TableName, tables } from './source.ts';

/**
 * The earlier system's tables as temporary tables of one connection to the library's database. They end with the
 * connection, so that nothing of them is left after a kill, and a dump of any size needs constant memory.
 */
export interface Staging {
  /** Returns the rows of a statement over the tables `rs_...`. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Yields the rows of a statement in batches, so that any number of them needs constant memory. */
  batches<Row extends object>(text: string, size: number): AsyncGenerator<Row[]>;
  /**
   * Does what `batches` does, but runs the statement for each batch, so that the first one comes at once. The statement
   * selects rows with a `ref` above $1, in their order, and at most $2 of them.
   */
  pages<Row extends { ref: number }>(text: string, size: number): AsyncGenerator<Row[]>;
  close(): Promise<void>;
}

/** Columns with numbers; a text that is none reads as null. All other columns are texts. */
const numbers = new Set(
  [
    'ref',
    'resource',
    'resource_type',
    'archive',
    'access',
    'created_by',
    'node',
    'parent',
    'user',
    'usergroup',
    'field_constraint',
  ].concat(
    [
      'type',
      'order_by',
      'global',
      'required',
      'resource_type_field',
      'active',
      'filter',
      'filter_rule',
      'savedsearch',
    ],
    [
      'node_condition',
      'filter_condition',
      'collection',
      'sortorder',
      'rating',
      'hide',
      'ref_parent',
      'collection_ref',
      'resource_ref',
    ],
    [
      'user_ref',
      'approved',
      'usergroup',
      'public',
      'status',
      'related',
      'code',
      'license',
      'consent',
      'annotation',
      'tab',
    ],
    [
      'no_file',
      'user_rating',
      'user_rating_count',
      'user_rating_total',
      'keywords_index',
      'advanced_search',
      'upload',
    ],
    [
      'approved_declined_by',
      'hide_when_uploading',
      'read_only',
      'search_filter_id',
      'search_filter_o_id',
      'outbound',
    ],
    ['file_size', 'geo_lat', 'geo_long', 'x', 'y', 'width', 'height', 'page'],
  ),
);

/** Columns that hold texts although another table has numbers under the same name. */
const texts = new Set([
  'resource_log.type',
  'collection_savedsearch.archive',
  'site_text.page',
  'user_preferences.parameter',
]);

function isNumber(table: string, column: string): boolean {
  return numbers.has(column) && !texts.has(`${table}.${column}`);
}

function cell(value: string | null | undefined, asNumber: boolean): string {
  if (value === null || value === undefined) return '\\N';
  if (asNumber) return /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(value) ? value : '\\N';
  const stored = value.includes('\0') ? value.replaceAll('\0', '') : value;
  if (!/[\\\n\r\t]/.test(stored)) return stored;
  return stored
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
}

const indexes: readonly (readonly [TableName, string])[] = [
  ['resource', 'ref'],
  ['node', 'ref'],
  ['node', 'resource_type_field'],
  ['resource_node', 'resource'],
  ['resource_node', 'node'],
  ['resource_data', 'resource'],
  ['resource_custom_access', 'resource'],
  ['resource_alt_files', 'resource'],
  ['resource_log', 'resource'],
  ['collection_resource', 'collection'],
  ['comment', 'resource_ref'],
  ['annotation', 'resource'],
  ['user_rating', 'ref'],
];

/** Creates the empty tables of a connection. */
export async function createTables(client: pg.PoolClient): Promise<void> {
  for (const [table, columns] of Object.entries(tables)) {
    const declared = columns.map(
      (column) => `"${column}" ${isNumber(table, column) ? 'double precision' : 'text'}`,
    );
    await client.query(`create temporary table rs_${table} (${declared.join(', ')})`);
  }
}

function isTableName(name: string): name is TableName {
  return Object.hasOwn(tables, name);
}

/** Characters of the rows that are sent together: sending a single row costs more than reading it. */
const SENT_TOGETHER = 64 * 1024;

/** Copies rows; columns that are not read are left out. */
async function copyRows(client: pg.PoolClient, { table, columns, rows }: SourceRows): Promise<void> {
  if (!isTableName(table)) return;
  const kept = (tables[table] as readonly string[]).flatMap((name) => {
    const at = columns.indexOf(name);
    return at === -1 ? [] : [{ name, at, asNumber: isNumber(table, name) }];
  });
  if (kept.length === 0) return;
  const names = kept.map(({ name }) => `"${name}"`).join(', ');
  const target = client.query(copyFrom(`copy rs_${table} (${names}) from stdin`));
  const pieces = function* () {
    let piece = '';
    for (const row of rows) {
      piece += `${kept.map(({ at, asNumber }) => cell(row[at], asNumber)).join('\t')}\n`;
      if (piece.length < SENT_TOGETHER) continue;
      yield piece;
      piece = '';
    }
    if (piece !== '') yield piece;
  };
  await pipeline(Readable.from(pieces(), { objectMode: true }), target);
}

async function addIndexes(client: pg.PoolClient): Promise<void> {
  for (const [table, column] of indexes) await client.query(`create index on rs_${table} ("${column}")`);
  for (const table of Object.keys(tables)) await client.query(`analyze rs_${table}`);
}

/** Turns the texts of installations before version 10, which had a table of their own, into nodes. */
async function addOldValues(client: pg.PoolClient): Promise<void> {
  await client.query(`with old as (
      select resource, resource_type_field, value, -row_number() over () as ref from rs_resource_data d
      where coalesce(value, '') <> '' and not exists (select from rs_resource_node x join rs_node n on n.ref = x.node
        where x.resource = d.resource and n.resource_type_field = d.resource_type_field)
    ), nodes as (
      insert into rs_node (ref, resource_type_field, name, active) select ref, resource_type_field, value, 1 from old)
    insert into rs_resource_node (resource, node) select resource, ref from old`);
}

/** Reads a whole source into temporary tables. */
export async function openStaging(pool: pg.Pool, source: AsyncIterable<SourceRows>): Promise<Staging> {
  const client = await pool.connect();
  // The connection is not returned to the pool, so that its temporary tables end with it.
  const close = async () => client.release(true);
  let statements = 0;
  try {
    await lockImport(client, advisoryLocks.resourceSpaceImport, 'ResourceSpace');
    // A step may take long on a large installation.
    await client.query('set statement_timeout = 0');
    await createTables(client);
    for await (const part of source) await copyRows(client, part);
    await addIndexes(client);
    await addOldValues(client);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      return (await client.query<Row>(text, [...values])).rows;
    },
    async *batches<Row extends object>(text: string, size: number) {
      statements += 1;
      const name = `rs_cursor_${statements}`;
      await client.query(`declare ${name} cursor with hold for ${text}`);
      for (;;) {
        const { rows } = await client.query<Row>(`fetch ${size} from ${name}`);
        if (rows.length === 0) break;
        yield rows;
      }
      await client.query(`close ${name}`);
    },
    async *pages<Row extends { ref: number }>(text: string, size: number) {
      statements += 1;
      const name = `rs_pages_${statements}`;
      let last: number | undefined = 0;
      while (last !== undefined) {
        const { rows }: { rows: Row[] } = await client.query<Row>({ name, text, values: [last, size] });
        if (rows.length > 0) yield rows;
        last = rows.at(-1)?.ref;
      }
    },
    close,
  };
}
