/** A mail server, parsed from its address. */
export interface MailServer {
  host: string;
  port: number;
  /** Uses TLS from the first byte (smtps). */
  secure: boolean;
  /** Otherwise: TLS if the server offers it, always, never, or without verifying its certificate. */
  tls: 'offered' | 'required' | 'off' | 'unverified';
  user: string | null;
  password: string | null;
}

/** The sender of mail. */
export interface Sender {
  address: string;
  name: string | null;
}

const modes = ['required', 'off', 'unverified'] as const;
const addressPattern = /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/;

/** Parses a mail server's address; returns an error text when it is invalid. */
export function readMailServer(text: string): MailServer | string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    return 'must be an address smtp://host or smtps://host';
  }
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '') return 'must not have a path';
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'tls');
  if (unknown !== undefined) return `has an unknown option ${unknown}`;
  const given = url.searchParams.get('tls');
  const mode = modes.find((known) => known === given);
  if (given !== null && mode === undefined) return `tls must be one of ${modes.join(', ')}`;
  const secure = url.protocol === 'smtps:';
  const parts = decoded([url.username, url.password]);
  if (parts === null) return 'has a user name or password that is not percent-encoded';
  const [user = '', password = ''] = parts;
  if (user === '' && password !== '') return 'has a password but no user name';
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    tls: mode ?? 'offered',
    user: user === '' ? null : user,
    password: password === '' ? null : password,
  };
}

function decoded(parts: readonly string[]): string[] | null {
  try {
    const texts = parts.map(decodeURIComponent);
    return texts.some((text) => /[\r\n\0]/.test(text)) ? null : texts;
  } catch {
    return null;
  }
}

/** Parses `name@host` or `Name <name@host>`; returns an error text when it is neither. */
export function readSender(text: string): Sender | string {
  const [, name, bracketed] = /^\s*"?([^"<>\r\n]*?)"?\s*<([^<>]*)>\s*$/.exec(text) ?? [];
  const address = (bracketed ?? text).trim();
  if (!addressPattern.test(address) || address.length > 254) return 'must be name@host or Name <name@host>';
  return { address, name: name === undefined || name === '' ? null : name };
}
