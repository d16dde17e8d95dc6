import { isUtf8 } from 'node:buffer';
import { type Connection, createConnection, type TypeCast } from 'mysql2';
import { ConfigError } from '../../../core/config.ts';
import { sentenceOfError } from '../../../platform/faults/worded-errors.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import type { MysqlAddress } from './mysql-address.ts';
import { type Column, columns, type SourceRow } from './source.ts';

const windows1252 = new TextDecoder('windows-1252');

/**
 * Decodes stored bytes. Old installations keep UTF-8 in columns declared as latin1, so the bytes are more reliable
 * than the declaration.
 */
function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : windows1252.decode(bytes);
}

/** How many rows are read ahead. */
const ROWS_AHEAD = 500;

export const asText: TypeCast = (field) => {
  const bytes = field.buffer();
  return bytes === null ? null : textOf(bytes);
};

export function connect(address: MysqlAddress): Connection {
  const { host, port, user, password, database, socketPath, tls } = address;
  const connection = createConnection({
    ...(socketPath === null ? { host, port } : { socketPath }),
    user,
    database,
    connectTimeout: 10_000,
    ...(password === null ? {} : { password }),
    ...(tls ? { ssl: {} } : {}),
  });
  // The running query reports a broken connection; without a listener the error would end the process.
  connection.on('error', () => {});
  return connection;
}

/** Streams the rows of a query. The driver reports a connection that is lost meanwhile to the connection alone, so that the stream would wait forever. */
export function streamRows(connection: Connection, sql: string): AsyncIterable<(string | null)[]> {
  const rows = connection
    .query({ sql, rowsAsArray: true, typeCast: asText })
    .stream({ highWaterMark: ROWS_AHEAD });
  const fail = (error: Error) => rows.destroy(error);
  connection.on('error', fail);
  rows.once('close', () => connection.off('error', fail));
  return rows;
}

/** Returns an error of the driver as a ConfigError that names the server. */
export function mysqlFault({ socketPath, host, port }: MysqlAddress, error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  const place = socketPath ?? `${host}:${port}`;
  return new ConfigError(sentence('MySQL at {place}: {reason}', { place, reason: sentenceOfError(error) }));
}

async function columnsOf(connection: Connection, table: string): Promise<Column[]> {
  const [, fields] = await connection.promise().query(`select * from ${table} limit 0`);
  const there = new Set(fields.map(({ name }) => name.toLowerCase()));
  for (const needed of ['username', 'password'] as const) {
    if (!there.has(needed))
      throw new ConfigError(sentence('the table {table} has no column {column}', { table, column: needed }));
  }
  return columns.filter((name) => there.has(name));
}

/**
 * Streams the rows of a user table of any size, ordered by ref, in a read-only transaction. Throws every error as a
 * ConfigError of one line.
 */
export async function* readMysql(address: MysqlAddress, tableName: string): AsyncGenerator<SourceRow> {
  const connection = connect(address);
  const table = connection.escapeId(tableName);
  try {
    // Requests unconverted bytes (see textOf), and the timestamp `created` in UTC.
    await connection.promise().query("set character_set_results = null, time_zone = '+00:00'");
    await connection.promise().query('start transaction read only');
    const names = await columnsOf(connection, table);
    const order = names.includes('ref') ? ' order by ref' : '';
    let read = 0;
    for await (const row of streamRows(connection, `select ${names.join(', ')} from ${table}${order}`)) {
      read += 1;
      const fields = new Map(names.map((name, at) => [name, row[at] ?? null]));
      yield { place: fields.has('ref') ? `ref ${fields.get('ref')}` : `row ${read}`, fields };
    }
  } catch (error) {
    throw mysqlFault(address, error);
  } finally {
    connection.destroy();
  }
}
