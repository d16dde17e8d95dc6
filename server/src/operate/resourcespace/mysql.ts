import { ConfigError } from '../../core/config.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { asText, connect, mysqlFault, streamRows } from '../import/users/mysql.ts';
import type { MysqlAddress } from '../import/users/mysql-address.ts';
import type { SourceRows, Wanted } from './source.ts';

/** How many rows are passed on together. */
const BATCH = 500;

/**
 * Streams the wanted columns of tables from a running MySQL or MariaDB, in one read-only transaction. Throws ConfigErrors of one
 * line.
 */
export async function* readMysqlTables(address: MysqlAddress, tables: Wanted): AsyncGenerator<SourceRows> {
  const connection = connect(address);
  try {
    // Requests unconverted bytes, and times in UTC.
    await connection.promise().query("set character_set_results = null, time_zone = '+00:00'");
    await connection.promise().query('set transaction isolation level repeatable read');
    await connection.promise().query('start transaction read only, with consistent snapshot');
    const [found] = await connection.promise().query({
      sql: 'select lower(table_name), lower(column_name) from information_schema.columns where table_schema = database()',
      rowsAsArray: true,
      typeCast: asText,
    });
    // The driver types rows by the form of the query, which is a list of texts here.
    const present = Map.groupBy(found as unknown as [string, string][], ([table]) => table);
    if (!present.has('resource'))
      throw new ConfigError(sentence('the database has no table resource; it is no ResourceSpace'));
    for (const [table, wanted] of Object.entries(tables)) {
      const names = new Set(present.get(table)?.map(([, column]) => column));
      const columns = wanted.filter((column) => names.has(column));
      if (columns.length === 0) continue;
      const list = columns.map((column) => connection.escapeId(column)).join(', ');
      const rows = streamRows(connection, `select ${list} from ${connection.escapeId(table)}`);
      let batch: (string | null)[][] = [];
      for await (const row of rows) {
        batch.push(row);
        if (batch.length < BATCH) continue;
        yield { table, columns, rows: batch };
        batch = [];
      }
      if (batch.length > 0) yield { table, columns, rows: batch };
    }
  } catch (error) {
    throw mysqlFault(address, error);
  } finally {
    connection.destroy();
  }
}
