import type { MailSettings } from '@vitrine/contract/mail';

/** The encryption of the connection to the mail server. */
export type Encryption = 'smtps' | 'offered' | 'required' | 'unverified' | 'off';

export const encryptionChoices: readonly { readonly value: Encryption; readonly label: string }[] = [
  { value: 'smtps', label: 'From the start (TLS)' },
  { value: 'required', label: 'Always (STARTTLS)' },
  { value: 'offered', label: 'When the server offers it' },
  { value: 'unverified', label: 'With any certificate' },
  { value: 'off', label: 'None' },
];

/** The mail server in the form. */
export interface ServerDraft {
  host: string;
  /** Empty: the default port of the encryption. */
  port: string;
  encryption: Encryption | '';
  user: string;
  password: string;
}

/** Returns the stored encryption as a choice; undefined without a server or if no choice matches. */
function encryptionOf({ secure, tls }: Pick<MailSettings, 'secure' | 'tls'>): Encryption | undefined {
  if (!secure) return tls ?? undefined;
  return tls === 'unverified' ? undefined : 'smtps';
}

/** Describes the encryption of the connection. */
export function encryptionInWords(mail: Pick<MailSettings, 'secure' | 'tls'>): string {
  const kept = encryptionOf(mail);
  const label = encryptionChoices.find(({ value }) => value === kept)?.label;
  return label ?? 'From the start (TLS), with any certificate';
}

/** Returns the initial form, without the password, which the service does not return. */
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

/** Returns the address of the mail server for the service. */
export function smtpAddress({ host, port, encryption, user, password }: ServerDraft): string {
  const name = host.trim();
  // An IPv6 address contains colons.
  const where = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  const who = user === '' ? '' : `${encode(user)}${password === '' ? '' : `:${encode(password)}`}@`;
  const scheme = encryption === 'smtps' ? 'smtps' : 'smtp';
  const plain = encryption === 'smtps' || encryption === 'offered' || encryption === '';
  return `${scheme}://${who}${where}${port.trim() === '' ? '' : `:${port.trim()}`}${plain ? '' : `?tls=${encryption}`}`;
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Describes the server in one line: "mail.example.org, port 587". */
export function serverInWords({ host, port }: MailSettings): string {
  if (host === null) return 'No mail server';
  return port === null ? host : `${host}, port ${port}`;
}
