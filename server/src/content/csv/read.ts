import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { mostCsvRows } from '@vitrine/contract/asset-csv';
import { encodingOf } from '../../media/text-encoding.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** A row of a file; `row` counts as spreadsheets do. */
export interface CsvRow {
  readonly row: number;
  readonly cells: readonly string[];
}

/** How much of a file its encoding and its separator are told from. */
const HEAD = 64 * 1024;

/** Returns the encoding of a whole file, in which the first character beyond ASCII may be far behind. */
function encodingOfAll(bytes: Buffer): string {
  const encoding = encodingOf(bytes.subarray(0, HEAD));
  if (encoding !== 'utf-8' || isUtf8(bytes)) return encoding;
  const at = bytes.findIndex((byte) => byte >= 0x80);
  return encodingOf(bytes.subarray(at, at + HEAD));
}

const separators = [',', ';', '\t'] as const;

/** Returns the separator that `sep=` names as Excel writes it, else the one that occurs most often in the first line. */
function separatorOf(head: string): string {
  const line = head.trimStart().split(/[\r\n]/, 1)[0] ?? '';
  const named = /^sep=([,;\t|])/i.exec(line)?.[1];
  if (named !== undefined) return named;
  const counted = separators.map((separator) => ({ separator, times: line.split(separator).length }));
  return counted.reduce((most, candidate) => (candidate.times > most.times ? candidate : most)).separator;
}

function* decoded(bytes: Buffer, decoder: TextDecoder): Iterable<string> {
  for (let at = 0; at < bytes.length; at += HEAD)
    yield decoder.decode(bytes.subarray(at, at + HEAD), { stream: true });
  yield decoder.decode();
}

/** A file of comma-separated values, as it was received. */
export interface CsvFile {
  readonly separator: string;
  rows(): AsyncIterable<CsvRow>;
}

async function* readRows(
  bytes: Buffer,
  encoding: string,
  separator: string,
  mostRows: number,
): AsyncIterable<CsvRow> {
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
  });
  // Every error reaches the loop below through the parser.
  pipeline(decoded(bytes, new TextDecoder(encoding)), parser, () => {});
  const records: AsyncIterable<string[]> = parser;
  let row = 0;
  let skipped = 0;
  try {
    for await (const cells of records) {
      // The line that tells Excel the separator is not shown as a row.
      if (row === 0 && skipped === 0 && cells[0]?.toLowerCase() === 'sep=') {
        skipped = 1;
        continue;
      }
      row += 1;
      if (row > mostRows + 1) throw refuse('csv-too-many-rows', { max: mostRows });
      if (cells.some((cell) => cell !== '')) yield { row, cells };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Rows that were read before are lost with the stream.
    const read = 'records' in error && typeof error.records === 'number' ? error.records : row + skipped;
    throw refuse('csv-unreadable', {
      row: read - skipped + 1,
      reason: 'a quotation mark is opened here or below and never closed',
    });
  }
}

/** Opens a file in any usual encoding, with the separators and line ends that spreadsheets write (CSV-6). */
export async function openCsv(path: string, mostRows: number = mostCsvRows): Promise<CsvFile> {
  const bytes = await readFile(path);
  const encoding = encodingOfAll(bytes);
  const separator = separatorOf(new TextDecoder(encoding).decode(bytes.subarray(0, HEAD)));
  return { separator, rows: () => readRows(bytes, encoding, separator, mostRows) };
}
