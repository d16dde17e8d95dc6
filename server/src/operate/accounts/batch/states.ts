import type { TeamRole } from '@vitrine/contract/teams';
import type { UserStatus } from '@vitrine/contract/users';
import { sql } from 'kysely';
import type { AccountRow } from './change-accounts.ts';

/** The states of accounts `users u` that batches change, as JSON, each with the provider that gave it, if any (SSO-30). */

export type StatusRow = AccountRow<{ status: UserStatus; provider: string | null }>;
export const statusNow = sql`jsonb_build_object('status', u.status, 'provider', u.status_provider)`;

export type RoleRow = AccountRow<{ role_id: string; provider: string | null }>;
export const roleNow = sql`jsonb_build_object('role_id', u.role_id, 'provider', u.role_provider)`;

/** Null for an account that is no member. */
export type MemberRow = AccountRow<{ role: TeamRole; provider: string | null } | null>;
export const memberNow = sql`case when m.user_ref is not null
  then jsonb_build_object('role', m.role, 'provider', m.provider) end`;
/** The membership `m` in a team. */
export const memberOf = (team: string) =>
  sql`left join team_members m on m.team_id = ${team} and m.user_ref = u.ref`;

/** Null for an account that does not expire. */
export type ExpiryRow = AccountRow<string | null>;
export const expiryNow = sql`to_jsonb(u.expires_at)`;
