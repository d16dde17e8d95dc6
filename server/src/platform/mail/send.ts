import type { MailServer, Sender } from './address.ts';
import { refusalOf } from './refused.ts';

export interface Message {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Without angle brackets; the same for every attempt, so that receivers can detect duplicates. */
  id: string;
  headers?: Readonly<Record<string, string>>;
}

const CONNECT_MS = 10_000;
const ANSWER_MS = 30_000;

/** Sanitises a value for one header line. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/** Sends a message, or throws MailRefused. */
export async function sendMail(server: MailServer, from: Sender, message: Message): Promise<void> {
  // Loaded on use: libraries without a mail server never need it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.secure,
    ignoreTLS: server.tls === 'off',
    requireTLS: server.tls === 'required',
    tls: { rejectUnauthorized: server.tls !== 'unverified' },
    ...(server.user === null ? {} : { auth: { user: server.user, pass: server.password ?? '' } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
    // No message refers to local files or remote addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from: { name: oneLine(from.name ?? ''), address: from.address },
      to: { name: '', address: message.to },
      envelope: { from: from.address, to: [message.to] },
      subject: oneLine(message.subject).slice(0, 200),
      text: message.text,
      html: message.html,
      messageId: `<${message.id}>`,
      xMailer: false,
      headers: {
        'Auto-Submitted': 'auto-generated',
        ...Object.fromEntries(
          Object.entries(message.headers ?? {}).map(([name, value]) => [name, oneLine(value)]),
        ),
      },
    });
  } catch (error) {
    throw refusalOf(error);
  } finally {
    transport.close();
  }
}
