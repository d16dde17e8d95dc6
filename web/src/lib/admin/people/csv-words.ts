import type { UserColumn, UserCsvResult } from '@vitrine/contract/user-csv';
import type { AccountFilter } from '#lib/admin/status.ts';
import { plural } from '#lib/languages/plural.ts';

export const columnLabels: Readonly<Record<UserColumn, string>> = {
  username: 'Username',
  fullname: 'Full name',
  email: 'E-mail',
  role: 'Role',
  teams: 'Teams',
  expires_at: 'Expires',
};

/** The changes of one row, in the order of the file. */
export interface ChangedRow {
  readonly row: number;
  readonly username: string;
  readonly isNew: boolean;
  readonly changes: UserCsvResult['changes'];
}

/** Groups changes by their row, in the order of the file. */
export function byRow({ changes }: UserCsvResult): readonly ChangedRow[] {
  return [...Map.groupBy(changes, ({ row }) => row)].map(([row, own]) => ({
    row,
    username: own[0]?.username ?? '',
    isNew: own[0]?.ref === undefined,
    changes: own,
  }));
}

/** Says what an import would do. */
export function foreseenInWords({
  rows,
  created,
  changed,
  unchanged,
  refused_count,
}: UserCsvResult): readonly string[] {
  if (rows === 0) return ['The file has no rows.'];
  return [
    ...(created === 0
      ? []
      : [plural(created, ['# account will be created.', '# accounts will be created.'])]),
    ...(changed === 0
      ? []
      : [plural(changed, ['# account will be changed.', '# accounts will be changed.'])]),
    ...(created + changed === 0 ? ['Nothing would change.'] : []),
    ...unchangedInWords(unchanged),
    ...(refused_count === 0
      ? []
      : [plural(refused_count, ['# row will be left out:', '# rows will be left out:'])]),
  ];
}

/** Says what an import has done. */
export function doneInWords({
  created,
  changed,
  unchanged,
  refused_count,
}: UserCsvResult): readonly string[] {
  return [
    ...(created === 0 ? [] : [plural(created, ['# account was created.', '# accounts were created.'])]),
    ...(changed === 0 ? [] : [plural(changed, ['# account was changed.', '# accounts were changed.'])]),
    ...(created + changed === 0 ? ['Nothing was changed.'] : []),
    ...unchangedInWords(unchanged),
    ...(refused_count === 0 ? [] : [plural(refused_count, ['# row was left out:', '# rows were left out:'])]),
  ];
}

function unchangedInWords(count: number): readonly string[] {
  if (count === 0) return [];
  return [plural(count, ['# row says what is already there.', '# rows say what is already there.'])];
}

/** Returns the address of a CSV file of the accounts that match. Excel needs the byte order mark. */
export function accountsCsvAddress(filter: AccountFilter): string {
  const query = Object.entries({ ...filter, bom: true }).map(([name, value]) => [name, String(value)]);
  return `/api/v1/admin/users/export.csv?${new URLSearchParams(query)}`;
}
