import { Username } from '@vitrine/contract/identity';
import { compileLater } from '../../platform/http/compile-later.ts';
import { type Attributes, attributesOf, booleanOf, listOf, nameParts, textOf } from './attributes.ts';
import { invalidValue, ScimFault } from './fault.ts';
import { type PatchOperation, patchValues } from './patch.ts';

const MOST_EMAILS = 20;
type NamePart = (typeof nameParts)[number];

interface ScimEmail {
  value: string;
  type?: string;
  display?: string;
  primary?: boolean;
}

/** What a directory says of a person and Vitrine stores as it is. */
export interface UserAttributes {
  displayName?: string;
  name?: Partial<Record<NamePart, string>>;
  emails?: ScimEmail[];
}

/** A user as a directory wants it. */
export interface UserDraft extends UserAttributes {
  userName: string;
  externalId: string | null;
  /** Undefined: unchanged. */
  active: boolean | undefined;
}

const isUsername = compileLater(Username);

function emailOf(given: unknown): ScimEmail[] {
  const email = attributesOf(given, 'an e-mail');
  const value = textOf(email.get('value'), 'emails.value', 320);
  if (value === null) return [];
  if (!/^[^\s@]+@[^\s@]+$/.test(value)) throw invalidValue('emails.value must be an e-mail address');
  const type = textOf(email.get('type'), 'emails.type', 100);
  const display = textOf(email.get('display'), 'emails.display', 500);
  const primary = booleanOf(email.get('primary'), 'emails.primary');
  return [
    {
      value,
      ...(type === null ? {} : { type }),
      ...(display === null ? {} : { display }),
      ...(primary === undefined ? {} : { primary }),
    },
  ];
}

function emailsOf(given: readonly unknown[]): ScimEmail[] {
  if (given.length > MOST_EMAILS)
    throw new ScimFault(400, 'tooMany', `a user has at most ${MOST_EMAILS} e-mails`);
  return given.flatMap((one) => emailOf(typeof one === 'string' ? { value: one } : one));
}

function nameOf(given: unknown): UserAttributes['name'] {
  if (given === undefined || given === null) return undefined;
  const name = attributesOf(given, 'name');
  const parts = nameParts.flatMap((part) => {
    const text = textOf(name.get(part.toLowerCase()), `name.${part}`, 200);
    return text === null ? [] : [[part, text] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

function userNameOf(value: unknown): string {
  const userName = textOf(value, 'userName', 100);
  if (userName === null || !isUsername().Check(userName))
    throw invalidValue('userName must have 1 to 100 characters, without spaces around them');
  return userName;
}

function draftFrom(user: Attributes): UserDraft {
  const displayName = textOf(user.get('displayname'), 'displayName', 200);
  const name = nameOf(user.get('name'));
  const emails = emailsOf(listOf(user.get('emails')));
  return {
    userName: userNameOf(user.get('username')),
    externalId: textOf(user.get('externalid'), 'externalId', 250),
    active: booleanOf(user.get('active'), 'active'),
    ...(displayName === null ? {} : { displayName }),
    ...(name === undefined ? {} : { name }),
    ...(emails.length === 0 ? {} : { emails }),
  };
}

/** Reads a user; attributes that Vitrine does not have are ignored (SCIM-11). */
export function readUser(body: unknown): UserDraft {
  return draftFrom(attributesOf(body, 'the body'));
}

const readOnly = new Set(['id', 'meta', 'groups', 'schemas']);

/** Makes the e-mail that a PATCH makes primary the only primary one (RFC 7644, 3.5.2). */
function withOnePrimary(
  before: readonly Record<string, unknown>[],
  after: readonly Record<string, unknown>[],
): readonly Record<string, unknown>[] {
  const isPrimary = (one: Record<string, unknown>) => booleanOf(one.primary, 'emails.primary') === true;
  const made = after.find((one) => !before.includes(one) && isPrimary(one));
  if (made === undefined) return after;
  return after.map((one) => (one !== made && isPrimary(one) ? { ...one, primary: false } : one));
}

function withOperation(user: Attributes, operation: PatchOperation): Attributes {
  const { op, path, value } = operation;
  if (path === null) return user;
  const { attribute, sub } = path;
  if (readOnly.has(attribute)) throw new ScimFault(400, 'mutability', `${attribute} cannot be changed`);
  const before = user.get(attribute);
  if (attribute === 'emails') {
    const values = listOf(before).map((one) => Object.fromEntries(attributesOf(one, attribute)));
    return new Map([...user, [attribute, withOnePrimary(values, patchValues(values, operation))]]);
  }
  const given = op === 'remove' ? null : value;
  if (attribute !== 'name') return sub === null ? new Map([...user, [attribute, given]]) : user;
  const name = before === undefined || before === null ? new Map() : attributesOf(before, 'name');
  const parts = sub === null && given !== null ? attributesOf(given, 'name') : new Map([[sub, given]]);
  const isReplaced = sub === null && op !== 'add';
  return new Map([...user, ['name', Object.fromEntries([...(isReplaced ? [] : name), ...parts])]]);
}

/** Returns a user with the operations of a PATCH applied. */
export function patchUser(draft: UserDraft, operations: readonly PatchOperation[]): UserDraft {
  const before: Attributes = attributesOf(draft, 'the user');
  return draftFrom(operations.reduce(withOperation, before));
}

/** Returns the full name of an account: the whole name, its parts, or what the directory displays. */
export function fullnameOf({ name, displayName }: UserAttributes): string | null {
  const parts = [name?.givenName, name?.familyName].filter((part) => part !== undefined);
  const whole = name?.formatted ?? (parts.length === 0 ? displayName : parts.join(' '));
  return whole?.slice(0, 200).trim() || null;
}

/** Returns the e-mail of an account: the primary one, else that of work, else the first. */
export function mainEmail({ emails = [] }: UserAttributes): string | null {
  const main =
    emails.find(({ primary }) => primary === true) ??
    emails.find(({ type }) => type?.toLowerCase() === 'work') ??
    emails[0];
  return main?.value ?? null;
}
