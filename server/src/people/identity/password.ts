import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Passwords, Verification } from '../../core/deps.ts';
import { isArgon2 } from './hash-forms.ts';
import type { Hashing } from './hashing.ts';

/**
 * The legacy-compatible password scheme (SIGNIN-8): users of the earlier system sign in unchanged.
 * With P = "RS" + username + password, the current form is bcrypt over hex HMAC-SHA256(scramble key, P);
 * other rows hold Argon2id over the same, hex SHA-256(hex MD5(P)) or hex MD5(P).
 */
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

/** A hash that matches no password; verifying against it takes as long as against a real one of that cost. */
function nobodysHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$CwTycUXWue0Thq9StjUM0uJ8Ff3o0N9hvs4kq3vX4yZzK8r0CqG3a`;
}

/**
 * Hashes under the install's scramble key. Hashes under its other keys also verify, and count as outdated. `otherKeys` is
 * called for every verification, because an import adds keys while the service runs.
 */
export function openPasswords(
  hashing: Hashing,
  scrambleKey: string,
  otherKeys: () => Promise<readonly string[]> = async () => [],
): Passwords {
  /** Returns the key under which this is the password's hash; a wrong password is tried under every key. */
  const keyOf = async (username: string, password: string, hash: string): Promise<string | null> => {
    for (const key of new Set([scrambleKey, ...(await otherKeys())])) {
      if (await hashing.verify(keyed(key, username, password), hash)) return key;
    }
    return null;
  };
  /** Pads verification to the time of a hash at the current cost, so that timing does not reveal the account. */
  const passTime = async (username: string, password: string, cost: number) => {
    for (let rest = cost; rest < hashing.cost; rest += 1) await keyOf(username, password, nobodysHash(rest));
  };
  /** Verifies exactly this text. */
  const verifyAs = async (
    username: string,
    password: string,
    stored: string | null,
  ): Promise<Verification> => {
    if (stored !== null && /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(stored)) {
      // PHP writes `$2y$` for what others call `$2b$`.
      const key = await keyOf(username, password, stored.replace(/^\$2y\$/, '$2b$'));
      const cost = Number(stored.slice(4, 6));
      if (key === null) await passTime(username, password, cost);
      return { matches: key !== null, outdated: key !== scrambleKey || cost < hashing.cost };
    }
    if (stored !== null && isArgon2(stored))
      return { matches: (await keyOf(username, password, stored)) !== null, outdated: true };
    await keyOf(username, password, nobodysHash(hashing.cost));
    const old = stored?.toLowerCase() ?? '';
    if (/^[0-9a-f]{64}$/.test(old))
      return { matches: same(sha256(md5(plain(username, password))), old), outdated: true };
    if (/^[0-9a-f]{32}$/.test(old))
      return { matches: same(md5(plain(username, password)), old), outdated: true };
    return { matches: false, outdated: false };
  };
  return {
    hash: (username, password) => hashing.hash(keyed(scrambleKey, username, password.normalize('NFC'))),
    async verify(username, password, stored) {
      const composed = password.normalize('NFC');
      const typed = await verifyAs(username, password, stored);
      if (composed === password) return typed;
      // A hash of another spelling than the one that new hashes have is replaced.
      return typed.matches ? { ...typed, outdated: true } : verifyAs(username, composed, stored);
    },
  };
}
