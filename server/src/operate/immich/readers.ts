import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { changedAccounts, recordOfAccounts } from '../imports/given-access.ts';
import type { ImportTools } from '../imports/tools.ts';
import type { Context } from './context.ts';

/** Returns the accounts here of the members of an album. */
export function accountsOf(
  { accounts, owner }: Pick<Context, 'accounts' | 'owner'>,
  members: readonly { id: string }[],
): number[] {
  const found = members.flatMap(({ id }) => accounts.get(id) ?? []);
  return [...new Set(found)].filter((ref) => ref !== owner.ref).toSorted((a, b) => a - b);
}

/** Returns the accounts here that see each asset in an album there (IMPORT-14). */
export function readersOfAssets(context: Pick<Context, 'accounts' | 'owner' | 'library'>) {
  const readers = new Map<string, Set<number>>();
  for (const { items, members } of context.library.albums) {
    const accounts = accountsOf(context, members);
    if (accounts.length === 0) continue;
    for (const id of items) readers.set(id, new Set([...(readers.get(id) ?? []), ...accounts]));
  }
  return (id: string): number[] => [...(readers.get(id) ?? [])].toSorted((a, b) => a - b);
}

/** Shares an asset with accounts, and withdraws what an earlier run gave to others. What people gave stays. */
export async function keepReaders(
  tx: Tx,
  { ledger, owner }: Pick<ImportTools, 'ledger' | 'owner'>,
  oldId: string,
  assetId: string,
  readers: readonly number[],
): Promise<void> {
  const { lost, fresh } = changedAccounts(ledger, 'readers', oldId, readers);
  if (lost.length === 0 && fresh.length === 0) return;
  await sql`delete from asset_shares where asset_id = ${assetId} and shared_by_user_ref = ${owner.ref}
    and user_ref = any(${lost}::bigint[])`.execute(tx);
  await sql`insert into asset_shares (asset_id, user_ref, shared_by_user_ref)
    select ${assetId}::uuid, ref, ${owner.ref}::bigint from users where ref = any(${fresh}::bigint[])
    on conflict (asset_id, user_ref) do nothing`.execute(tx);
  await ledger.record(tx, 'readers', oldId, recordOfAccounts(readers));
}
