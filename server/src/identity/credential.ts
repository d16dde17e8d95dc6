import type { AccountRow } from '../access/caller.ts';

/** What a request needs to know of its credential, the account behind it and the install, in one statement. */
export interface CredentialRow extends AccountRow {
  public_mode: boolean;
  /** The public address that operators stored; the environment's wins over it. */
  base_url: string | null;
  epoch: number;
  session_id: string | null;
  token_id: string | null;
  scopes: string[] | null;
  /** A session that an administrator started in somebody's name, running or not. */
  impersonation: boolean;
  expired: boolean;
  ref: number | null;
  username: string | null;
  impersonator_ref: number | null;
  impersonator_username: string | null;
  /** Its last use was some minutes ago, so that it is worth noting this one. */
  stale: boolean;
}

/**
 * Columns that every credential's statement has: the install's switches, the epoch capabilities are kept under
 * (`access_epoch e`) and the account (`users u`). Texts, not fragments: these statements run with every request,
 * and are put together once.
 */
export const switchesAndAccount = `
  coalesce((select value = 'true' from settings where key = 'public_mode'), false) as public_mode,
  coalesce((select value = 'true' from settings where key = 'mature_allowed'), true) as mature_allowed,
  (select value #>> '{}' from settings where key = 'base_url') as base_url,
  e.epoch, u.ref, u.username, u.fullname, u.email, u.preferences`;

/** How old a last use must be before another one is written down. */
export const noteUseAfter = `interval '5 minutes'`;
