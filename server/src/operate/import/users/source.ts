import type { Sentence } from '../../../platform/language/sentence.ts';
/** The columns of the earlier system's user table that are imported; all others are ignored. */
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

/** The values of a row as text. Null is the database's null; a column that does not exist reads the same. */
export type Fields = ReadonlyMap<string, string | null>;

/** A row, or the reason why it cannot be read, with its place: `line 12` of a file, `ref 12` of a table. */
export type SourceRow = { place: string; fields: Fields } | { place: string; fault: Sentence };
