/** The cell that removes a value. */
export const CLEAR = '!clear';

/**
 * Texts that would mean something else in a cell: what a spreadsheet runs as a formula, and what an import clears. Those
 * that already begin with apostrophes count, too, so that every text comes back as it was.
 */
const meaningful = /^'*(?:[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]|!clear$)/;

/** Writes a text so that a spreadsheet shows it and does not run it (CSV-4). */
export function neutralised(text: string): string {
  return meaningful.test(text) ? `'${text}` : text;
}

/** Reads a text that `neutralised` wrote. */
export function restored(text: string): string {
  return text.startsWith("'") && meaningful.test(text.slice(1)) ? text.slice(1) : text;
}
