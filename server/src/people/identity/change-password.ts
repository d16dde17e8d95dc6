import { randomInt } from 'node:crypto';
import { changePassword, resetPassword } from '@vitrine/contract/users';
import { sql } from 'kysely';
import { checkNotSelf } from '../../access/accounts.ts';
import { administered } from '../../access/administered.ts';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { checkCurrentPassword } from './current-password.ts';
import { forgetFailures } from './lock-out.ts';
import { endSessionsOf } from './sessions.ts';

interface Change {
  userRef: number;
  username: string;
  password: string;
  event: string;
  keptSession: string | null;
}

const managedByDirectory = () => refuse('password-managed-by-directory');

/** SIGNIN-15: throws 409 for an account of a directory, before its password is checked there. */
async function checkManagedHere(db: Database, userRef: number): Promise<void> {
  const account = await db
    .selectFrom('users')
    .select('ref')
    .where('ref', '=', userRef)
    .where('provider', '<>', 'ldap')
    .executeTakeFirst();
  if (account === undefined) throw managedByDirectory();
}

/**
 * Sets a password and ends all of the account's sessions except `keptSession`, in one transaction; 409 for a
 * directory account.
 */
async function setPassword(deps: Deps, actor: SignedIn, change: Change): Promise<void> {
  const hash = await deps.passwords.hash(change.username, change.password);
  await deps.db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('users')
      .set({ password_hash: hash, updated_at: sql`now()` })
      .where('ref', '=', change.userRef)
      .where('provider', '<>', 'ldap')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw managedByDirectory();
    await endSessionsOf(tx, change.userRef, change.keptSession);
    // RESET-3: a mailed link does not replace a password that is newer than it.
    await tx
      .deleteFrom('account_links')
      .where('user_ref', '=', change.userRef)
      .where('purpose', '=', 'password_reset')
      .execute();
    await forgetFailures(tx, change.username);
    await recordEvent(tx, actor, { event: change.event, subjectUserRef: change.userRef });
  });
}

export const changeOwnPassword = handle(changePassword, async (deps, { caller, body, http }) => {
  await checkManagedHere(deps.db, caller.ref);
  await checkCurrentPassword(deps, caller, body.current_password, http);
  await setPassword(deps, caller, {
    userRef: caller.ref,
    username: caller.username,
    password: body.new_password,
    event: 'auth.password.changed',
    keptSession: caller.sessionId,
  });
  return { status: 204 };
});

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** About 93 random bits, without ambiguous letters. */
export function temporaryPassword(): string {
  return Array.from({ length: 16 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

export const resetUserPassword = handle(resetPassword, async (deps, { caller, params }) => {
  checkNotSelf(caller, params.ref);
  const { ref } = await administered(deps.db, caller, params.ref);
  const account = await deps.db
    .selectFrom('users')
    .select('username')
    .where('ref', '=', ref)
    .executeTakeFirst();
  if (account === undefined) throw notFound();
  const password = temporaryPassword();
  await setPassword(deps, caller, {
    userRef: ref,
    username: account.username,
    password,
    event: 'user.password.reset',
    keptSession: null,
  });
  return { status: 200, body: { temporary_password: password } };
});
