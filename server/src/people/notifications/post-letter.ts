import type { Language } from '@vitrine/contract/languages';
import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { say } from '../../platform/language/say.ts';
import { MailRefused } from '../../platform/mail/refused.ts';
import { sendMail } from '../../platform/mail/send.ts';
import { asHtml, asText, type LetterItem } from '../mail/letter.ts';
import { idHost, type Mail } from '../mail/settings.ts';
import { unsubscribeAddress } from './unsubscribe.ts';

export interface Posted {
  language: Language;
  subject: string;
  greeting: string;
  items: readonly LetterItem[];
  /** The prefix of its Message-ID. */
  id: string;
}

/**
 * Mails an account, with an unsubscribe address. Returns false, after recording it, when the server refuses
 * permanently; throws temporary errors, so that the job is retried.
 */
export async function postLetter(
  { secretKey, log }: Pick<Deps, 'secretKey' | 'log'>,
  mail: Mail,
  recipient: SignedIn,
  { language, subject, greeting, items, id }: Posted,
): Promise<boolean> {
  const to = recipient.account.email ?? '';
  const { baseUrl } = mail;
  const off = baseUrl === null ? null : unsubscribeAddress(secretKey, baseUrl, recipient.ref);
  const settings = baseUrl === null ? null : `${baseUrl}/settings/notifications`;
  const letter = {
    language,
    subject,
    greeting,
    items,
    closing: [
      { text: mail.siteName, link: baseUrl },
      { text: say(language, 'Notification settings'), link: settings },
      ...(off === null ? [] : [{ text: say(language, 'Unsubscribe'), link: off }]),
    ],
  };
  const headers: Record<string, string> =
    off === null
      ? {}
      : { 'List-Unsubscribe': `<${off}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
  try {
    await sendMail(mail.server, mail.from, {
      to,
      subject,
      text: asText(letter),
      html: asHtml(letter),
      id: `${id}@${idHost(mail)}`,
      headers,
    });
    return true;
  } catch (error) {
    if (!(error instanceof MailRefused) || !error.permanent) throw error;
    log.warn({ user: recipient.ref, answer: error.answer }, 'the mail server permanently refused a mail');
    return false;
  }
}
