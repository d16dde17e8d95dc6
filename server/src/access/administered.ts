import type { Database } from '../platform/database/pool.ts';
import { notFound } from '../platform/http/refuse.ts';
import { checkMayAdminister } from './accounts.ts';
import type { SignedIn } from './caller.ts';
import { loadCapabilities } from './capabilities.ts';

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
