import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { encodingOf } from '../../media/text-encoding.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';

/** A row of a file; `row` counts as spreadsheets do. Empty cells at its end are left out. */
export interface CsvRow {
  readonly row: number;
  readonly cells: readonly string[];
}

/** A file of comma-separated values whose separator is known. */
export interface ParsedFile {
  readonly separator: string;
  /** Yields the rows, some at a time. */
  rows(): AsyncIterable<readonly CsvRow[]>;
}

/** How much of a file its encoding and its separator are told from. */
const HEAD = 64 * 1024;
/** Bytes of a row; more is a quotation mark that is never closed. */
const LONGEST_ROW = 4 * 1024 * 1024;

/** Yields the bytes of a file from a place on, in one buffer that is used again for each piece. */
async function* piecesOf(path: string, from = 0): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.alloc(HEAD);
  const file = await open(path);
  try {
    for (let at = from; ; ) {
      const { bytesRead } = await file.read(buffer, 0, HEAD, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Returns the first bytes of a file from a place on. */
async function headOf(path: string, from = 0): Promise<Buffer> {
  for await (const piece of piecesOf(path, from)) return piece;
  return Buffer.alloc(0);
}

async function isUtf8File(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of piecesOf(path)) decoder.decode(piece, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    // What the decoder throws for bytes that are not UTF-8.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

async function firstBeyondAscii(path: string): Promise<number> {
  let before = 0;
  for await (const piece of piecesOf(path)) {
    const at = piece.findIndex((byte) => byte >= 0x80);
    if (at >= 0) return before + at;
    before += piece.length;
  }
  return before;
}

/** Returns the encoding of a whole file, in which the first character beyond ASCII may be far behind. */
async function encodingOfAll(path: string): Promise<string> {
  const encoding = encodingOf(await headOf(path));
  if (encoding !== 'utf-8' || (await isUtf8File(path))) return encoding;
  return encodingOf(await headOf(path, await firstBeyondAscii(path)));
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

async function* decoded(path: string, decoder: TextDecoder): AsyncIterable<string> {
  for await (const piece of piecesOf(path)) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

/** Returns the cells without the empty ones at the end. */
function trimmed(cells: readonly string[]): readonly string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
}

async function* readRecords(
  path: string,
  encoding: string,
  separator: string,
  mostRows: number,
): AsyncIterable<CsvRow> {
  const parser = parse({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: LONGEST_ROW,
  });
  // Every error reaches the loop below through the parser.
  pipeline(decoded(path, new TextDecoder(encoding)), parser, () => {});
  const records: AsyncIterable<string[]> = parser;
  let row = 0;
  let skipped = 0;
  try {
    for await (const all of records) {
      // The line that tells Excel the separator is not shown as a row.
      if (row === 0 && skipped === 0 && all[0]?.toLowerCase() === 'sep=') {
        skipped = 1;
        continue;
      }
      row += 1;
      if (row > mostRows + 1) throw refuse('csv-too-many-rows', { max: mostRows });
      const cells = trimmed(all);
      if (cells.length > 0) yield { row, cells };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Rows that were read before are lost with the stream.
    const read = 'records' in error && typeof error.records === 'number' ? error.records : row + skipped;
    throw refuse('csv-unreadable', {
      row: read - skipped + 1,
      reason: sentence('a quotation mark is opened here or below and never closed'),
    });
  }
}

/** Rows that are yielded together, and characters of their cells. */
const ROWS_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 64 * 1024;

/** Gathers rows, so that a message to another thread has several, but not many. */
async function* gathered(rows: AsyncIterable<CsvRow>): AsyncIterable<CsvRow[]> {
  let some: CsvRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    some.push(row);
    characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
    if (some.length < ROWS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue;
    yield some;
    some = [];
    characters = 0;
  }
  if (some.length > 0) yield some;
}

/** Reads a file in any usual encoding, with the separators and line ends that spreadsheets write (CSV-6). */
export async function parseFile(path: string, mostRows: number): Promise<ParsedFile> {
  const encoding = await encodingOfAll(path);
  const separator = separatorOf(new TextDecoder(encoding).decode(await headOf(path)));
  return { separator, rows: () => gathered(readRecords(path, encoding, separator, mostRows)) };
}
