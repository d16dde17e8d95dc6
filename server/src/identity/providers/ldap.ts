import { randomUUID } from 'node:crypto';
import { type Client, type Entry, ResultCodeError } from 'ldapts';
import type { IdentityProvider, ProvidedIdentity } from '../provider.ts';
import { overConnection } from './connection.ts';
import { filterFor, type LdapSettings } from './settings.ts';

/**
 * What a directory answers to a bind it does not accept (RFC 4511 appendix A): constraint violation (locked out),
 * no such object, inappropriate authentication (an entry without a password), invalid credentials, unwilling to
 * perform (switched off). Anything else is a fault of the directory or of the settings.
 */
const refusals = new Set([19, 32, 48, 49, 53]);

/**
 * Whether a directory reads the name as it is typed. It leaves out control and format characters, folds compatible
 * ones and trims spaces (RFC 4518), so that many texts would be one name here and each its own in the lock-out.
 */
function isReadAsTyped(username: string): boolean {
  return (
    username !== '' &&
    !/\p{C}|\s\s/u.test(username) &&
    username.trim() === username &&
    username.normalize('NFC') === username.normalize('NFKC')
  );
}

type Value = string | Buffer;

/** The values of the first of these attributes that an entry has; names of attributes have no case. */
function valuesOf(entry: Entry, attributes: readonly string[]): Value[] {
  for (const attribute of attributes) {
    const found = Object.entries(entry).find(([name]) => name.toLowerCase() === attribute.toLowerCase());
    const values = found === undefined ? [] : [found[1]].flat();
    if (values.length > 0) return values;
  }
  return [];
}

/** The first text of these attributes, trimmed; null when there is none. */
function textOf(entry: Entry, attributes: readonly string[]): string | null {
  const [first] = valuesOf(entry, attributes);
  const text = typeof first === 'string' ? first.trim() : '';
  return text === '' ? null : text;
}

/** A GUID as its directory writes it: the first three groups have their bytes in reverse. */
function guidText(bytes: Buffer): string {
  const hex = (from: number, to: number) => bytes.toString('hex', from, to);
  const reversed = Buffer.from([3, 2, 1, 0, 5, 4, 7, 6].map((at) => bytes[at] ?? 0)).toString('hex');
  return [reversed.slice(0, 8), reversed.slice(8, 12), reversed.slice(12), hex(8, 10), hex(10, 16)].join('-');
}

function subjectText(attribute: string, value: Value): string {
  if (attribute.toLowerCase() === 'objectguid') {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    if (bytes.length === 16) return guidText(bytes);
  }
  return typeof value === 'string' ? value : value.toString('hex');
}

function subjectOf(entry: Entry, configured: string | null): string {
  for (const attribute of configured === null ? ['entryUUID', 'objectGUID'] : [configured]) {
    const [value, second] = valuesOf(entry, [attribute]);
    if (second !== undefined) throw new Error(`${entry.dn} has more than one ${attribute}`);
    if (value !== undefined && value.length > 0) return subjectText(attribute, value);
  }
  if (configured !== null) throw new Error(`${entry.dn} has no ${configured}`);
  return entry.dn;
}

function identityOf(entry: Entry, settings: LdapSettings): ProvidedIdentity {
  const { usernameAttributes, fullnameAttributes, emailAttributes, subjectAttribute } = settings;
  const username = textOf(entry, usernameAttributes);
  if (username === null) {
    throw new Error(`${entry.dn} has no username to use in ${usernameAttributes.join(' or ')}`);
  }
  return {
    subject: subjectOf(entry, subjectAttribute),
    username,
    fullname: textOf(entry, fullnameAttributes),
    email: textOf(entry, emailAttributes),
  };
}

/** Says with the error what was being done: a directory's own codes tell an operator little. */
async function during<T>(step: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof ResultCodeError)) throw cause;
    throw new Error(`${step}: ${cause.name}`, { cause });
  }
}

/** The one entry of this name; null when there is none or more than one. References elsewhere are not followed. */
async function findEntry(client: Client, settings: LdapSettings, username: string): Promise<Entry | null> {
  const subject =
    settings.subjectAttribute === null ? ['entryUUID', 'objectGUID'] : [settings.subjectAttribute];
  const { usernameAttributes, fullnameAttributes, emailAttributes } = settings;
  const { searchEntries } = await client.search(settings.searchBase, {
    scope: 'sub',
    filter: filterFor(settings.userFilter, username),
    attributes: [...new Set([...subject, ...usernameAttributes, ...fullnameAttributes, ...emailAttributes])],
    explicitBufferAttributes: ['objectGUID'],
    sizeLimit: 2,
  });
  const [entry, second] = searchEntries;
  // A bind without a DN is an anonymous one, and always succeeds.
  return entry === undefined || second !== undefined || entry.dn === '' ? null : entry;
}

async function accepts(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (error instanceof ResultCodeError && refusals.has(error.code)) return false;
    throw error;
  }
}

/**
 * A person is found by the search, and is whom they say when the directory accepts their password for that entry.
 * Whatever is missing, the same is asked in the same order, so that time does not tell a name from a password.
 */
async function verifyOver(
  client: Client,
  settings: LdapSettings,
  username: string,
  password: string,
): Promise<ProvidedIdentity | null> {
  const { bind, searchBase } = settings;
  if (bind !== null) await during(`binding as ${bind.dn}`, client.bind(bind.dn, bind.password));
  const isName = isReadAsTyped(username);
  const search = findEntry(client, settings, isName ? username : randomUUID());
  const found = await during(`searching ${searchBase}`, search);
  const entry = isName ? found : null;
  // A bind with an empty password is an unauthenticated one, and many directories accept it (RFC 4513 section 5.1.2);
  // to some a password ends at its first NUL.
  const isPassword = password !== '' && !password.includes('\0');
  const dn = entry?.dn ?? `cn=${randomUUID()},${searchBase}`;
  const accepted = await during(
    `binding as ${dn}`,
    accepts(client, dn, isPassword ? password : randomUUID()),
  );
  return entry !== null && isPassword && accepted ? identityOf(entry, settings) : null;
}

/** A directory that is asked over LDAP, on a new connection for each sign-in. */
export function openLdap(settings: LdapSettings): IdentityProvider {
  return {
    async verify(username, password) {
      try {
        return await overConnection(settings, (client) => verifyOver(client, settings, username, password));
      } catch (cause) {
        throw new Error(`the directory ${settings.host}:${settings.port} could not be asked`, { cause });
      }
    },
  };
}
