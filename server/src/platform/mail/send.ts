import type { MailServer, Sender } from './address.ts';

export interface Message {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Without angle brackets; the same for every attempt, so that receivers can detect duplicates. */
  id: string;
  headers?: Readonly<Record<string, string>>;
}

/** The mail server's reply when it refused a message. */
export class MailRefused extends Error {
  /** The refusal is permanent: retrying cannot succeed. */
  readonly permanent: boolean;
  constructor(message: string, permanent: boolean) {
    super(message);
    this.permanent = permanent;
  }
}

const CONNECT_MS = 10_000;
const ANSWER_MS = 30_000;

function property(error: unknown, name: 'code' | 'response' | 'responseCode'): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

/**
 * A 5xx about the message or its recipient is permanent; one about us (sign-in, encryption) can be fixed by an
 * operator.
 */
function refusalOf(error: unknown): MailRefused {
  const status = property(error, 'responseCode');
  const code = property(error, 'code');
  const response = property(error, 'response');
  const aboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
  const words =
    typeof response === 'string' ? response : error instanceof Error ? error.message : 'no answer';
  return new MailRefused(words.slice(0, 500), aboutMessage && typeof status === 'number' && status >= 500);
}

/** Sanitises a value for one header line. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/** Sends a message and returns the server's reply, or throws MailRefused. */
export async function sendMail(server: MailServer, from: Sender, message: Message): Promise<string> {
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
    const sent = await transport.sendMail({
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
    return sent.response;
  } catch (error) {
    throw refusalOf(error);
  } finally {
    transport.close();
  }
}
