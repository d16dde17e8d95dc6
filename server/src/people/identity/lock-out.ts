import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';
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
export async function recordFailure(
  db: Database,
  username: string,
  address: string,
  attempt: { method?: string; userAgent?: string } = {},
): Promise<void> {
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
    await keepFailure(tx, username, address, attempt);
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

/** How many failed sign-ins of an account are kept. */
const KEPT_FAILURES = 50;

/** SESSION-16: keeps the attempt for the owner of the account, if there is one. */
async function keepFailure(
  tx: Tx,
  username: string,
  address: string,
  { method = 'password', userAgent }: { method?: string; userAgent?: string },
): Promise<void> {
  await sql`with added as (
      insert into failed_sign_ins (user_ref, method, address, user_agent)
      select ref, ${method}, ${address}, ${userAgent ?? null} from users where username_key = ${foldName(username)}
      returning user_ref)
    delete from failed_sign_ins where id in (
      select f.id from failed_sign_ins f join added a on a.user_ref = f.user_ref
      order by f.at desc, f.id desc offset ${KEPT_FAILURES - 1})`.execute(tx);
}

/** Resets the failures of a name after a sign-in or a new password. */
export async function forgetFailures(db: Database, username: string): Promise<void> {
  await db.deleteFrom('sign_in_failures').where('name', '=', keyOf(username)).execute();
}
