import { hash, randomBytes } from 'node:crypto';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import type { SessionCookie } from '../../platform/http/answer.ts';
import { type CredentialRow, isActive, lastWrite, recordUseAfter, switchesAndAccount } from './credential.ts';

/** A session token: 256 random bits. Only its SHA-256 is stored. */
function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

export interface SessionStart {
  userRef: number;
  days: number;
  address: string;
  userAgent: string;
  /** The provider that signed the account in by redirect, and the session there. */
  origin?: SessionOrigin;
}

/** SSO-40. */
export interface SessionOrigin {
  provider: string;
  sid: string | null;
}

function secondsUntil(time: string): number {
  return Math.round((Date.parse(time) - Date.now()) / 1000);
}

async function insertSession(
  db: Database,
  { userRef, address, userAgent, origin }: Omit<SessionStart, 'days'>,
  expiresAt: RawBuilder<string>,
  impersonatorRef: number | null,
): Promise<{ token: string; id: string; expiresAt: string }> {
  const token = newToken();
  const row = await db
    .insertInto('sessions')
    .values({
      token_hash: hashToken(token),
      user_ref: userRef,
      impersonator_user_ref: impersonatorRef,
      address,
      user_agent: userAgent,
      provider: origin?.provider ?? null,
      provider_sid: origin?.sid ?? null,
      expires_at: expiresAt,
    })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow();
  return { token, id: row.id, expiresAt: row.expires_at };
}

/** SESSION-18: when a session that is used now ends. `days` counts unless an administrator has set a number. */
function endOfSession(days: number): RawBuilder<string> {
  return sql`now() + make_interval(days => coalesce(
    (select (value ->> 'session_days')::integer from settings where key = 'accounts'), ${days}::integer))`;
}

/** Starts a session and returns the cookie with its token, which is not stored. */
export async function startSession(
  db: Database,
  start: SessionStart,
): Promise<SessionCookie & { token: string }> {
  const { token, expiresAt } = await insertSession(db, start, endOfSession(start.days), null);
  return { token, maxAgeSeconds: secondsUntil(expiresAt) };
}

/** Starts an impersonation; it ends at a fixed time, regardless of use (IMPERSONATION-5). */
export async function startImpersonation(
  db: Database,
  start: Omit<SessionStart, 'days'> & { impersonatorRef: number; minutes: number },
) {
  const expiresAt = sql<string>`now() + make_interval(mins => ${start.minutes})`;
  return insertSession(db, start, expiresAt, start.impersonatorRef);
}

/**
 * Returns the provider of a session and the session there, for the sessions that follow from it: a sign-out at the provider
 * ends these, too (SSO-41).
 */
export async function originOf(db: Database, sessionId: string | null): Promise<{ origin?: SessionOrigin }> {
  const row = await db
    .selectFrom('sessions')
    .select(['provider', 'provider_sid as sid'])
    .where('id', '=', sessionId)
    .executeTakeFirst();
  return row?.provider == null ? {} : { origin: { provider: row.provider, sid: row.sid } };
}

/** Ends a session; returns whether it existed. */
export async function endSession(db: Database, sessionId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('id', '=', sessionId).executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Sessions of accounts, impersonations of them, and those in which they act as others: such a session leads to a new one of
 * the administrator (IMPERSONATION-8).
 */
export function sessionsOf(userRefs: readonly number[]): RawBuilder<boolean> {
  const refs = sql`any(${[...userRefs]}::bigint[])`;
  return sql`(user_ref = ${refs} or impersonator_user_ref = ${refs})`;
}

/** Ends every session of an account except one, with its impersonations (SIGNIN-14). Returns how many. */
export async function endSessionsOf(db: Database, userRef: number, kept: string | null): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where(sessionsOf([userRef]))
    .$if(kept !== null, (query) => query.where('id', '<>', kept))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Ends what a disabled account could still use: its sessions, those in which it acts as others, and its tokens. */
export async function endAccess(db: Database, userRef: number): Promise<void> {
  await endSessionsOf(db, userRef, null);
  await db.deleteFrom('access_tokens').where('user_ref', '=', userRef).execute();
}

/** Returns the statement below for a parameter with the SHA-256 of a token; null for no token. */
const sessionSql = (tokenHash: string, columns = switchesAndAccount) => `
  select ${columns}, s.id as session_id, null as token_id, null as scopes,
    s.impersonator_user_ref is not null as impersonation, coalesce(s.expires_at <= now(), false) as expired,
    i.ref as impersonator_ref, i.username as impersonator_username,
    coalesce(s.last_used_at < now() - ${recordUseAfter}, false) as stale
  from access_epoch e
  left join sessions s on s.token_hash = ${tokenHash} and (s.expires_at > now() or s.impersonator_user_ref is not null)
  left join users u on u.ref = s.user_ref and ${isActive('u')}
  left join users i on i.ref = s.impersonator_user_ref and ${isActive('i')}`;

const findSessionSql = sessionSql('$1');
const findSessionAndWriteSql = sessionSql('$1', `${switchesAndAccount}, ${lastWrite}`);
const [beforeHash = '', afterHash = ''] = sessionSql('|').split('|');

/** Returns `findSession` as part of another statement: exactly one row. */
export function sessionLookup(tokenHash: Buffer | null): RawBuilder<CredentialRow> {
  return sql`${sql.raw(beforeHash)}${tokenHash}::bytea${sql.raw(afterHash)}`;
}

/**
 * Returns the session of this token with the install's switches. Without a token, or with an unknown or expired one,
 * returns only the switches; for an account that is not active, the session without the account. Includes expired
 * impersonations. With a replica, also reads the last write.
 */
export async function findSession(
  db: Database,
  token: string | null,
  withLastWrite = false,
): Promise<CredentialRow> {
  const tokenHash = token === null ? null : hashToken(token);
  const text = withLastWrite ? findSessionAndWriteSql : findSessionSql;
  const { rows } = await db.executeQuery<CredentialRow>(CompiledQuery.raw(text, [tokenHash]));
  const row = rows[0];
  if (row === undefined) throw new Error('access_epoch has lost its row');
  return row;
}

/**
 * Extends a session in use, but not an impersonation. Records when the account was last seen. Returns the seconds until the
 * session ends; null for an impersonation.
 */
export async function touchSession(db: Database, sessionId: string, days: number): Promise<number | null> {
  const { rows } = await sql<{ expires_at: string }>`with touched as (
      update sessions set last_used_at = now(), expires_at = case when impersonator_user_ref is null
        then ${endOfSession(days)} else expires_at end
      where id = ${sessionId} returning user_ref, impersonator_user_ref, expires_at)
    update users set last_seen_at = now() from touched
    where ref = touched.user_ref and touched.impersonator_user_ref is null returning touched.expires_at`.execute(
    db,
  );
  return rows[0] === undefined ? null : secondsUntil(rows[0].expires_at);
}
