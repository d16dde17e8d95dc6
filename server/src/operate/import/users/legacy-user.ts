import { Username } from '@vitrine/contract/identity';
import { Compile } from 'typebox/compile';
import { isHash } from '../../../people/identity/hash-forms.ts';
import { type Sentence, sentence } from '../../../platform/language/sentence.ts';
import type { Column, Fields } from './source.ts';

/** An account of the earlier system in our terms. */
export interface LegacyUser {
  username: string;
  passwordHash: string | null;
  fullname: string | null;
  email: string | null;
  /** Null if unknown. */
  createdAt: string | null;
  language: string | null;
  status: 'active' | 'pending' | 'disabled';
  /** When an account that may still sign in expires; null for never. */
  expiresAt: string | null;
  /** The number of its user group in the earlier system; empty if it has none. */
  group: string;
}

/** A user with remarks on what was lost, or the reason why the row cannot become a user. */
export type Reading = { user: LegacyUser; remarks: Sentence[] } | { refused: Sentence };

const username = Compile(Username);
const unreadable = '\ufffd';

function whyNoName(name: string): Sentence | null {
  if (name === '') return sentence('no username');
  if (name.includes('\0')) return sentence('the username contains a NUL character');
  if (name.includes(unreadable)) return sentence('the username is not UTF-8');
  // The password hash includes the name, so an account with a shortened or trimmed name could not sign in.
  if (name.trim() !== name) return sentence('the username begins or ends with a space');
  if (!username.Check(name))
    return sentence('the username is longer than 100 characters or has a line break');
  return null;
}

function readPassword(stored: string, remarks: Sentence[]): string | null {
  if (isHash(stored)) return stored;
  remarks.push(
    stored === ''
      ? sentence('has no password')
      : sentence('comes without its password, which is stored in none of the forms that can be verified'),
  );
  return null;
}

/** Returns trimmed text that fits on one line, or null. Adds a remark if text was dropped. */
function readText(
  column: 'fullname' | 'email',
  text: string,
  most: number,
  remarks: Sentence[],
): string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const isFit = trimmed.length <= most && !trimmed.includes('\0') && !trimmed.includes(unreadable);
  if (isFit && (column !== 'email' || /^[^\s@]+@[^\s@]+$/.test(trimmed))) return trimmed;
  remarks.push(
    isFit
      ? sentence('comes without its {column}, which is no address', { column })
      : sentence('comes without its {column}, which is too long or not UTF-8', { column }),
  );
  return null;
}

/**
 * Parses a database time as UTC. Returns null for an empty value or MySQL's zero date, and undefined if it is not a
 * time.
 */
function readTime(text: string): Date | null | undefined {
  if (text === '' || /^0000-00-00/.test(text)) return null;
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)Z?)?$/.exec(text);
  if (parts === null) return undefined;
  const time = new Date(`${parts[1]}T${parts[2] ?? '00:00'}Z`);
  // Rejects 30 February, which Date would turn into 2 March.
  return Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== parts[1] ? undefined : time;
}

function readCreated(text: string, remarks: Sentence[]): string | null {
  const time = readTime(text);
  if (time === undefined)
    remarks.push(sentence('counts as created now: {value} is no time', { value: JSON.stringify(text) }));
  return time?.toISOString() ?? null;
}

/** Returns when an account ends; null for never. The earlier system treats a time that it cannot parse as past. */
function readEnd(expires: string, remarks: Sentence[]): Date | null {
  const end = readTime(expires);
  if (end !== undefined) return end;
  remarks.push(
    sentence('is disabled: it expires at {value}, which is no time', { value: JSON.stringify(expires) }),
  );
  return new Date(0);
}

function readStatus(
  approved: string,
  end: Date | null,
  now: Date,
  remarks: Sentence[],
): 'active' | 'pending' | 'disabled' {
  if (end !== null && end <= now) return 'disabled';
  if (approved === '2') return 'disabled';
  if (approved === '0') return 'pending';
  // Tables from before accounts needed approval have no such column; all their accounts may sign in.
  if (approved === '1' || approved === '') return 'active';
  remarks.push(sentence('is disabled: approved is {value}', { value: JSON.stringify(approved) }));
  return 'disabled';
}

/** Returns the tag in canonical form, or null if it is not a BCP 47 tag. */
function readLanguage(text: string): string | null {
  try {
    const tag = Intl.getCanonicalLocales(text)[0] ?? null;
    return tag !== null && tag.length <= 35 ? tag : null;
  } catch {
    return null;
  }
}

/** Reads a row of the earlier system's user table. `now` decides whether an account has expired. */
export function readLegacyUser(fields: Fields, now: Date): Reading {
  const text = (column: Column) => fields.get(column) ?? '';
  const name = text('username');
  const refused = whyNoName(name);
  if (refused !== null) return { refused };
  const remarks: Sentence[] = [];
  const end = readEnd(text('account_expires').trim(), remarks);
  const user: LegacyUser = {
    username: name,
    passwordHash: readPassword(text('password'), remarks),
    fullname: readText('fullname', text('fullname'), 200, remarks),
    email: readText('email', text('email'), 320, remarks),
    createdAt: readCreated(text('created').trim(), remarks),
    language: readLanguage(text('lang').trim()),
    status: readStatus(text('approved').trim(), end, now, remarks),
    expiresAt: end !== null && end > now ? end.toISOString() : null,
    group: text('usergroup').trim(),
  };
  return { user, remarks };
}
