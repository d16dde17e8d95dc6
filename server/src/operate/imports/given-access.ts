import type { Database } from '../../platform/database/pool.ts';
import type { Ledger } from './ledger.ts';

/** Accounts whose access an import has changed since an earlier run. */
interface ChangedAccounts {
  /** Whether no earlier run gave access to anybody. */
  isFirst: boolean;
  /** Accounts that an earlier run gave access and that have lost it in the other system. */
  lost: number[];
  /** Accounts that have it there for the first time. */
  fresh: number[];
}

/**
 * Compares the accounts that are to have access with those that an earlier run gave it. Whom people have given access here
 * keeps it, and from whom they have taken it does not get it again (IMPORT-2).
 */
export function changedAccounts(
  ledger: Ledger,
  kind: 'readers' | 'members',
  oldId: number | string,
  accounts: readonly number[],
): ChangedAccounts {
  const recorded = ledger.find(kind, oldId)?.target;
  const before = recorded === undefined || recorded === '' ? [] : recorded.split(' ').map(Number);
  return {
    isFirst: recorded === undefined,
    lost: before.filter((ref) => !accounts.includes(ref)),
    fresh: accounts.filter((ref) => !before.includes(ref)),
  };
}

/** Returns the record of these accounts, with which a later run compares. */
export function recordOfAccounts(accounts: readonly number[]): string {
  return accounts.join(' ');
}

/** Whether a collection that an earlier run has imported was not deleted here. */
export async function isCollectionHere(db: Database, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('collections')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
