import { randomUUID } from 'node:crypto';
import { sendTestMail } from '@vitrine/contract/mail';
import { recordEvent } from '../audit/record.ts';
import { handle } from '../handle.ts';
import { refuse } from '../platform/http/refuse.ts';
import { MailRefused, sendMail } from '../platform/mail/send.ts';
import { asHtml, asText, type Letter } from './letter.ts';
import { idHost, readMail } from './settings.ts';

/** Sends a message immediately, so that an operator sees the mail server's reply. Recorded either way. */
export const testMail = handle(sendTestMail, async (deps, { caller, body }) => {
  const mail = await readMail(deps);
  if (mail === null) throw refuse(409, 'no mail server is set up');
  const letter: Letter = {
    subject: `A test message from ${mail.siteName}`,
    greeting: `${mail.siteName} can send mail.`,
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
  const outcome = await sendMail(mail.server, mail.from, message).catch((error: unknown) => {
    if (error instanceof MailRefused) return error;
    throw error;
  });
  const refused = outcome instanceof MailRefused;
  const words = refused ? outcome.message : outcome;
  await deps.db.transaction().execute((tx) =>
    recordEvent(tx, caller, {
      event: 'system.mail.tested',
      metadata: { email: body.to, accepted: !refused, answer: words },
    }),
  );
  if (refused) throw refuse(409, `the mail server refused the message: ${words}`);
  return { status: 200, body: { accepted: true, message: words } };
});
