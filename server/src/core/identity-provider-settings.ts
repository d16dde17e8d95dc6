import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Filter, FilterParser } from 'ldapts';
import { type Sentence, sentence } from '../platform/language/sentence.ts';

/** How to find people in a directory, and which attributes to read. */
export interface LdapSettings {
  name: 'ldap';
  host: string;
  port: number;
  /** `tls`: from the first byte (ldaps). `starttls`: before any other message. */
  security: 'none' | 'starttls' | 'tls';
  /** PEM of the trusted authorities; null: the public ones. */
  authorities: string | null;
  /** The account for searching; null: anonymous. */
  bind: { dn: string; password: string } | null;
  searchBase: string;
  /** RFC 4515, with `{username}` as placeholder for the typed name. */
  userFilter: string;
  /** The attribute with the permanent id; null: entryUUID, else objectGUID, else the DN. */
  subjectAttribute: string | null;
  /** In each list, the first attribute that an entry has is used. */
  usernameAttributes: readonly string[];
  fullnameAttributes: readonly string[];
  emailAttributes: readonly string[];
  /** Timeout for the connection, and separately for the whole exchange. */
  timeoutMs: number;
}

/** A provider that may be registered without further settings; its sign-in returns 501 (SIGNIN-4). */
interface NamedSettings {
  name: 'oidc' | 'saml';
}

export type ProviderSettings = LdapSettings | NamedSettings;

const ldapNames = [
  'VITRINE_LDAP_URL',
  'VITRINE_LDAP_STARTTLS',
  'VITRINE_LDAP_CA_FILE',
  'VITRINE_LDAP_BIND_DN',
  'VITRINE_LDAP_BIND_PASSWORD',
  'VITRINE_LDAP_SEARCH_BASE',
  'VITRINE_LDAP_USER_FILTER',
  'VITRINE_LDAP_SUBJECT_ATTRIBUTE',
  'VITRINE_LDAP_USERNAME_ATTRIBUTE',
  'VITRINE_LDAP_FULLNAME_ATTRIBUTE',
  'VITRINE_LDAP_EMAIL_ATTRIBUTE',
] as const;
type LdapName = (typeof ldapNames)[number];

/** The settings of identity providers, part of the closed list in config.ts. */
export const providerSettingNames = ['VITRINE_IDENTITY_PROVIDERS', ...ldapNames] as const;
type Name = (typeof providerSettingNames)[number];

export interface SettingsSource {
  /** The value; null when unset. */
  value(name: Name): string | null;
  /** The base directory of relative paths. */
  directory: string;
  /** Creates the error that stops the start with this one line. */
  refusal(reason: Sentence): Error;
}

const TIMEOUT_MS = 5000;

/** Common login attributes; e-mail is not among them, as many directories let people edit it. */
const defaultUserFilter = '(|(uid={username})(sAMAccountName={username}))';

const missing = (name: LdapName) =>
  sentence('{name} is missing: the provider {provider} needs it', { name, provider: 'ldap' });

function readEndpoint({ value, refusal }: SettingsSource): Pick<LdapSettings, 'host' | 'port' | 'security'> {
  const text = value('VITRINE_LDAP_URL');
  if (text === null) throw refusal(missing('VITRINE_LDAP_URL'));
  // The value is not repeated, as it may contain a password.
  const [, scheme, bracketed, plain, port] =
    /^(ldaps?):\/\/(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?\/?$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    throw refusal(
      sentence('VITRINE_LDAP_URL must be ldap://host, ldaps://host or either with :port, and nothing more'),
    );
  }
  const isTls = scheme?.toLowerCase() === 'ldaps';
  const startTls = value('VITRINE_LDAP_STARTTLS') ?? 'off';
  if (startTls !== 'on' && startTls !== 'off') {
    throw refusal(
      sentence('{name} must be one of {allowed}, not {given}', {
        name: 'VITRINE_LDAP_STARTTLS',
        allowed: 'on, off',
        given: JSON.stringify(startTls),
      }),
    );
  }
  if (isTls && startTls === 'on') {
    throw refusal(
      sentence('VITRINE_LDAP_STARTTLS is for ldap:// alone: an ldaps:// address in VITRINE_LDAP_URL is TLS'),
    );
  }
  const security = isTls ? 'tls' : startTls === 'on' ? 'starttls' : 'none';
  return { host, port: port === undefined ? (isTls ? 636 : 389) : Number(port), security };
}

function readAuthorities(source: SettingsSource, security: LdapSettings['security']): string | null {
  const { value, directory, refusal } = source;
  const file = value('VITRINE_LDAP_CA_FILE');
  if (file === null) return null;
  if (security === 'none') {
    throw refusal(
      sentence(
        'VITRINE_LDAP_CA_FILE needs an ldaps:// address in VITRINE_LDAP_URL or VITRINE_LDAP_STARTTLS=on',
      ),
    );
  }
  try {
    const pem = readFileSync(resolve(directory, file), 'utf8');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    const fault = sentence('VITRINE_LDAP_CA_FILE must be a readable file of PEM certificates');
    if (!(error instanceof Error && 'code' in error)) throw refusal(fault);
    throw refusal(sentence('{reason} ({code})', { reason: fault, code: String(error.code) }));
  }
}

function readBind({ value, refusal }: SettingsSource): LdapSettings['bind'] {
  const dn = value('VITRINE_LDAP_BIND_DN');
  const password = value('VITRINE_LDAP_BIND_PASSWORD');
  if (dn === null && password === null) return null;
  if (dn === null || password === null) {
    throw refusal(
      sentence('{one} and {other} go together: set both or neither', {
        one: 'VITRINE_LDAP_BIND_DN',
        other: 'VITRINE_LDAP_BIND_PASSWORD',
      }),
    );
  }
  return { dn, password };
}

/** Builds the filter for a typed name, escaped so that it can only be a value (RFC 4515 section 3). */
export function filterFor(userFilter: string, username: string): string {
  return userFilter.replaceAll('{username}', () => Filter.escape(username));
}

function readUserFilter({ value, refusal }: SettingsSource): string {
  const filter = value('VITRINE_LDAP_USER_FILTER') ?? defaultUserFilter;
  if (!filter.includes('{username}'))
    throw refusal(
      sentence('{name} must contain {part}', { name: 'VITRINE_LDAP_USER_FILTER', part: '{username}' }),
    );
  try {
    // An escaped parenthesis is valid in a value only, so this also checks the position of {username}.
    FilterParser.parseString(filterFor(filter, '('));
  } catch {
    throw refusal(
      sentence('VITRINE_LDAP_USER_FILTER must be an LDAP filter such as {example}, not {given}', {
        example: defaultUserFilter,
        given: JSON.stringify(filter),
      }),
    );
  }
  return filter;
}

function readAttribute({ value, refusal }: SettingsSource, name: LdapName): string | null {
  const attribute = value(name);
  if (attribute !== null && !/^[a-z][a-z0-9-]*$/i.test(attribute)) {
    throw refusal(
      sentence('{name} must be the name of an attribute, not {given}', {
        name,
        given: JSON.stringify(attribute),
      }),
    );
  }
  return attribute;
}

function readLdap(source: SettingsSource): LdapSettings {
  const endpoint = readEndpoint(source);
  const searchBase = source.value('VITRINE_LDAP_SEARCH_BASE');
  if (searchBase === null) {
    throw source.refusal(missing('VITRINE_LDAP_SEARCH_BASE'));
  }
  if (!searchBase.includes('=')) {
    throw source.refusal(
      sentence('VITRINE_LDAP_SEARCH_BASE must be a name such as ou=people,dc=example,dc=org, not {given}', {
        given: JSON.stringify(searchBase),
      }),
    );
  }
  const attributes = (name: LdapName, unset: readonly string[]) => {
    const attribute = readAttribute(source, name);
    return attribute === null ? unset : [attribute];
  };
  return {
    name: 'ldap',
    ...endpoint,
    authorities: readAuthorities(source, endpoint.security),
    bind: readBind(source),
    searchBase,
    userFilter: readUserFilter(source),
    subjectAttribute: readAttribute(source, 'VITRINE_LDAP_SUBJECT_ATTRIBUTE'),
    usernameAttributes: attributes('VITRINE_LDAP_USERNAME_ATTRIBUTE', ['uid', 'sAMAccountName']),
    fullnameAttributes: attributes('VITRINE_LDAP_FULLNAME_ATTRIBUTE', ['displayName', 'cn']),
    emailAttributes: attributes('VITRINE_LDAP_EMAIL_ATTRIBUTE', ['mail']),
    timeoutMs: TIMEOUT_MS,
  };
}

/** Returns the registered identity providers in order; throws the source's refusal for an invalid one. */
export function readProviderSettings(source: SettingsSource): ProviderSettings[] {
  const { value, refusal } = source;
  const text = value('VITRINE_IDENTITY_PROVIDERS');
  const named = text === null ? [] : text.split(',').map((name) => name.trim());
  if (new Set(named).size < named.length) {
    throw refusal(
      sentence('VITRINE_IDENTITY_PROVIDERS names one twice: {given}', { given: JSON.stringify(text) }),
    );
  }
  const idle = ldapNames.find((name) => value(name) !== null);
  if (idle !== undefined && !named.includes('ldap')) {
    throw refusal(
      sentence('{name} is set, but VITRINE_IDENTITY_PROVIDERS does not name ldap', { name: idle }),
    );
  }
  return named.map((name) => {
    if (name === 'ldap') return readLdap(source);
    if (name === 'oidc' || name === 'saml') return { name };
    throw refusal(
      sentence(
        'VITRINE_IDENTITY_PROVIDERS must list some of ldap, oidc, saml, separated by commas, not {given}',
        { given: JSON.stringify(text) },
      ),
    );
  });
}
