import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';

/** Locks the account, so that two requests do not remove its last two ways to sign in at once. */
export async function lockWaysToSignIn(tx: Tx, userRef: number): Promise<void> {
  await tx.selectFrom('users').where('ref', '=', userRef).forNoKeyUpdate().execute();
}

/** Throws 409 unless the account has a password, a directory, a linked identity or a passkey. */
export async function checkCanSignIn(tx: Tx, userRef: number): Promise<void> {
  const { rows } = await sql<{ can: boolean }>`
    select password_hash is not null or provider = 'ldap' or exists (select from user_identities where user_ref = ref)
      or exists (select from passkeys where user_ref = ref) as can
    from users where ref = ${userRef}`.execute(tx);
  if (rows[0]?.can !== true) throw refuse('last-way-to-sign-in');
}
