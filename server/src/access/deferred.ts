import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
import type { SignedIn } from './caller.ts';
import { callerOf } from './caller-of.ts';

/** What a row says about who asked for work that is done later. */
export interface Origin {
  user_ref: number | null;
  token_id: string | null;
  token_is_live: boolean;
  impersonator: SignedIn['impersonator'];
}

/**
 * Columns of Origin for the row `alias`. Work that a token asked for needs the token to be valid when the work is done.
 * Work that a session asked for goes on after the session has ended.
 */
export function originColumns(alias: 'b' | 's'): RawBuilder<Origin> {
  const row = sql.raw(alias);
  return sql`${row}.user_ref, ${row}.token_id,
      (${row}.token_id is null or exists (select from access_tokens t where t.id = ${row}.token_id
        and (t.expires_at is null or t.expires_at > now()))) as token_is_live,
      (select jsonb_build_object('ref', i.ref, 'username', i.username) from users i
        where i.ref = ${row}.impersonator_user_ref) as impersonator`;
}

/** Returns the account that asked for the work, with its present rights; null if it may do nothing any more. */
export async function actorOf(db: Database, origin: Origin): Promise<SignedIn | null> {
  const { user_ref: ref, token_id: token, token_is_live: isLive, impersonator } = origin;
  const caller = isLive && ref !== null ? await callerOf(db, ref) : null;
  if (caller === null) return null;
  return token === null
    ? { ...caller, impersonator }
    : { ...caller, impersonator, authMethod: 'token', token: { id: token, scopes: [] } };
}
