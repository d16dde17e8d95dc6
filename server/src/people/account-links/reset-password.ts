import { completePasswordReset } from '@vitrine/contract/password-reset';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { forgetFailures } from '../identity/lock-out.ts';
import { endSessionsOf, hashToken } from '../identity/sessions.ts';
import { takeLink } from './links.ts';
import { resettable } from './recipients.ts';

/** Returns the account of a token that is still valid, or null. The mail went to the address that the account still has. */
async function accountOf(db: Database, token: string) {
  const { rows } = await sql<{ ref: number; username: string; email: string }>`
    select u.ref, u.username, l.email from account_links l join users u on u.ref = l.user_ref
    where l.token_hash = ${hashToken(token)} and l.purpose = 'password_reset' and l.expires_at > now()
      and u.email = l.email and ${resettable}`.execute(db);
  return rows[0] ?? null;
}

/** RESET-3, RESET-5. */
export const setNewPassword = handle(completePasswordReset, async ({ db, passwords }, { params, body }) => {
  const { token } = params;
  const account = await accountOf(db, token);
  if (account === null) throw notFound();
  const { ref, username, email } = account;
  const hash = await passwords.hash(username, body.password);
  await db.transaction().execute(async (tx) => {
    if ((await takeLink(tx, token, 'password_reset')) === null) throw notFound();
    const changed = await tx
      .updateTable('users as u')
      // The mail shows that the address is theirs.
      .set({ password_hash: hash, email_confirmed_at: sql<string>`now()`, updated_at: sql<string>`now()` })
      .where('u.ref', '=', ref)
      .where('u.email', '=', email)
      .where(resettable)
      .returning('u.ref')
      .executeTakeFirst();
    if (changed === undefined) throw notFound();
    await endSessionsOf(tx, ref, null);
    await forgetFailures(tx, username);
    await recordEvent(tx, null, {
      event: 'auth.password.reset',
      actorUserRef: ref,
      subjectUserRef: ref,
    });
  });
  return { status: 204 };
});
