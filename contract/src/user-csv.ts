import { type Static, Type } from 'typebox';
import { bytes, operation } from './operation.ts';
import { UserSelection } from './user-batches.ts';
import { Count, closed, nullable, Ref } from './values.ts';

/** CSV-15: the largest file of accounts and the most rows that an import takes. */
export const mostUserCsvBytes = 10 * 1024 * 1024;
export const mostUserCsvRows = 10_000;

export const exportUsers = operation({
  id: 'exportUsers',
  method: 'GET',
  path: '/admin/users/export.csv',
  tag: 'Users',
  summary: 'Export accounts as CSV',
  description:
    'Returns a row for each account that matches the filters of `GET /admin/users`, newest first. The columns are `username`, `fullname`, `email`, `role`, `teams` and `expires_at`; `fullname` and `email` need `users.pii.read`, `teams` needs `teams.read`. The slugs of several teams are joined by `|`. A text that a spreadsheet would run as a formula begins with an apostrophe.',
  door: { holds: 'users.read' },
  scope: 'read',
  query: Type.Object({
    ...UserSelection.properties,
    /** Begins the file with a byte order mark, without which Excel reads it in the encoding of the system. */
    bom: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: bytes('text/csv') },
  errors: [],
});

export const userColumns = ['username', 'fullname', 'email', 'role', 'teams', 'expires_at'] as const;
export type UserColumn = (typeof userColumns)[number];

/** What an import has done, or would do. `rows` is `created` + `changed` + `unchanged` + `refused_count`. */
export const UserCsvResult = closed({
  /** The rows that are not empty, without the header. */
  rows: Count,
  created: Count,
  changed: Count,
  unchanged: Count,
  /** The cells that change, those of new accounts too. Null means no value. */
  changes: Type.Array(
    closed({
      row: Count,
      username: Type.String(),
      /** Absent for a new account. */
      ref: Type.Optional(Ref),
      field: Type.Enum([...userColumns]),
      from: nullable(Type.String()),
      to: nullable(Type.String()),
    }),
  ),
  refused: Type.Array(
    closed({
      /** Its place in the file, as spreadsheets count; the header is row 1. */
      row: Count,
      username: Type.Optional(Type.String()),
      reason: Type.String(),
    }),
  ),
  refused_count: Count,
});
export type UserCsvResult = Static<typeof UserCsvResult>;

export const importUsers = operation({
  id: 'importUsers',
  method: 'POST',
  path: '/admin/users/import.csv',
  tag: 'Users',
  summary: 'Import accounts from CSV',
  description:
    'Changes accounts as the part `file` says, a row for each, found by `username`, and creates those that do not exist. An empty cell leaves the value, `!clear` removes it. A row that cannot be taken is refused alone; an unknown column is 422 and nothing is written. The columns `fullname` and `email` need `users.pii.read`, `teams` needs `teams.read`. With `dry_run`, returns the differences and writes nothing.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  query: Type.Object({ dry_run: Type.Optional(Type.Boolean()) }),
  body: closed({}),
  form: 'only',
  responses: { 200: UserCsvResult },
  errors: [
    'csv-column-missing',
    'csv-column-repeated',
    'csv-column-unknown',
    'csv-too-many-rows',
    'csv-unreadable',
    'file-part-missing',
    'file-part-strict',
    'received-too-large',
  ],
});
