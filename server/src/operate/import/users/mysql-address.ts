import { ConfigError } from '../../../core/config.ts';
import { sentence } from '../../../platform/language/sentence.ts';

export interface MysqlAddress {
  host: string;
  port: number;
  user: string;
  password: string | null;
  database: string;
  /** A Unix socket, used instead of host and port. */
  socketPath: string | null;
  tls: boolean;
}

const form = 'mysql://user:password@host/database';
const malformed = () => new ConfigError(sentence('--mysql must look like {form}', { form }));

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Parses a MySQL address with optional `?socket=PATH` and `?ssl=on`. The password may contain any character: the last
 * `@` ends it, and it is percent-decoded if possible. Throws a ConfigError that does not repeat the password.
 */
export function readMysqlAddress(text: string): MysqlAddress {
  const parts = /^mysql:\/\/(?:([^:@]*)(?::(.*))?@)?([^@]*)$/s.exec(text);
  const place = `mysql://${parts?.[3] ?? ''}`;
  if (parts === null || !URL.canParse(place)) throw malformed();
  const { hostname, port, pathname, searchParams } = new URL(place);
  const database = decode(pathname.slice(1));
  if (hostname === '' || database === '') throw malformed();
  for (const name of searchParams.keys()) {
    if (name !== 'socket' && name !== 'ssl')
      throw new ConfigError(sentence('--mysql has an unknown parameter {name}', { name }));
  }
  const ssl = searchParams.get('ssl') ?? 'off';
  if (ssl !== 'on' && ssl !== 'off')
    throw new ConfigError(sentence('the parameter ssl of --mysql is on or off'));
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    user: parts[1] === undefined ? '' : decode(parts[1]),
    password: parts[2] === undefined ? null : decode(parts[2]),
    database,
    socketPath: searchParams.get('socket'),
    tls: ssl === 'on',
  };
}
