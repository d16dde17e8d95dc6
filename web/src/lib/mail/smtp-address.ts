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

/** The choice that says what is kept; undefined without a server, and for one that no choice says. */
function encryptionOf({ secure, tls }: Pick<MailSettings, 'secure' | 'tls'>): Encryption | undefined {
  if (!secure) return tls ?? undefined;
  return tls === 'unverified' ? undefined : 'smtps';
}

/** How the way to the server is kept from others' eyes, in words. */
export function encryptionInWords(mail: Pick<MailSettings, 'secure' | 'tls'>): string {
  const kept = encryptionOf(mail);
  const label = encryptionChoices.find(({ value }) => value === kept)?.label;
  return label ?? 'From the beginning (TLS), with any certificate';
}

/** What a form begins with. The password is not told. */
export function draftOf(mail: MailSettings): ServerDraft {
  const { host, port, user } = mail;
  return {
    host: host ?? '',
    port: port === null ? '' : String(port),
    encryption: host === null ? 'offered' : (encryptionOf(mail) ?? ''),
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
