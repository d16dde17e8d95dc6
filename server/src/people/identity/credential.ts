import type { AccountRow } from '../../access/caller.ts';

/** Reads the credential, its account and the install's switches in one statement. */
export interface CredentialRow extends AccountRow {
  public_mode: boolean;
  /** The public address that operators stored; the environment variable takes precedence. */
  base_url: string | null;
  epoch: number;
  session_id: string | null;
  token_id: string | null;
  scopes: string[] | null;
  /** An impersonation, valid or expired. */
  impersonation: boolean;
  expired: boolean;
  ref: number | null;
  username: string | null;
  impersonator_ref: number | null;
  impersonator_username: string | null;
  /**
   * The position of the primary's log that a replica must have replayed to serve this account, or null; only read when
   * a replica is configured.
   */
  last_write?: string | null;
  /** Whether its role or the library requires a second factor that the account does not have (ROLE-25, SESSION-19). */
  lacks_second_factor: boolean;
  /** Whether the last use was recorded some minutes ago, so that this one should be recorded. */
  stale: boolean;
}

/**
 * Columns of every credential's statement: the install's switches, the epoch of cached capabilities (`access_epoch e`)
 * and the account (`users u`). Strings, not fragments: these statements run with every request and are composed once.
 */
export const switchesAndAccount = `
  coalesce((select value = 'true' from settings where key = 'public_mode'), false) as public_mode,
  coalesce((select value = 'true' from settings where key = 'mature_allowed'), true) as mature_allowed,
  (select value #>> '{}' from settings where key = 'base_url') as base_url,
  coalesce((select case when r.requires_second_factor
      or (select value ->> 'second_factor' = 'required' from settings where key = 'accounts') then
      not exists (select from two_factor f where f.user_ref = u.ref and f.confirmed_at is not null)
      and not exists (select from passkeys p where p.user_ref = u.ref) else false end
    from roles r where r.id = u.role_id), false) as lacks_second_factor,
  e.epoch, u.ref, u.username, u.fullname, u.email, u.preferences`;

/**
 * The column `last_write` of a credential's statement, with a replica (REPLICA-2): writes of the account, and under 0
 * those that concern everyone.
 */
export const lastWrite = `(select max(position)::text from last_writes where user_ref in (0, u.ref)) as last_write`;

/** `activeAccount` as text. */
export const isActive = (alias: string) =>
  `${alias}.status = 'active' and (${alias}.expires_at is null or ${alias}.expires_at > now())`;

/** Minimum age of the recorded last use before the next one is recorded. */
export const recordUseAfter = `interval '5 minutes'`;
