import { pipeline } from 'node:stream/promises';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';

export interface CsvTable {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** Whether the file begins with a byte order mark. */
  readonly bom: boolean;
  readonly columns: readonly string[];
  /** The cells of each row; texts that people wrote are neutralised (CSV-4). Not read for a request of the head. */
  readonly rows: AsyncIterable<string[]>;
}

async function* none(): AsyncGenerator<string[]> {}

/** Returns the response that streams a table as CSV. */
export async function sendCsv(
  log: Deps['log'],
  { isHead }: Pick<HttpFacts, 'isHead'>,
  { name, bom, columns, rows }: CsvTable,
) {
  const { stringify } = await import('csv-stringify');
  const csv = stringify({
    bom,
    header: true,
    columns: [...columns],
    // Spreadsheets that expect another separator must not split a cell.
    quoted_match: /[;\t]/,
  });
  pipeline(isHead ? none() : rows, csv).catch((error: unknown) => {
    // The client closed the connection.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    log.error({ err: error }, `${name}.csv could not be written`);
  });
  return {
    status: 200 as const,
    body: csv,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'no-store',
    },
  };
}
