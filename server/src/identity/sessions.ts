import { createHash, randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';

/** A session token: 256 random bits. Only its SHA-256 is stored. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export interface SessionStart {
  userRef: number;
  days: number;
  address: string;
  userAgent: string;
}

/** Starts a session and returns its token, which is not to be had again. */
export async function startSession(db: Database, start: SessionStart): Promise<string> {
  const token = newToken();
  await db
    .insertInto('sessions')
    .values({
      token_hash: hashToken(token),
      user_ref: start.userRef,
      address: start.address,
      user_agent: start.userAgent,
      expires_at: sql`now() + make_interval(days => ${start.days})`,
    })
    .execute();
  return token;
}

/** Ends a session; one that is gone already is no error. */
export async function endSession(db: Database, sessionId: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', sessionId).execute();
}

/** What a request needs to know of its session, the account behind it and the install, in one statement. */
export interface SessionRow {
  public_mode: boolean;
  mature_allowed: boolean;
  epoch: number;
  session_id: string | null;
  ref: number | null;
  username: string | null;
  preferences: { feed_filters?: { show_restricted?: boolean }; mature_content?: { show?: boolean } } | null;
  impersonator_ref: number | null;
  impersonator_username: string | null;
  stale: boolean | null;
}

/**
 * The live session of this token, with the install's switches; without a token, or with one that is unknown,
 * expired or of an account that is not active, only the switches.
 */
export async function findSession(db: Database, token: string | null): Promise<SessionRow> {
  const tokenHash: RawBuilder<Buffer | null> = sql`${token === null ? null : hashToken(token)}::bytea`;
  const { rows } = await sql<SessionRow>`
    select coalesce((select value = 'true' from settings where key = 'public_mode'), false) as public_mode,
      coalesce((select value = 'true' from settings where key = 'mature_allowed'), true) as mature_allowed,
      e.epoch, s.id as session_id, u.ref, u.username, u.preferences,
      i.ref as impersonator_ref, i.username as impersonator_username,
      s.last_used_at < now() - interval '5 minutes' as stale
    from access_epoch e
    left join sessions s on s.token_hash = ${tokenHash} and s.expires_at > now()
    left join users u on u.ref = s.user_ref and u.status = 'active'
    left join users i on i.ref = s.impersonator_user_ref`.execute(db);
  const row = rows[0];
  if (row === undefined) throw new Error('access_epoch has lost its row');
  return row;
}

/** Sliding expiry: a session in use lives on. Called when its last use is some minutes old. */
export async function touchSession(db: Database, sessionId: string, days: number): Promise<void> {
  await sql`update sessions set last_used_at = now(), expires_at = now() + make_interval(days => ${days})
    where id = ${sessionId} and impersonator_user_ref is null`.execute(db);
}
