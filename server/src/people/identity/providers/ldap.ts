import { randomUUID } from 'node:crypto';
import { type Client, type Entry, ResultCodeError } from 'ldapts';
import type { IdentityProvider, ProvidedIdentity } from '../../../core/identity-provider.ts';
import { filterFor, type LdapSettings } from '../../../core/identity-provider-settings.ts';
import { meaningInWords } from '../../../platform/faults/worded-errors.ts';
import { type Sentence, sentence, WordedError } from '../../../platform/language/sentence.ts';
import { overConnection } from './connection.ts';

/**
 * Result codes of a refused bind (RFC 4511 appendix A): constraint violation (locked out), no such object,
 * inappropriate authentication (an entry without a password), invalid credentials, unwilling to perform (disabled). Any
 * other code is an error of the directory or of the settings.
 */
const refusals = new Set([19, 32, 48, 49, 53]);

/**
 * Returns whether a directory reads the name as typed. Directories drop control and format characters, fold compatible
 * ones and trim spaces (RFC 4518), so that many spellings would be one name there and separate names for the lock-out.
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

/** Returns the values of the first of these attributes that an entry has; attribute names are case-insensitive. */
function valuesOf(entry: Entry, attributes: readonly string[]): Value[] {
  for (const attribute of attributes) {
    const found = Object.entries(entry).find(([name]) => name.toLowerCase() === attribute.toLowerCase());
    const values = found === undefined ? [] : [found[1]].flat();
    if (values.length > 0) return values;
  }
  return [];
}

/** Returns the first text of these attributes, trimmed; null when there is none. */
function textOf(entry: Entry, attributes: readonly string[]): string | null {
  const [first] = valuesOf(entry, attributes);
  const text = typeof first === 'string' ? first.trim() : '';
  return text === '' ? null : text;
}

/** Formats a GUID: the bytes of its first three groups are stored in reverse. */
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

const bindingAs = (dn: string) => sentence('binding as {dn}', { dn });
const searchingIn = (base: string) => sentence('searching {base}', { base });

/** Adds the operation to an error: a directory's codes alone help an operator little. */
async function during<T>(step: Sentence, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof ResultCodeError)) throw cause;
    const reason = meaningInWords([cause.name], cause.name);
    throw new WordedError(sentence('{attempt}: {reason}', { attempt: step, reason }), { cause });
  }
}

/** Returns the only entry with this name; null when there is none or more than one. Does not follow referrals. */
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
  // A bind without a DN is anonymous and always succeeds.
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
 * Does what precedes every sign-in: connects, binds as the reader and searches for a name that nobody has. Throws what
 * fails.
 */
export async function examineDirectory(settings: LdapSettings): Promise<void> {
  const { bind, searchBase } = settings;
  await overConnection(settings, async (client) => {
    if (bind !== null) await during(bindingAs(bind.dn), client.bind(bind.dn, bind.password));
    await during(searchingIn(searchBase), findEntry(client, settings, randomUUID()));
  });
}

/**
 * Finds the person by search and binds as that entry with their password. Sends the same operations in the same order
 * in every case, so that timing does not reveal whether the name exists.
 */
async function verifyOver(
  client: Client,
  settings: LdapSettings,
  username: string,
  password: string,
): Promise<ProvidedIdentity | null> {
  const { bind, searchBase } = settings;
  if (bind !== null) await during(bindingAs(bind.dn), client.bind(bind.dn, bind.password));
  const isName = isReadAsTyped(username);
  const search = findEntry(client, settings, isName ? username : randomUUID());
  const found = await during(searchingIn(searchBase), search);
  const entry = isName ? found : null;
  // A bind with an empty password is unauthenticated, and many directories accept it (RFC 4513 section 5.1.2); some end
  // a password at its first NUL.
  const isPassword = password !== '' && !password.includes('\0');
  const dn = entry?.dn ?? `cn=${randomUUID()},${searchBase}`;
  const accepted = await during(bindingAs(dn), accepts(client, dn, isPassword ? password : randomUUID()));
  return entry !== null && isPassword && accepted ? identityOf(entry, settings) : null;
}

/** Creates a provider that uses LDAP, with a new connection per sign-in. */
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
