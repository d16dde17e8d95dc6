import { foldName } from '@vitrine/contract/names';
import type { Passwords } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { keyOfEmail } from './email-keys.ts';

export interface NewAccount {
  username: string;
  password: string | null;
  /** Code of a role; it must exist. */
  role: string;
  email?: string;
  fullname?: string;
  displayName?: string;
}

/** Creates an account and returns its ref, or null when the name is taken in any spelling (NAME-1). */
export async function createAccount(
  db: Database,
  passwords: Passwords,
  account: NewAccount,
): Promise<number | null> {
  const { username, password } = account;
  const passwordHash = password === null ? null : await passwords.hash(username, password);
  // Waits for a deletion of the role that is under way (ROLE-23).
  const role = await db
    .selectFrom('roles')
    .select('id')
    .where('code', '=', account.role)
    .forKeyShare()
    .executeTakeFirst();
  if (role === undefined) throw refuse('role-not-found');
  const row = await db
    .insertInto('users')
    .values({
      username,
      username_key: foldName(username),
      password_hash: passwordHash,
      role_id: role.id,
      email: account.email ?? null,
      email_key: keyOfEmail(account.email),
      fullname: account.fullname ?? null,
      display_name: account.displayName ?? null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('ref')
    .executeTakeFirst();
  return row?.ref ?? null;
}
