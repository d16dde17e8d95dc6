import type { CsvMatch } from '@vitrine/contract/asset-csv';
import { refuse } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { columnOf, type FieldColumn, type FixedColumn } from './columns.ts';
import { restored } from './formulas.ts';
import type { CsvRow } from './parse-file.ts';

/** The column that names the asset of a row. */
const keyColumns = {
  id: 'id',
  hash: 'file_hash',
  filename: 'file_name',
} as const satisfies Readonly<Record<CsvMatch, FixedColumn>>;

/** What the columns of a file are. */
export interface Header {
  readonly match: CsvMatch;
  /** The name and the place of the column that names the assets. */
  readonly keyName: FixedColumn;
  readonly keyAt: number;
  readonly names: readonly string[];
  readonly fields: readonly { readonly at: number; readonly name: string; readonly field: FieldColumn }[];
}

/** Reads the first row; throws a 422 that names what is wrong with a column (CSV-7). */
export function readHeader(first: CsvRow, known: readonly FieldColumn[], match: CsvMatch): Header {
  const { row, cells } = first;
  // Spreadsheets may write separators after the last column.
  const names = cells.map((cell) => cell.trim().toLowerCase());
  while (names.at(-1) === '') names.pop();
  const fields: { at: number; name: string; field: FieldColumn }[] = [];
  const seen = new Set<unknown>();
  for (const [at, name] of names.entries()) {
    const column = columnOf(name, known);
    if (column === null) throw refuse('csv-column-unknown', { row, column: name.slice(0, 200) });
    if (seen.has(column)) throw refuse('csv-column-repeated', { row, column: name });
    seen.add(column);
    if (typeof column !== 'string') fields.push({ at, name, field: column });
  }
  const keyName = keyColumns[match];
  const keyAt = names.indexOf(keyName);
  if (keyAt < 0) throw refuse('csv-column-missing', { row, column: keyName });
  return { match, keyName, keyAt, names, fields };
}

const forms: Readonly<Record<CsvMatch, { pattern: RegExp; fault: Sentence }>> = {
  id: {
    pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    fault: sentence('it is not an id'),
  },
  hash: { pattern: /^[0-9a-f]{64}$/, fault: sentence('it is not a SHA-256 in hexadecimal') },
  filename: { pattern: /./s, fault: sentence('it is empty') },
};

/** Returns what names the asset of a row; throws a 422 when it cannot name one, or when a cell has no column. */
export function readKey({ match, keyName, keyAt, names }: Header, { row, cells }: CsvRow): string {
  const beyond = cells.findIndex((cell, at) => at >= names.length && cell !== '');
  if (beyond >= 0) throw refuse('csv-row-too-long', { row, column: beyond + 1 });
  const nul = cells.findIndex((cell) => cell.includes('\0'));
  if (nul >= 0)
    throw refuse('csv-cell-invalid', {
      row,
      column: names[nul] ?? '',
      reason: sentence('it contains a NUL character'),
    });
  const text = cells[keyAt] ?? '';
  const key = match === 'filename' ? restored(text) : text.trim().toLowerCase();
  const { pattern, fault } = forms[match];
  if (!pattern.test(key)) throw refuse('csv-cell-invalid', { row, column: keyName, reason: fault });
  return key;
}
