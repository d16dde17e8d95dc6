import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, type SignedIn } from './caller.ts';

/** Whose identity is told to whom (IDENTITY-3). Speaks of a row of `users` under the given alias. */

/** The identity object is left out for hidden users before anonymous callers. */
export function disclosedIdentity(caller: Caller, alias: string): RawBuilder<boolean> {
  const user = sql.ref(alias);
  return caller.kind === 'anonymous'
    ? sql`(${user}.ref is not null and not ${user}.hide_from_anonymous)`
    : sql`(${user}.ref is not null)`;
}

/** Whether full names are told to the caller at all (IDENTITY-2). */
export function seesFullNames(caller: Caller): boolean {
  return caller.kind !== 'anonymous';
}

/** Whether an operator is told what of accounts and events is personal data (USER-8). */
export function seesPersonalData(caller: SignedIn): boolean {
  return holds(caller, 'users.pii.read');
}

/** Whether the caller is told where an account is signed in: their own always, others' as personal data. */
export function seesWhereabouts(caller: SignedIn, userRef: number): boolean {
  return caller.ref === userRef || seesPersonalData(caller);
}

/** As whom an operator reads names on operators' pages: without personal data as a stranger, who is told no full name. */
export function readerOfNames(caller: SignedIn): Caller {
  return seesPersonalData(caller) ? caller : { kind: 'anonymous' };
}

/** Profile display name, then full name (never for anonymous callers), then username. */
export function displayName(caller: Caller, alias: string): RawBuilder<string> {
  const user = sql.ref(alias);
  return seesFullNames(caller)
    ? sql`coalesce(nullif(trim(${user}.display_name), ''), nullif(trim(${user}.fullname), ''), ${user}.username)`
    : sql`coalesce(nullif(trim(${user}.display_name), ''), ${user}.username)`;
}

/** Where the user's picture is, or null without one (IDENTITY-1). */
export function avatarUrl(alias: string): RawBuilder<string | null> {
  return sql`'/api/v1/assets/' || ${sql.ref(alias)}.avatar_asset_id || '/variants/col'`;
}

/** The identity as JSON `{ref, username, display_name, avatar_url}`, or null where it is not disclosed. */
export function identityJson(caller: Caller, alias: string): RawBuilder<unknown> {
  const user = sql.ref(alias);
  return sql`case when ${disclosedIdentity(caller, alias)} then json_build_object(
    'ref', ${user}.ref, 'username', ${user}.username, 'display_name', ${displayName(caller, alias)},
    'avatar_url', ${avatarUrl(alias)}) end`;
}

/** The name a placeholder may carry, or null when the owner's identity is not disclosed. */
export function ownerName(caller: Caller, alias: string): RawBuilder<string | null> {
  return sql`case when ${disclosedIdentity(caller, alias)} then ${displayName(caller, alias)} end`;
}
