import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { unseal } from '../../identity/seal.ts';
import { mayMail } from '../../mail/mail-counts.ts';
import { mailLink } from '../links.ts';
import { resetRecipients, verificationRecipients } from '../recipients.ts';
import { LOGIN_PURPOSE } from '../request.ts';

/** Returns the name that somebody entered; null if the secret key has changed since. */
function loginIn(secretKey: string, sealed: string): string | null {
  try {
    return unseal(secretKey, LOGIN_PURPOSE, Buffer.from(sealed, 'base64'));
  } catch {
    return null;
  }
}

/** Finds the accounts of a name and mails each a link (RESET-2, RESET-4, EMAIL-5). */
export function mailLinksOfNameJob({
  db,
  secretKey,
}: Pick<Deps, 'db' | 'secretKey'>): JobHandler<'mail-links-of-name'> {
  return async ({ purpose, sealed, language }) => {
    const login = loginIn(secretKey, sealed);
    if (login === null) return;
    const find = purpose === 'password_reset' ? resetRecipients : verificationRecipients;
    for (const { ref, email } of await find(db, login)) {
      await db.transaction().execute(async (tx) => {
        if (await mayMail(tx, `${purpose}:${ref}`))
          await mailLink(tx, { userRef: ref, purpose, email, language });
      });
    }
  };
}
