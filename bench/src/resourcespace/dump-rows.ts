/** The rows of a table in a dump, which has one row per line, and the end of their statement. */
export interface TableRows {
  table: string;
  columns: string[];
  /** The values of each row as they are written. */
  rows: string[][];
  end: number;
}

/** A value as it is written: a text in quotes, a number or NULL. */
const values = /'(?:[^'\\]|\\.|'')*'|[^,()']+/g;

function columnsOf(dump: string, table: string): string[] {
  const body = new RegExp(`^CREATE TABLE \`${table}\` \\(\n([^]*?)^\\)`, 'm').exec(dump)?.[1] ?? '';
  return [...body.matchAll(/^ {2}`(\w+)`/gm)].map(([, name = '']) => name);
}

/** Reads the rows of a table from the text of a dump of MariaDB. */
export function readTable(dump: string, table: string): TableRows {
  const found = new RegExp(`^INSERT INTO \`${table}\` VALUES\n([^]*?);\n`, 'm').exec(dump);
  if (found === null) throw new Error(`the dump has no rows of ${table}`);
  const columns = columnsOf(dump, table);
  const rows = (found[1] ?? '').split('\n').map((line) => line.match(values) ?? []);
  const odd = rows.find((row) => row.length !== columns.length);
  if (odd !== undefined) throw new Error(`a row of ${table} has ${odd.length} values: ${odd.join()}`);
  return { table, columns, rows, end: found.index + found[0].length };
}

/** Returns rows as a statement of a dump. */
export function insertOf(table: string, rows: readonly (readonly string[])[]): string {
  return `INSERT INTO \`${table}\` VALUES\n${rows.map((row) => `(${row.join()})`).join(',\n')};\n`;
}
