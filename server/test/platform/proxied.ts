import { sql } from 'kysely';
import { createAccount } from '../../src/identity/accounts.ts';
import { type Library, password } from '../support/library.ts';

/** An account that can sign in with the common password. */
export async function arriveWithPassword({ deps }: Library, username: string): Promise<void> {
  await createAccount(deps.db, deps.passwords, { username, password, role: 'member' });
}

/** Returns the client's address that the latest sign-in recorded in the audit log and with the session. */
export async function lastSignIn({ deps }: Library): Promise<{ audit: string; session: string } | undefined> {
  const { rows } = await sql<{ audit: string; session: string }>`select
    (select metadata ->> 'address' from audit_events where event = 'auth.signed_in' order by occurred_at desc limit 1) as audit,
    (select address from sessions order by created_at desc limit 1) as session`.execute(deps.db);
  return rows[0];
}
