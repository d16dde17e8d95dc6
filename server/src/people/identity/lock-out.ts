import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { recordEvent } from '../audit/record.ts';

/** SIGNIN-10: five failures lock a name for 15 minutes. By name, which also stops attacks from many addresses. */
const FAILURES = 5;
const LOCKED_FOR = sql`interval '15 minutes'`;

/** SIGNIN-2: as accounts are found. Applies to names without an account too, so that a lock reveals nothing. */
function keyOf(username: string): string {
  return foldName(username.slice(0, 1000)).slice(0, 500);
}

/**
 * Returns whether the name is locked. Call it after checking the password, so that concurrent attempts cannot evade the
 * count.
 */
export async function isLocked(db: Database, username: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select locked_until > now() as locked from sign_in_failures where name = ${keyOf(username)}`.execute(db);
  return rows[0]?.locked === true;
}

/** Counts a failure; the fifth within 15 minutes locks the name. Further failures do not extend the lock. */
export async function recordFailure(db: Database, username: string, address: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ failures: number; locked_until: string | null }>`
      insert into sign_in_failures as f (name, failures) values (${keyOf(username)}, 1)
      on conflict (name) do update set last_at = now(),
        failures = case
          when f.locked_until > now() then f.failures + 1
          when f.locked_until is not null or f.last_at < now() - ${LOCKED_FOR} then 1
          else f.failures + 1 end,
        locked_until = case
          when f.locked_until > now() then f.locked_until
          when f.locked_until is null and f.last_at >= now() - ${LOCKED_FOR} and f.failures + 1 >= ${FAILURES}
            then now() + ${LOCKED_FOR}
          else null end
      returning failures, locked_until`.execute(tx);
    const row = rows[0];
    const justLocked = row?.failures === FAILURES && row.locked_until !== null;
    if (!justLocked) return;
    // The name as typed is not stored: it may be a password in the wrong field.
    const account = await tx
      .selectFrom('users')
      .select('ref')
      .where('username_key', '=', foldName(username))
      .executeTakeFirst();
    await recordEvent(tx, null, {
      event: 'auth.locked',
      ...(account === undefined ? {} : { subjectUserRef: account.ref }),
      metadata: { address },
    });
  });
}

/** Resets the failures of a name after a sign-in or a new password. */
export async function forgetFailures(db: Database, username: string): Promise<void> {
  await db.deleteFrom('sign_in_failures').where('name', '=', keyOf(username)).execute();
}
