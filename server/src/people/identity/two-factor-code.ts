import { createHmac, randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { Secret, TOTP } from 'otpauth';
import type { Deps } from '../../core/deps.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { seal, unseal } from './seal.ts';

/** TWOFACTOR-1: SHA-1, 6 digits, 30 s, one step of drift. */
const PERIOD_SECONDS = 30;
const DRIFT_STEPS = 1;
const SECRET_BYTES = 20;
export const TWO_FACTOR_PURPOSE = 'two-factor';

/** No letter that resembles a digit. */
const recoveryAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const RECOVERY_CODES = 10;

function totp(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: 'Vitrine', label, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS, secret });
}

/** Creates a secret: sealed for its row, and in the form for an authenticator app. */
export function newSecret(secretKey: string, username: string) {
  const secret = new Secret({ size: SECRET_BYTES });
  return {
    sealed: seal(secretKey, TWO_FACTOR_PURPOSE, secret.base32),
    secret_base32: secret.base32,
    otpauth_url: totp(secret, username).toString(),
  };
}

/** Returns the time step of a code, at most one from now; null when it is not a code of this secret. */
export function stepOf(secretBase32: string, code: string, now: number): number | null {
  const digits = code.replaceAll(' ', '');
  if (!/^\d{6}$/.test(digits)) return null;
  const secret = Secret.fromBase32(secretBase32);
  const delta = totp(secret, '').validate({ token: digits, timestamp: now, window: DRIFT_STEPS });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

type CodeDeps = Pick<Deps, 'secretKey' | 'formerSecretKeys'>;

/**
 * Accepts a code of the app once: its step must be later than the last accepted one, also for concurrent callers.
 * `confirmed` requires a confirmed enrolment.
 */
export async function acceptTotp(
  db: Database,
  { secretKey }: CodeDeps,
  userRef: number,
  code: string,
  confirmed: boolean,
): Promise<boolean> {
  const row = await db
    .selectFrom('two_factor')
    .select('sealed_secret')
    .where('user_ref', '=', userRef)
    .executeTakeFirst();
  if (row === undefined) return false;
  const step = stepOf(unseal(secretKey, TWO_FACTOR_PURPOSE, row.sealed_secret), code, Date.now());
  if (step === null) return false;
  const { rows } = await sql`
    update two_factor set last_step = ${step}, last_used_at = now(), confirmed_at = coalesce(confirmed_at, now())
    where user_ref = ${userRef} and last_step < ${step} and (confirmed_at is not null) = ${confirmed}
    returning user_ref`.execute(db);
  return rows.length === 1;
}

/** TWOFACTOR-6: recovery codes are compared without hyphens and case; only a keyed hash of each is stored. */
function hashRecoveryCode(secretKey: string, code: string): Buffer {
  const bare = code.replace(/[-\s]/g, '').toUpperCase();
  return createHmac('sha256', secretKey).update(`recovery ${bare}`).digest();
}

async function acceptRecoveryCode(
  db: Database,
  { secretKey, formerSecretKeys }: CodeDeps,
  userRef: number,
  code: string,
): Promise<boolean> {
  const hashes = [secretKey, ...formerSecretKeys].map((key) => hashRecoveryCode(key, code));
  const { rows } = await sql`
    with spent as (delete from recovery_codes
      where user_ref = ${userRef} and code_hash = any(${hashes}::bytea[]) returning user_ref)
    update two_factor t set last_used_at = now() from spent where t.user_ref = spent.user_ref
    returning t.user_ref`.execute(db);
  return rows.length === 1;
}

/** Accepts, once, an app code or a recovery code of an account with confirmed two-factor sign-in. */
export async function acceptSecondFactor(
  db: Database,
  deps: CodeDeps,
  userRef: number,
  code: string,
): Promise<'totp' | 'recovery' | null> {
  if (await acceptTotp(db, deps, userRef, code, true)) return 'totp';
  return (await acceptRecoveryCode(db, deps, userRef, code)) ? 'recovery' : null;
}

function newRecoveryCode(): string {
  const letters = Array.from({ length: 10 }, () => recoveryAlphabet[randomInt(recoveryAlphabet.length)]);
  return `${letters.slice(0, 5).join('')}-${letters.slice(5).join('')}`;
}

/** Creates ten recovery codes and invalidates all previous ones. */
export async function renewCodes(tx: Tx, { secretKey }: CodeDeps, userRef: number): Promise<string[]> {
  const codes = new Set<string>();
  while (codes.size < RECOVERY_CODES) codes.add(newRecoveryCode());
  await tx.deleteFrom('recovery_codes').where('user_ref', '=', userRef).execute();
  await tx
    .insertInto('recovery_codes')
    .values([...codes].map((code) => ({ user_ref: userRef, code_hash: hashRecoveryCode(secretKey, code) })))
    .execute();
  return [...codes];
}
