import mysql from 'mysql2';
import { readDump } from '../../../src/operate/resourcespace/dump.ts';
import { tables } from '../../../src/operate/resourcespace/source.ts';
import { freePort } from '../../support/programs.ts';
import { greeting, textColumn } from '../mysql-server.ts';

type Served = Parameters<NonNullable<Parameters<typeof mysql.createServer>[0]>>[0];
type Cells = readonly (string | null)[];

/** The rows of each table, with the columns that the import reads and the table has. */
export interface Rows {
  columns: readonly string[];
  rows: Cells[];
}

/** Gathers the rows of a source by table. */
export async function gather(
  source: AsyncIterable<{ table: string; columns: readonly string[]; rows: readonly Cells[] }>,
): Promise<Map<string, Rows>> {
  const found = new Map<string, Rows>();
  for await (const { table, columns, rows } of source) {
    const wanted: readonly string[] = Object.entries(tables).find(([name]) => name === table)?.[1] ?? [];
    const kept = wanted.filter((column) => columns.includes(column));
    const known = found.get(table) ?? { columns: kept, rows: [] };
    for (const row of rows) known.rows.push(kept.map((column) => row[columns.indexOf(column)] ?? null));
    found.set(table, known);
  }
  return found;
}

/** Reads a dump with the reader of the import. */
export function gatherDump(path: string): Promise<Map<string, Rows>> {
  return gather(readDump(path, tables));
}

/** Writes rows of texts with these columns, as many packets. */
function writeRows(connection: Served, names: readonly string[], rows: readonly Cells[]): void {
  connection.writeTextResult(
    rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]))),
    names.map(textColumn),
  );
}

/** Answers the queries of the import from the rows of a dump. */
function answer(connection: Served, found: ReadonlyMap<string, Rows>, text: string): void {
  // Packets of a response are numbered from 1, and those of the next request from 0.
  connection.sequenceId = 1;
  const [, list = '', table = ''] = /^select (`.+`) from `(\w+)`$/.exec(text) ?? [];
  const known = found.get(table);
  if (/^(set|start transaction) /.test(text)) connection.writeOk();
  else if (text.includes('information_schema.columns')) {
    const all = [...found].flatMap(([name, { columns }]) => columns.map((column) => [name, column]));
    writeRows(connection, ['table_name', 'column_name'], all);
  } else if (known === undefined)
    connection.writeError({ code: 1146, message: `Table 'rs.${table}' doesn't exist` });
  else {
    const names = list.replaceAll('`', '').split(', ');
    const places = names.map((name) => known.columns.indexOf(name));
    writeRows(
      connection,
      names,
      known.rows.map((row) => places.map((at) => row[at] ?? null)),
    );
  }
  connection.sequenceId = 0;
}

/** A MySQL server with the rows of a dump; returns its port. */
export async function serveDump(path: string): Promise<{ port: number; close(): Promise<void> }> {
  const found = await gatherDump(path);
  const server = mysql.createServer((connection) => {
    connection.on('error', () => {});
    connection.serverHandshake({
      ...greeting,
      authCallback: (_: unknown, done: (_: null, fault: null) => void) => {
        done(null, null);
        connection.sequenceId = 0;
      },
    });
    // `set` arrives as if it were to be prepared.
    for (const event of ['query', 'stmt_prepare'])
      connection.on(event, (text: string) => answer(connection, found, text));
  });
  const port = await freePort();
  server.listen(port);
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
