import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { ConfigError } from '../../../core/config.ts';
import { sentence } from '../../../platform/language/sentence.ts';
import type { SourceRow } from './source.ts';

/** Longer than any valid row; beyond it, a quote was opened and never closed. */
const LONGEST_ROW = 1_000_000;

const separators = [',', ';', '\t'] as const;

async function readHead(path: string): Promise<string> {
  const file = await open(path).catch(() => {
    throw new ConfigError(sentence('{path} cannot be read', { path }));
  });
  try {
    if ((await file.stat()).isDirectory()) throw new ConfigError(sentence('{path} is a directory', { path }));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Returns the separator that occurs most often in the first line. Column names contain none of the candidates. */
function separatorOf(head: string): string {
  const line = head.trimStart().split(/[\r\n]/, 1)[0] ?? '';
  const counted = separators.map((separator) => ({ separator, times: line.split(separator).length }));
  return counted.reduce((most, candidate) => (candidate.times > most.times ? candidate : most)).separator;
}

function readHeader(path: string, cells: readonly (string | null)[]): string[] {
  const names = cells.map((cell) => (cell ?? '').trim().toLowerCase());
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new ConfigError(sentence('{path} has the column {column} twice', { path, column: twice }));
  for (const needed of ['username', 'password']) {
    if (!names.includes(needed))
      throw new ConfigError(
        sentence('{path} has no column {column} in its first line', { path, column: needed }),
      );
  }
  return names;
}

function newlinesIn(cells: readonly (string | null)[]): number {
  return cells.reduce((sum, cell) => sum + (cell?.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
}

function parserFor(separator: string) {
  return parse({
    bom: true,
    delimiter: separator,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_ROW,
    // Databases write null without quotes; `"NULL"` in quotes is a name.
    cast: (value, { quoting }) => (value === '\\N' || (value === 'NULL' && !quoting) ? null : value),
  });
}

/**
 * Yields the rows of a CSV file whose first line has the column names. Throws a ConfigError for a file without them.
 * A row that cannot be read has a fault.
 */
export async function* readCsv(path: string): AsyncGenerator<SourceRow> {
  const parser = parserFor(separatorOf(await readHead(path)));
  // Every error reaches the loop below through the parser.
  pipeline(createReadStream(path), parser, () => {});
  const records: AsyncIterable<{ record: (string | null)[]; info: Info }> = parser;
  let header: string[] | null = null;
  let lastLine = 0;
  try {
    for await (const { record, info } of records) {
      lastLine = info.lines;
      if (header === null) {
        header = readHeader(path, record);
        continue;
      }
      const place = `line ${info.lines - newlinesIn(record)}`;
      if (record.length === header.length) {
        yield { place, fields: new Map(header.map((name, at) => [name, record[at] ?? null])) };
      } else {
        yield {
          place,
          fault: sentence('{values} values where the first line names {columns} columns', {
            values: record.length,
            columns: header.length,
          }),
        };
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (header !== null) {
      const fault = sentence(
        'a quote is opened here or below and never closed; nothing from here on was read',
      );
      yield { place: `line ${lastLine + 1}`, fault };
    }
  }
  if (header === null) throw new ConfigError(sentence('{path} has no line of column names', { path }));
}
