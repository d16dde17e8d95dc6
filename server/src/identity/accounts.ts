import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { isAdministrator } from '../access/accounts.ts';
import { addStarterFields } from '../fields/definitions/starter.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import type { Passwords } from './password.ts';

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
  const row = await db
    .insertInto('users')
    .values((eb) => ({
      username,
      username_key: foldName(username),
      password_hash: passwordHash,
      role_id: eb.selectFrom('roles').select('id').where('code', '=', account.role).$asScalar(),
      email: account.email ?? null,
      fullname: account.fullname ?? null,
      display_name: account.displayName ?? null,
    }))
    .onConflict((conflict) => conflict.doNothing())
    .returning('ref')
    .executeTakeFirst();
  return row?.ref ?? null;
}

/** Returns whether no account is an administrator: the library needs set-up (SETUP-1). */
export async function needsSetup(db: Database): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from users u where ${isAdministrator}) as found`.execute(db);
  return rows[0]?.found !== true;
}

const SETUP_LOCK = 7_431_002;

/**
 * Runs `create` while no administrator exists, one caller at a time; returns null when there is one. A new library gets
 * its starter fields in the same transaction.
 */
export async function createFirstAdministrator<T>(
  db: Database,
  create: (tx: Tx) => Promise<T>,
): Promise<T | null> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${SETUP_LOCK})`.execute(tx);
    if (!(await needsSetup(tx))) return null;
    const created = await create(tx);
    await addStarterFields(tx);
    return created;
  });
}
