import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
import type { Ledger } from './ledger.ts';

/** How access in the other system differs from what an earlier run gave. */
interface ChangedAccounts {
  /** Whether no earlier run gave access to anybody. */
  isFirst: boolean;
  /** Accounts that an earlier run gave access and that have lost it in the other system. */
  lost: number[];
  /** Accounts that have it there for the first time. */
  fresh: number[];
}

/**
 * Compares the accounts that are to have access with those that got it from an earlier run. Accounts that people have given
 * access here keep it, and accounts from which people have taken it do not get it again (IMPORT-2).
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

/** Returns these accounts as they are recorded for a later run. */
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

/** Shares a collection with the accounts that are new, and withdraws what an earlier run gave to others. */
export async function shareCollection(
  tx: Tx,
  id: string,
  { lost, fresh }: Pick<ChangedAccounts, 'lost' | 'fresh'>,
): Promise<void> {
  await sql`delete from collection_shares where collection_id = ${id} and user_ref = any(${lost}::bigint[])`.execute(
    tx,
  );
  await sql`insert into collection_shares (collection_id, user_ref)
    select ${id}::uuid, ref from users where ref = any(${fresh}::bigint[]) on conflict do nothing`.execute(
    tx,
  );
}
