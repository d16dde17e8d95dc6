import { type UserColumn, userColumns } from '@vitrine/contract/user-csv';
import { lackedFor } from '../../../access/accounts.ts';
import type { SignedIn } from '../../../access/caller.ts';
import { CLEAR, restored } from '../../../content/csv/formulas.ts';
import type { CsvRow, ParsedFile } from '../../../content/csv/parse-file.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../../platform/language/sentence.ts';

/** What a cell says: a text, or null to remove the value. */
type Cell = string | null;

/** A row of the file, without its empty cells. */
export interface AccountLine {
  readonly row: number;
  readonly username: string;
  readonly cells: ReadonlyMap<UserColumn, Cell>;
  /** Why it cannot be read. */
  readonly fault: Sentence | null;
}

const isColumn = (name: string): name is UserColumn => userColumns.some((column) => column === name);

/** Reads the first row: 422 for what is wrong with a column, 403 for one that the caller may not see. */
function readHeader(caller: SignedIn, { row, cells }: CsvRow): UserColumn[] {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  // Spreadsheets may write separators after the last column.
  while (names.at(-1) === '') names.pop();
  const header: UserColumn[] = [];
  for (const name of names) {
    if (!isColumn(name)) throw refuse('csv-column-unknown', { row, column: name.slice(0, 200) });
    if (header.includes(name)) throw refuse('csv-column-repeated', { row, column: name });
    const capability = lackedFor(caller, name);
    if (capability !== null) throw refuse('capability-missing', { capability });
    header.push(name);
  }
  if (!header.includes('username')) throw refuse('csv-column-missing', { row, column: 'username' });
  return header;
}

function cellOf(text: string): Cell {
  return text.trim() === CLEAR ? null : restored(text).trim();
}

function readLine(header: readonly UserColumn[], { row, cells: all }: CsvRow): AccountLine {
  const cells = new Map(
    header.flatMap((column, at) => {
      const text = all[at] ?? '';
      return text.trim() === '' ? [] : [[column, cellOf(text)] as const];
    }),
  );
  const fault = all.some((cell, at) => at >= header.length && cell !== '')
    ? sentence('it has more cells than the file has columns')
    : all.some((cell) => cell.includes('\0'))
      ? sentence('it contains a NUL character')
      : null;
  return { row, username: cells.get('username') ?? '', cells, fault };
}

/** Reads all rows of a file (CSV-6). */
export async function readLines(caller: SignedIn, file: ParsedFile): Promise<AccountLine[]> {
  let header: UserColumn[] | null = null;
  const lines: AccountLine[] = [];
  for await (const rows of file.rows()) {
    for (const row of rows) {
      if (header === null) header = readHeader(caller, row);
      else lines.push(readLine(header, row));
    }
  }
  if (header === null) throw refuse('csv-unreadable', { row: 1, reason: sentence('the file is empty') });
  return lines;
}
