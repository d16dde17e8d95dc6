import { parse } from 'csv-parse/sync';

/** Maximum number of rows and columns shown. */
const MOST_ROWS = 500;
const MOST_COLUMNS = 50;
/** Maximum number of characters shown per cell. */
const MOST_CELL = 1000;

export interface Table {
  /** The first row contains the column names. */
  rows: string[][];
  isCut: boolean;
}

/** Reads the rows of a CSV; returns null if the text is not one. */
export function readTable(text: string, delimiter: string): Table | null {
  try {
    const records: string[][] = parse(text, {
      delimiter,
      relaxColumnCount: true,
      relaxQuotes: true,
      skipEmptyLines: true,
      to: MOST_ROWS + 1,
    });
    if (records.length < 2) return null;
    const rows = records
      .slice(0, MOST_ROWS)
      .map((row) => row.slice(0, MOST_COLUMNS).map((cell) => cell.slice(0, MOST_CELL)));
    return { rows, isCut: records.length > MOST_ROWS };
  } catch {
    return null;
  }
}
