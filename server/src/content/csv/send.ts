import { Readable } from 'node:stream';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';

export interface CsvTable {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** Whether the file begins with a byte order mark. */
  readonly bom: boolean;
  readonly columns: readonly string[];
  /**
   * The cells of the rows, some rows at a time; texts that people wrote are neutralised (CSV-4). Not read for a request of
   * the head.
   */
  readonly rows: AsyncIterable<string[][]>;
}

// Spreadsheets that expect another separator must not split a cell.
const format = { quoted_match: /[;\t]/ };

/** Yields a table as text. Rows are written together: a chunk for each would be a write to the socket for each. */
async function* writeCsv(log: Deps['log'], { name, bom, columns, rows }: CsvTable): AsyncGenerator<string> {
  try {
    const { stringify } = await import('csv-stringify/sync');
    yield stringify([[...columns]], { ...format, bom });
    for await (const some of rows) if (some.length > 0) yield stringify(some, format);
  } catch (error) {
    log.error({ err: error }, `${name}.csv could not be written`);
    throw error;
  }
}

/** Returns the response that streams a table as CSV. */
export async function sendCsv(log: Deps['log'], { isHead }: Pick<HttpFacts, 'isHead'>, table: CsvTable) {
  return {
    status: 200 as const,
    body: Readable.from(isHead ? [] : writeCsv(log, table), { objectMode: false }),
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${table.name}.csv"`,
      'cache-control': 'no-store',
    },
  };
}
