import type { Language } from '@vitrine/contract/languages';
import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler, Jobs } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { preferredLanguage } from '../../../platform/language/preferred.ts';
import { say } from '../../../platform/language/say.ts';
import { randomToken } from '../../identity/access-tokens.ts';
import { hashToken } from '../../identity/sessions.ts';
import type { Letter } from '../../mail/letter.ts';
import { type LinkMail, postLink, readLinkMail } from '../../mail/links.ts';
import { type LinkPurpose, linkMinutes } from '../links.ts';

type MailDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

type Words = Pick<Letter, 'subject' | 'greeting' | 'items'>;

type LinkWording = (language: Language, name: string, mail: LinkMail, token: string) => Words;

const links: Readonly<Record<LinkPurpose, LinkWording>> = {
  password_reset: (language, name, { siteName: site, baseUrl }, token) => ({
    subject: say(language, 'A new password for {site}', { site }),
    greeting: say(
      language,
      'Somebody asked for a new password for the account {name} on {site}. The link works once, within an hour. If it was not you, ignore this mail.',
      { name, site },
    ),
    items: [{ text: say(language, 'Set a new password'), quote: null, link: `${baseUrl}/reset/${token}` }],
  }),
  verify_email: (language, name, { siteName: site, baseUrl }, token) => ({
    subject: say(language, 'Confirm your e-mail for {site}', { site }),
    greeting: say(
      language,
      'This address was entered for the account {name} on {site}. The link works once, within a day. If it was not you, ignore this mail.',
      { name, site },
    ),
    items: [{ text: say(language, 'Confirm this address'), quote: null, link: `${baseUrl}/verify/${token}` }],
  }),
};

/** Mails a link that is still wanted. Creates its token and stores the hash (EMAIL-3); a retry replaces it. */
export function mailAccountLinkJob(deps: MailDeps): JobHandler<'mail-account-link'> {
  return async ({ id, language: asked = 'en' }, { log }) => {
    const mail = await readLinkMail(deps);
    if (mail === null) return;
    const token = randomToken();
    const { rows } = await sql<{
      username: string;
      email: string;
      purpose: LinkPurpose;
      preferences: object;
    }>`
      update account_links l set token_hash = ${hashToken(token)},
        expires_at = now() + make_interval(mins => case l.purpose when 'password_reset'
          then ${linkMinutes.password_reset}::integer else ${linkMinutes.verify_email}::integer end)
      from users u where l.id = ${id} and l.expires_at > now() and u.ref = l.user_ref
      returning u.username, l.email, l.purpose, u.preferences`.execute(deps.db);
    const link = rows[0];
    if (link === undefined) return;
    const language = preferredLanguage(link.preferences) ?? asked;
    const words = links[link.purpose](language, link.username, mail, token);
    const suffix = hashToken(token).toString('hex').slice(0, 12);
    await postLink({ log }, mail, { ...words, language, to: link.email, id: `account.${id}.${suffix}` });
  };
}

async function accountOf(
  db: Database,
  user: number,
): Promise<{ username: string; preferences: unknown } | null> {
  const columns = ['username', 'preferences'] as const;
  return (await db.selectFrom('users').select(columns).where('ref', '=', user).executeTakeFirst()) ?? null;
}

type Notice = Jobs['mail-account-notice']['notice'];

const notices: Readonly<Record<Notice, (language: Language, name: string, mail: LinkMail) => Words>> = {
  'email-changes': (language, name, { siteName: site, baseUrl }) => ({
    subject: say(language, 'The e-mail of your account on {site} is about to change', { site }),
    greeting: say(
      language,
      'Another e-mail was entered for the account {name} on {site}. It counts once it is confirmed. If it was not you, change your password.',
      { name, site },
    ),
    items: [{ text: say(language, 'Security settings'), quote: null, link: `${baseUrl}/settings/security` }],
  }),
  'known-address': (language, name, { siteName: site, baseUrl }) => ({
    subject: say(language, 'You already have an account on {site}', { site }),
    greeting: say(
      language,
      'Somebody tried to register with this address on {site}, where your account is {name}. If it was you, sign in with it. If not, ignore this mail.',
      { name, site },
    ),
    items: [{ text: say(language, 'Sign in'), quote: null, link: `${baseUrl}/sign-in` }],
  }),
  'account-deleted': (language, name, { siteName: site }) => ({
    subject: say(language, 'Your account on {site} was deleted', { site }),
    greeting: say(
      language,
      'You asked to have the account {name} on {site} deleted. This was done. What you published stays without your name.',
      { name, site },
    ),
    items: [],
  }),
  'account-archived': (language, name, { siteName: site }) => ({
    subject: say(language, 'Your account on {site} was archived', { site }),
    greeting: say(
      language,
      'You asked to have the account {name} on {site} deleted. It was archived instead: nobody can sign in with it any more.',
      { name, site },
    ),
    items: [],
  }),
};

/** Tells the owner of an address what was done with it (EMAIL-4, REGISTER-3, DELETION-4). */
export function mailAccountNoticeJob(deps: MailDeps): JobHandler<'mail-account-notice'> {
  return async ({ user, to, notice, id, username, language: former }, { log }) => {
    const mail = await readLinkMail(deps);
    const account = await accountOf(deps.db, user);
    const name = username ?? account?.username;
    if (mail === null || name === undefined) return;
    const language = former ?? preferredLanguage(account?.preferences) ?? 'en';
    const words = notices[notice](language, name, mail);
    await postLink({ log }, mail, { ...words, language, to, id: `notice.${id}` });
  };
}
