import { verifyEmail } from '@vitrine/contract/registration';
import { sql } from 'kysely';
import { handle } from '../../core/handle.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { takeLink } from '../account-links/links.ts';
import { recordEvent } from '../audit/record.ts';
import { keyOfEmail } from '../identity/email-keys.ts';
import { readAccountSettings } from './settings.ts';

/** EMAIL-1, EMAIL-2, REGISTER-4. */
export const confirm = handle(verifyEmail, async (deps, { body }) => {
  await deps.db.transaction().execute(async (tx) => {
    const link = await takeLink(tx, body.token, 'verify_email');
    if (link === null) throw notFound();
    const { userRef, email } = link;
    const activates = (await readAccountSettings({ ...deps, db: tx })).registration === 'open';
    const { rows } = await sql<{ status: string }>`
      update users u set email = ${email}, email_key = ${keyOfEmail(email)}, email_confirmed_at = clock_timestamp(),
        status = case when u.registration = 'unverified' and u.status = 'pending' and ${activates}::boolean then 'active'
          else u.status end,
        registration = case when u.registration = 'unverified' then 'verified' else u.registration end,
        updated_at = now()
      where u.ref = ${userRef} and u.status in ('active', 'pending') returning u.status`.execute(tx);
    if (rows.length === 0) throw notFound();
    await recordEvent(tx, null, {
      event: 'user.email.confirmed',
      actorUserRef: userRef,
      subjectUserRef: userRef,
      metadata: { status: rows[0]?.status },
    });
  });
  return { status: 204 };
});
