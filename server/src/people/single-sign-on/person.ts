import { Username } from '@vitrine/contract/identity';
import type { Claims } from '@vitrine/contract/providers';
import { compileLater } from '../../platform/http/compile-later.ts';

/** What a provider says of a person, in the forms that accounts store. */
export interface Person {
  kind: 'oidc' | 'saml';
  issuer: string;
  /** The person's permanent id at the issuer, compared byte by byte. */
  subject: string;
  /** Null without a name that an account may have. */
  username: string | null;
  /** Whether the provider claims this name, which otherwise comes from the e-mail. */
  hasClaimedName: boolean;
  fullname: string | null;
  email: string | null;
  emailVerified: boolean;
  /** The address of a picture. */
  picture: string | null;
  /** The session at the provider, for signing out there (SSO-40). */
  sid: string | null;
  groups: readonly string[];
}

/** More groups of one person are ignored. */
const MOST_GROUPS = 5000;

const isUsername = compileLater(Username);

/** Returns a claim by its name; a name with dots may also be a path, as in Keycloak's `realm_access.roles`. */
function claimIn(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** Converts a claim to one line of text: composed (NFC), without control characters, limited in length. */
function lineOf(value: unknown, most: number): string | null {
  if (typeof value !== 'string' || !value.isWellFormed()) return null;
  const line = value
    .normalize('NFC')
    .replace(/\p{Cc}/gu, '')
    .trim();
  return line === '' ? null : [...line].slice(0, most).join('').trim();
}

function usernameOf(value: unknown, email: string | null): string | null {
  const candidates = [
    typeof value === 'string' && [...value].length <= 100 ? value : null,
    email?.split('@')[0],
  ];
  for (const candidate of candidates) {
    const name = lineOf(candidate, 100);
    if (name !== null && isUsername().Check(name)) return name;
  }
  return null;
}

function emailOf(value: unknown): string | null {
  const email = lineOf(value, 320);
  return email !== null && /^[^\s@]+@[^\s@]+$/.test(email) ? email : null;
}

function groupsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const groups = values.filter((value): value is string => typeof value === 'string' && value !== '');
  return [...new Set(groups)].slice(0, MOST_GROUPS);
}

function pictureOf(value: unknown): string | null {
  const url = lineOf(value, 2000);
  return url !== null && Buffer.byteLength(url) <= 2000 && /^https?:\/\/./i.test(url) ? url : null;
}

function sidOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= 1000 ? value : null;
}

/** Reads claims or attributes by their configured names, else by those of OpenID Connect (SSO-12). */
export function personOf(
  kind: Person['kind'],
  issuer: string,
  subject: string,
  claims: Readonly<Record<string, unknown>>,
  names: Claims,
): Person {
  const email = emailOf(claimIn(claims, names.email ?? 'email'));
  const claimedName = claimIn(claims, names.username ?? 'preferred_username');
  return {
    kind,
    issuer,
    subject,
    username: usernameOf(claimedName, email),
    hasClaimedName: usernameOf(claimedName, null) !== null,
    fullname: lineOf(claimIn(claims, names.fullname ?? 'name'), 200),
    email,
    // Some providers send the text "true", which is not what the specification defines.
    emailVerified: claimIn(claims, 'email_verified') === true,
    picture: pictureOf(claimIn(claims, names.picture ?? 'picture')),
    sid: kind === 'oidc' ? sidOf(claims.sid) : null,
    groups: groupsOf(claimIn(claims, names.groups ?? 'groups')),
  };
}

/** Returns whether a person may sign in by the domain of their verified e-mail (SSO-14). */
export function isOfAllowedDomain(person: Person, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  if (person.email === null || !person.emailVerified) return false;
  const domain = person.email.slice(person.email.lastIndexOf('@') + 1).toLowerCase();
  return domains.some((allowed) => allowed.toLowerCase() === domain);
}
