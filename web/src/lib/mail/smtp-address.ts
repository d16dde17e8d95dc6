import type { MailSettings } from '@vitrine/contract/mail';

/** How the way to the mail server is kept from others' eyes. */
export type Encryption = 'smtps' | 'offered' | 'required' | 'unverified' | 'off';

export const encryptionChoices: readonly { readonly value: Encryption; readonly label: string }[] = [
  { value: 'smtps', label: 'From the beginning (TLS)' },
  { value: 'required', label: 'Always (STARTTLS)' },
  { value: 'offered', label: 'When the server offers it' },
  { value: 'unverified', label: 'With any certificate' },
  { value: 'off', label: 'None' },
];

/** A mail server as a form has it. */
export interface ServerDraft {
  host: string;
  /** Empty: what is usual for the encryption. */
  port: string;
  encryption: Encryption | '';
  user: string;
  password: string;
}

/** What a form begins with. Neither the password nor what was said of the encryption is told. */
export function draftOf({ host, port, secure, user }: MailSettings): ServerDraft {
  return {
    host: host ?? '',
    port: port === null ? '' : String(port),
    encryption: secure ? 'smtps' : host === null ? 'offered' : '',
    user: user ?? '',
    password: '',
  };
}

/** A mail server's address as the service takes it. */
export function smtpAddress({ host, port, encryption, user, password }: ServerDraft): string {
  const name = host.trim();
  // An IPv6 address has colons of its own.
  const where = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  const who = user === '' ? '' : `${encode(user)}${password === '' ? '' : `:${encode(password)}`}@`;
  const scheme = encryption === 'smtps' ? 'smtps' : 'smtp';
  const plain = encryption === 'smtps' || encryption === 'offered' || encryption === '';
  return `${scheme}://${who}${where}${port.trim() === '' ? '' : `:${port.trim()}`}${plain ? '' : `?tls=${encryption}`}`;
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The server in a line: "mail.example.org, port 587". */
export function serverInWords({ host, port }: MailSettings): string {
  if (host === null) return 'No mail server';
  return port === null ? host : `${host}, port ${port}`;
}
