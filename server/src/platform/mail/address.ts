import { type Sentence, sentence } from '../language/sentence.ts';

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

/** What is wrong with an address; its subject is the setting. */
export interface Faulty {
  readonly fault: Sentence;
}

const faulty = (fault: Sentence): Faulty => ({ fault });

/** Parses a mail server's address; returns its fault when it is invalid. */
export function readMailServer(text: string): MailServer | Faulty {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    return faulty(sentence('must be an address smtp://host or smtps://host'));
  }
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '')
    return faulty(sentence('must not have a path'));
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'tls');
  if (unknown !== undefined) return faulty(sentence('has an unknown option {option}', { option: unknown }));
  const given = url.searchParams.get('tls');
  const mode = modes.find((known) => known === given);
  if (given !== null && mode === undefined)
    return faulty(sentence('tls must be one of {allowed}', { allowed: modes.join(', ') }));
  const secure = url.protocol === 'smtps:';
  const parts = decoded([url.username, url.password]);
  if (parts === null) return faulty(sentence('has a user name or password that is not percent-encoded'));
  const [user = '', password = ''] = parts;
  if (user === '' && password !== '') return faulty(sentence('has a password but no user name'));
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

/** Parses `name@host` or `Name <name@host>`; returns the fault when it is neither. */
export function readSender(text: string): Sender | Faulty {
  const [, name, bracketed] = /^\s*"?([^"<>\r\n]*?)"?\s*<([^<>]*)>\s*$/.exec(text) ?? [];
  const address = (bracketed ?? text).trim();
  if (!addressPattern.test(address) || address.length > 254)
    return faulty(sentence('must be {one} or {other}', { one: 'name@host', other: 'Name <name@host>' }));
  return { address, name: name === undefined || name === '' ? null : name };
}
