import type { Database } from '../platform/database/pool.ts';
import { notFound } from '../platform/http/refuse.ts';
import { checkMayAdminister, mayAdminister } from './accounts.ts';
import type { SignedIn } from './caller.ts';
import { loadCapabilities, loadCapabilitiesOf } from './capabilities.ts';

/**
 * Returns an account the caller may administer: 404 when it does not exist, 403 when it has more rights than the
 * caller.
 */
export async function administered(
  db: Database,
  caller: SignedIn,
  userRef: number,
): Promise<{ ref: number; username: string }> {
  const account = await db
    .selectFrom('users')
    .select(['ref', 'username'])
    .where('ref', '=', userRef)
    .executeTakeFirst();
  if (account === undefined) throw notFound();
  checkMayAdminister(caller, await loadCapabilities(db, userRef));
  return account;
}

/** Returns those of these accounts that the caller may administer (ROLE-10). */
export async function administeredOf(
  db: Database,
  caller: SignedIn,
  userRefs: readonly number[],
): Promise<ReadonlySet<number>> {
  // Administrators hold everything, so there is nothing to compare.
  if (caller.capabilities.has('system.admin')) return new Set(userRefs);
  const capabilities = await loadCapabilitiesOf(db, userRefs);
  return new Set([...capabilities].flatMap(([ref, held]) => (mayAdminister(caller, held) ? [ref] : [])));
}
