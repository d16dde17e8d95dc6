import { randomInt } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { Database } from '../../platform/database/pool.ts';
import { type CredentialRow, isActive, lastWrite, recordUseAfter, switchesAndAccount } from './credential.ts';
import { hashToken } from './sessions.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** 32 random letters and digits: 190 bits. */
export function randomToken(): string {
  return Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** Creates a personal access token (TOKEN-2): `vt_pat_` and 32 characters. Only its SHA-256 is stored. */
export function newAccessToken(): string {
  return `vt_pat_${randomToken()}`;
}

const accessTokenSql = (columns: string) => `
  select ${columns}, null as session_id, t.id as token_id, t.scopes, false as impersonation,
    false as expired, null as impersonator_ref, null as impersonator_username,
    coalesce(t.last_used_at < now() - ${recordUseAfter}, true) as stale
  from access_epoch e
  join access_tokens t on t.token_hash = $1 and (t.expires_at is null or t.expires_at > now())
  join users u on u.ref = t.user_ref and ${isActive('u')}`;

const findAccessTokenSql = accessTokenSql(switchesAndAccount);
const findAccessTokenAndWriteSql = accessTokenSql(`${switchesAndAccount}, ${lastWrite}`);

/**
 * Returns the valid token of an `Authorization` header, or null; accounts that are not active have none. With a
 * replica, also reads the last write.
 */
export async function findAccessToken(
  db: Database,
  token: string,
  withLastWrite = false,
): Promise<CredentialRow | null> {
  if (!/^vt_pat_[A-Za-z0-9]{32}$/.test(token)) return null;
  const text = withLastWrite ? findAccessTokenAndWriteSql : findAccessTokenSql;
  const query = CompiledQuery.raw(text, [hashToken(token)]);
  return (await db.executeQuery<CredentialRow>(query)).rows[0] ?? null;
}

/** Records a use of the token, so that owners can find unused ones. */
export async function touchAccessToken(db: Database, id: string): Promise<void> {
  await sql`with touched as (update access_tokens set last_used_at = now() where id = ${id} returning user_ref)
    update users set last_seen_at = now() from touched where ref = touched.user_ref`.execute(db);
}
