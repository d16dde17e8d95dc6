import { acceptInvitation } from '@vitrine/contract/invitations';
import { foldName } from '@vitrine/contract/names';
import type { BodyOf } from '@vitrine/contract/operation';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { takeLock } from '../../platform/database/take-lock.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { openSession } from '../identity/open-session.ts';
import { findOpenInvitation, lockOpenInvitation, useInvitation, withToken } from './open.ts';

/** Creates the account and uses the invitation; 409 if the name is taken, which uses nothing up (INVITE-7). */
async function join(
  { db }: Deps,
  token: string,
  { username, fullname, email: given }: BodyOf<typeof acceptInvitation>,
  passwordHash: string,
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await takeLock(tx, 'administrators');
    const invitation = await lockOpenInvitation(tx, withToken(token));
    if (invitation === null) throw notFound();
    const email = given ?? invitation.email;
    const emailKey = keyOfEmail(email);
    // INVITE-8: the mail shows that the address is theirs.
    const isConfirmed = emailKey !== null && emailKey === invitation.email_key;
    const made = await tx
      .insertInto('users')
      .values({
        username,
        username_key: foldName(username),
        password_hash: passwordHash,
        role_id: invitation.role_id,
        fullname: fullname ?? null,
        email,
        email_key: emailKey,
        email_confirmed_at: isConfirmed ? sql<string>`now()` : null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('ref')
      .executeTakeFirst();
    if (made === undefined) throw refuse('username-taken');
    await recordEvent(tx, null, {
      event: 'user.created',
      actorUserRef: made.ref,
      subjectUserRef: made.ref,
      metadata: { username, role: invitation.role, invitation: invitation.id },
    });
    await useInvitation(tx, invitation, made.ref);
    return made.ref;
  });
}

export const accept = handle(acceptInvitation, async (deps, { caller, params, body, http }) => {
  if (caller.kind === 'user') throw refuse('signed-in-already');
  // Before the hash, which costs time.
  if ((await findOpenInvitation(deps.db, withToken(params.token))) === null) throw notFound();
  const hash = await deps.passwords.hash(body.username, body.password);
  const ref = await join(deps, params.token, body, hash);
  const { body: user, cookie } = await openSession(deps, ref, http);
  return { status: 201, body: user, cookie };
});
