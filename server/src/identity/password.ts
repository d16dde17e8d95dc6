import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { hash, verify } from '@node-rs/bcrypt';

/**
 * The legacy-compatible password scheme (spec 4.1, choices): users of the earlier system sign in unchanged.
 * With P = "RS" + username + password, the current form is bcrypt over hex HMAC-SHA256(scramble key, P);
 * older rows hold hex SHA-256(hex MD5(P)) or hex MD5(P).
 */
const COST = 11;

function plain(username: string, password: string): string {
  return `RS${username}${password}`;
}

function keyed(scrambleKey: string, username: string, password: string): string {
  return createHmac('sha256', scrambleKey).update(plain(username, password)).digest('hex');
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Hash of a new or changed password, in the current form. Runs off the event loop. */
export async function hashPassword(scrambleKey: string, username: string, password: string): Promise<string> {
  return hash(keyed(scrambleKey, username, password), { cost: COST });
}

/** A hash no password has; verifying against it takes as long as against a real one. */
const nobodysHash = '$2b$11$CwTycUXWue0Thq9StjUM0uJ8Ff3o0N9hvs4kq3vX4yZzK8r0CqG3a';

export interface Verification {
  matches: boolean;
  /** The stored form is older than the current one and should be replaced. */
  outdated: boolean;
}

/**
 * Whether the password is the one behind `stored`; null (no such user, or no password) takes as long and never
 * matches. A stored text that is no hash, such as a plain password, never matches.
 */
export async function verifyPassword(
  scrambleKey: string,
  username: string,
  password: string,
  stored: string | null,
): Promise<Verification> {
  const digest = keyed(scrambleKey, username, password);
  if (stored !== null && /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(stored)) {
    // PHP writes `$2y$`, which is what others call `$2b$`.
    const matches = await verify(digest, stored.replace(/^\$2y\$/, '$2b$'));
    return { matches, outdated: Number(stored.slice(4, 6)) < COST };
  }
  await verify(digest, nobodysHash);
  const old = stored?.toLowerCase() ?? '';
  if (/^[0-9a-f]{64}$/.test(old))
    return { matches: same(sha256(md5(plain(username, password))), old), outdated: true };
  if (/^[0-9a-f]{32}$/.test(old))
    return { matches: same(md5(plain(username, password)), old), outdated: true };
  return { matches: false, outdated: false };
}
