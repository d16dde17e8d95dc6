/** The columns of the earlier system's user table that are read; the others stay where they are. */
export const columns = [
  'ref',
  'username',
  'password',
  'fullname',
  'email',
  'usergroup',
  'approved',
  'account_expires',
  'created',
  'lang',
] as const;
export type Column = (typeof columns)[number];

/** What stands in a row, as text; null is the database's own null, and a column that is not there reads the same. */
export type Fields = ReadonlyMap<string, string | null>;

/** A row, or why it cannot be read, with where it stands: `line 12` of a file, `ref 12` of a table. */
export type SourceRow = { place: string; fields: Fields } | { place: string; fault: string };
