import { sql } from 'kysely';
import { displayName } from '../../../access/identities.ts';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { preferredLanguage } from '../../../platform/language/preferred.ts';
import { say } from '../../../platform/language/say.ts';
import { randomToken } from '../../identity/access-tokens.ts';
import { hashToken } from '../../identity/sessions.ts';
import { postLink, readLinkMail } from '../../mail/links.ts';
import { findOpenInvitation } from '../open.ts';

type MailDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

/**
 * Mails an invitation that is still open. The token in the mail is created here and stored as a hash only (INVITE-4); a
 * retry replaces it.
 */
export function mailInvitationJob(deps: MailDeps): JobHandler<'mail-invitation'> {
  return async ({ id }, { log }) => {
    const { db } = deps;
    const mail = await readLinkMail(deps);
    const invitation = await findOpenInvitation(db, sql`i.id = ${id}`);
    if (mail === null || invitation === null || invitation.email === null) return;
    const { rows } = await sql<{ name: string; message: string | null; preferences: object }>`
      select ${displayName({ kind: 'anonymous' }, 'u')} as name, i.message, u.preferences
      from invitations i join users u on u.ref = i.given_by_user_ref where i.id = ${id}`.execute(db);
    const { name, message, preferences } = rows[0] ?? { name: mail.siteName, message: null, preferences: {} };
    // The invited person has no account yet, so the mail is in the language of the inviter (LANGUAGE-4).
    const language = preferredLanguage(preferences) ?? 'en';
    const site = mail.siteName;
    const token = randomToken();
    await db
      .updateTable('invitations')
      .set({ mailed_token_hash: hashToken(token) })
      .where('id', '=', id)
      .execute();
    const isSent = await postLink({ log }, mail, {
      to: invitation.email,
      language,
      subject: say(language, '{name} invites you to {site}', { name, site }),
      greeting: say(language, '{name} invites you to {site}.', { name, site }),
      items: [
        {
          text: say(language, 'Create your account'),
          quote: message,
          link: `${mail.baseUrl}/invite/${token}`,
        },
      ],
      id: `invitation.${id}.${hashToken(token).toString('hex').slice(0, 12)}`,
    });
    if (!isSent) await db.updateTable('invitations').set({ mailed: false }).where('id', '=', id).execute();
  };
}
