import type { Language } from '@vitrine/contract/languages';
import type { Deps } from '../../core/deps.ts';
import { MailRefused } from '../../platform/mail/refused.ts';
import { sendMail } from '../../platform/mail/send.ts';
import { asHtml, asText, type LetterItem } from './letter.ts';
import { idHost, type Mail, readMail } from './settings.ts';

/** How the library sends mail with addresses of its own pages. */
export type LinkMail = Mail & { baseUrl: string };

type MailDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

/** Returns how mail with addresses is sent; null without a mail server or a public address. */
export async function readLinkMail(deps: MailDeps): Promise<LinkMail | null> {
  const mail = await readMail(deps);
  return mail === null || mail.baseUrl === null
    ? null
    : { ...mail, baseUrl: mail.baseUrl.replace(/\/$/, '') };
}

/** Returns whether mail with addresses can be sent. */
export async function sendsLinks(deps: MailDeps): Promise<boolean> {
  return (await readLinkMail(deps)) !== null;
}

export interface LinkLetter {
  to: string;
  language: Language;
  subject: string;
  greeting: string;
  items: readonly LetterItem[];
  /** The prefix of its Message-ID. */
  id: string;
}

/** Sends the mail. Returns false when the server refuses it permanently; throws temporary errors, so that the job is retried. */
export async function postLink(
  { log }: Pick<Deps, 'log'>,
  mail: LinkMail,
  { to, id, ...letter }: LinkLetter,
): Promise<boolean> {
  const written = { ...letter, closing: [{ text: mail.siteName, link: mail.baseUrl }] };
  try {
    await sendMail(mail.server, mail.from, {
      to,
      subject: letter.subject,
      text: asText(written),
      html: asHtml(written),
      id: `${id}@${idHost(mail)}`,
    });
    return true;
  } catch (error) {
    if (!(error instanceof MailRefused) || !error.permanent) throw error;
    log.warn({ answer: error.answer }, 'the mail server permanently refused a mail');
    return false;
  }
}
