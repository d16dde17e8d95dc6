import type { Capability } from '@vitrine/contract/capabilities';
import type { UserColumn } from '@vitrine/contract/user-csv';
import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../platform/http/refuse.ts';
import { capabilityShownFor, holds, type SignedIn } from './caller.ts';
import type { Capabilities } from './capabilities.ts';
import { checkHolds } from './door.ts';
import { unexpired } from './live.ts';

/** Administrators cannot change accounts that have more rights than their own. */

function holdsAll(caller: SignedIn, codes: Iterable<string>): boolean {
  if (caller.capabilities.has('system.admin')) return true;
  return [...codes].every((code) => caller.capabilities.has(code));
}

/** Throws 403 unless the caller may change other accounts; checkMayAdminister decides which ones. */
export function checkMayWriteAccounts(caller: SignedIn): void {
  checkHolds(caller, 'users.write');
}

/** The capability that a column needs besides the right to see or change accounts. */
const neededFor: Partial<Record<UserColumn, Capability>> = {
  fullname: 'users.pii.read',
  email: 'users.pii.read',
  teams: 'teams.read',
};

/** Returns the capability that the caller lacks for a column of accounts; null if none (CSV-11). */
export function lackedFor(caller: SignedIn, column: UserColumn): Capability | null {
  const needed = neededFor[column];
  return needed === undefined || holds(caller, needed) ? null : needed;
}

/**
 * Throws 403 on the caller's own account: password and second factor are changed with the current password, also by
 * administrators.
 */
export function checkNotSelf(caller: SignedIn, userRef: number): void {
  if (userRef === caller.ref) throw refuse('current-password-required');
}

/**
 * Throws 403 when the account has capabilities that the caller lacks: changing its password or role would grant them.
 */
export function checkMayAdminister(caller: SignedIn, account: Capabilities): void {
  if (!mayAdminister(caller, account)) throw refuse('account-has-more-rights');
}

/** Returns whether the caller holds every capability of the account (ROLE-10). */
export function mayAdminister(caller: SignedIn, { everywhere, inTeams }: Capabilities): boolean {
  return holdsAll(caller, [...everywhere, ...[...inTeams.keys()].map(capabilityShownFor)]);
}

/** Returns whether the caller holds these capabilities everywhere, so that they may give them. */
export function mayGive(caller: SignedIn, codes: readonly string[]): boolean {
  return holdsAll(caller, codes);
}

/** Throws 403 when the caller would give capabilities that they do not hold everywhere. */
export function checkMayGive(caller: SignedIn, codes: readonly string[]): void {
  if (!mayGive(caller, codes)) throw refuse('capability-not-held');
}

/** Accounts `users u` whose role gives `system.admin`, by itself or through its parents. */
const hasAdministeringRole: RawBuilder<boolean> = sql`u.role_id in (
  with recursive administering (role_id) as (
    select role_id from role_capabilities where capability = 'system.admin'
    union
    select r.id from roles r join administering a on r.parent_id = a.role_id
  ) select role_id from administering)`;

/**
 * Accounts `users u` that were given `system.admin`, even if they are disabled, or if it is revoked: a library with such an
 * account is set up, and nobody may take it over (SETUP-1).
 */
export const isAdministrator: RawBuilder<boolean> = sql`(${hasAdministeringRole}
  or exists (select from user_capability_grants g where g.user_ref = u.ref
    and g.capability = 'system.admin' and g.team_id is null and ${unexpired('g')}))`;

/**
 * Active accounts `users u` without expiry that hold `system.admin` permanently: by role or a grant without expiry, and not
 * revoked.
 */
export const administers: RawBuilder<boolean> = administersWith(hasAdministeringRole);

/** Active accounts `users u` without expiry that would hold `system.admin` permanently if their role gave it, or did not. */
export function administersWith(isOfRole: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql`(u.status = 'active' and u.expires_at is null
    and (${isOfRole}
      or exists (select from user_capability_grants g where g.user_ref = u.ref
        and g.capability = 'system.admin' and g.team_id is null and g.expires_at is null))
    and not exists (select from user_capability_revokes r where r.user_ref = u.ref
      and r.capability = 'system.admin' and r.team_id is null
      and ${unexpired('r')}))`;
}

/** Returns whether a role with these capabilities gives `system.admin`, which ROLE-11 keeps. */
export function givesAdministration(codes: readonly string[]): boolean {
  return codes.includes('system.admin');
}

/** Accounts `users u` without a picture that a person has chosen or removed (SSO-60). */
export const takesClaimedPicture: RawBuilder<boolean> = sql`(u.avatar_asset_id is not distinct from u.picture_asset_id)`;
