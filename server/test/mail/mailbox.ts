import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { listen } from '../support/listen.ts';

/** The mail that a real server accepted, parsed. */
export interface Mailbox {
  url: string;
  /** Everything that was delivered, in order. */
  mails: Email[];
  /** The same mails as received, unparsed. */
  raw: string[];
  /** The envelope recipients of each mail. */
  recipients: string[][];
  /** The number of connections. */
  connections: number;
  /** Returns the mails of one recipient. */
  to(address: string): Email[];
  empty(): void;
  close(): Promise<void>;
}

/** Returns an SMTP error with this status. */
export function smtpError(status: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: status });
}

export async function openMailbox(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const mails: Email[] = [];
  const raw: string[] = [];
  const recipients: string[][] = [];
  const server = new SMTPServer({
    authOptional: options.onAuth === undefined,
    disabledCommands: options.onAuth === undefined ? ['AUTH', 'STARTTLS'] : ['STARTTLS'],
    allowInsecureAuth: true,
    logger: false,
    // Closes connections that remain open.
    closeTimeout: 100,
    onConnect(_, done) {
      mailbox.connections += 1;
      done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        raw.push(text);
        recipients.push(session.envelope.rcptTo.map(({ address }) => address));
        PostalMime.parse(text).then(
          (mail) => {
            mails.push(mail);
            done(null, 'kept as 42');
          },
          (error: Error) => done(error),
        );
      });
    },
    ...options,
  });
  // A client that disconnects early is not an error of the server.
  server.on('error', () => {});
  const mailbox: Mailbox = {
    url: `smtp://127.0.0.1:${await listen(server.server)}`,
    mails,
    raw,
    recipients,
    connections: 0,
    to: (address) => mails.filter((_, index) => recipients[index]?.includes(address) === true),
    empty() {
      for (const list of [mails, raw, recipients]) list.splice(0);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailbox;
}

/** Opens a mailbox for one test. */
export async function mailboxHere(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const mailbox = await openMailbox(options);
  onTestFinished(mailbox.close);
  return mailbox;
}
