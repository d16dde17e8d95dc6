import { randomUUID } from 'node:crypto';
import { sendTestMail } from '@vitrine/contract/mail';
import { handle } from '../../core/handle.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { preferredLanguage } from '../../platform/language/preferred.ts';
import { say } from '../../platform/language/say.ts';
import { MailRefused } from '../../platform/mail/refused.ts';
import { sendMail } from '../../platform/mail/send.ts';
import { recordEvent } from '../audit/record.ts';
import { asHtml, asText, type Letter } from './letter.ts';
import { idHost, readMail } from './settings.ts';

/**
 * Sends a message immediately, so that an operator sees whether the mail server takes it. Recorded either way. The
 * server's words are in the log only (NOTICE-15).
 */
export const testMail = handle(sendTestMail, async (deps, { caller, body }) => {
  const mail = await readMail(deps);
  if (mail === null) throw refuse('mail-server-not-set-up');
  const language = preferredLanguage(caller.account.preferences) ?? 'en';
  const letter: Letter = {
    language,
    subject: say(language, 'A test message from {site}', { site: mail.siteName }),
    greeting: say(language, '{site} can send mail.', { site: mail.siteName }),
    items: [],
    closing: [{ text: mail.siteName, link: mail.baseUrl }],
  };
  const message = {
    to: body.to,
    subject: letter.subject,
    text: asText(letter),
    html: asHtml(letter),
    id: `test.${randomUUID()}@${idHost(mail)}`,
  };
  const refusal = await sendMail(mail.server, mail.from, message).then(
    () => null,
    (error: unknown) => {
      if (error instanceof MailRefused) return error;
      throw error;
    },
  );
  const { outcome, code } = refusal ?? { outcome: 'accepted', code: null };
  await deps.db.transaction().execute((tx) =>
    recordEvent(tx, caller, {
      event: 'system.mail.tested',
      metadata: { email: body.to, accepted: refusal === null, outcome, code },
    }),
  );
  if (refusal !== null) {
    deps.log.warn({ outcome, code, answer: refusal.answer }, 'the mail server refused a test message');
    throw refuse('message-not-sent', { reason: sentenceOfError(refusal) });
  }
  return { status: 200, body: { accepted: true, message: 'the mail server accepted the message' } };
});
