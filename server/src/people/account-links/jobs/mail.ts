import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler, Jobs } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { randomToken } from '../../identity/access-tokens.ts';
import { hashToken } from '../../identity/sessions.ts';
import type { Letter } from '../../mail/letter.ts';
import { type LinkMail, postLink, readLinkMail } from '../../mail/links.ts';
import { type LinkPurpose, linkMinutes } from '../links.ts';

type MailDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

function letterOf(purpose: LinkPurpose, username: string, { siteName, baseUrl }: LinkMail, token: string) {
  if (purpose === 'password_reset')
    return {
      subject: `A new password for ${siteName}`,
      greeting: `Somebody asked for a new password for the account ${username} on ${siteName}. The link works once, within an hour. If it was not you, ignore this mail.`,
      items: [{ text: 'Set a new password', quote: null, link: `${baseUrl}/reset/${token}` }],
    };
  return {
    subject: `Confirm your e-mail for ${siteName}`,
    greeting: `This address was entered for the account ${username} on ${siteName}. The link works once, within a day. If it was not you, ignore this mail.`,
    items: [{ text: 'Confirm this address', quote: null, link: `${baseUrl}/verify/${token}` }],
  };
}

/** Mails a link that is still wanted. Creates its token and stores the hash (EMAIL-3); a retry replaces it. */
export function mailAccountLinkJob(deps: MailDeps): JobHandler<'mail-account-link'> {
  return async ({ id }, { log }) => {
    const mail = await readLinkMail(deps);
    if (mail === null) return;
    const token = randomToken();
    const { rows } = await sql<{ username: string; email: string; purpose: LinkPurpose }>`
      update account_links l set token_hash = ${hashToken(token)},
        expires_at = now() + make_interval(mins => case l.purpose when 'password_reset'
          then ${linkMinutes.password_reset}::integer else ${linkMinutes.verify_email}::integer end)
      from users u where l.id = ${id} and l.expires_at > now() and u.ref = l.user_ref
      returning u.username, l.email, l.purpose`.execute(deps.db);
    const link = rows[0];
    if (link === undefined) return;
    const letter = letterOf(link.purpose, link.username, mail, token);
    const suffix = hashToken(token).toString('hex').slice(0, 12);
    await postLink({ log }, mail, { ...letter, to: link.email, id: `account.${id}.${suffix}` });
  };
}

async function nameOf(db: Database, user: number): Promise<string | null> {
  const row = await db.selectFrom('users').select('username').where('ref', '=', user).executeTakeFirst();
  return row?.username ?? null;
}

type Notice = Jobs['mail-account-notice']['notice'];

type NoticeLetter = Pick<Letter, 'subject' | 'greeting' | 'items'>;

const notices: Readonly<Record<Notice, (username: string, mail: LinkMail) => NoticeLetter>> = {
  'email-changes': (username, { siteName, baseUrl }) => ({
    subject: `The e-mail of your account on ${siteName} is about to change`,
    greeting: `Another e-mail was entered for the account ${username} on ${siteName}. It counts once it is confirmed. If it was not you, change your password.`,
    items: [{ text: 'Security settings', quote: null, link: `${baseUrl}/settings/security` }],
  }),
  'known-address': (username, { siteName, baseUrl }) => ({
    subject: `You already have an account on ${siteName}`,
    greeting: `Somebody tried to register with this address on ${siteName}, where your account is ${username}. If it was you, sign in with it. If not, ignore this mail.`,
    items: [{ text: 'Sign in', quote: null, link: `${baseUrl}/sign-in` }],
  }),
  'account-deleted': (username, { siteName }) => ({
    subject: `Your account on ${siteName} was deleted`,
    greeting: `You asked to have the account ${username} on ${siteName} deleted. This was done. What you published stays without your name.`,
    items: [],
  }),
  'account-archived': (username, { siteName }) => ({
    subject: `Your account on ${siteName} was archived`,
    greeting: `You asked to have the account ${username} on ${siteName} deleted. It was archived instead: nobody can sign in with it any more.`,
    items: [],
  }),
};

/** Tells the owner of an address what was done with it (EMAIL-4, REGISTER-3, DELETION-4). */
export function mailAccountNoticeJob(deps: MailDeps): JobHandler<'mail-account-notice'> {
  return async ({ user, to, notice, id, username }, { log }) => {
    const mail = await readLinkMail(deps);
    const name = username ?? (await nameOf(deps.db, user));
    if (mail === null || name === null) return;
    await postLink({ log }, mail, { ...notices[notice](name, mail), to, id: `notice.${id}` });
  };
}
