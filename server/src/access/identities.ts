import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, type SignedIn } from './caller.ts';
import { activeAccount } from './live.ts';

/** Who sees whose identity (IDENTITY-3). Predicates refer to a row of `users` with the given alias. */

/** Anonymous callers get no identity object for hidden users. */
export function disclosedIdentity(caller: Caller, alias: string): RawBuilder<boolean> {
  const user = sql.ref(alias);
  return caller.kind === 'anonymous'
    ? sql`(${user}.ref is not null and not ${user}.hide_from_anonymous)`
    : sql`(${user}.ref is not null)`;
}

/** Accounts in the caller's directory of people: active ones that do not hide from them (USER-23). */
export function listedPeople(caller: Caller, alias: string): RawBuilder<boolean> {
  return sql`(${activeAccount(alias)} and ${disclosedIdentity(caller, alias)})`;
}

/** Whether the caller sees full names at all (IDENTITY-2). */
export function seesFullNames(caller: Caller): boolean {
  return caller.kind !== 'anonymous';
}

/** Whether an operator sees personal data in accounts and events (USER-8). */
export function seesPersonalData(caller: SignedIn): boolean {
  return holds(caller, 'users.pii.read');
}

/** Whether the caller sees where an account is signed in: always for their own, otherwise as personal data. */
export function seesWhereabouts(caller: SignedIn, userRef: number): boolean {
  return caller.ref === userRef || seesPersonalData(caller);
}

/** How an operator sees names on operators' pages: without personal data like a stranger, who sees no full name. */
export function readerOfNames(caller: SignedIn): Caller {
  return seesPersonalData(caller) ? caller : { kind: 'anonymous' };
}

/** Returns the profile's display name, else the full name (never for anonymous callers), else the username. */
export function displayName(caller: Caller, alias: string): RawBuilder<string> {
  const user = sql.ref(alias);
  return seesFullNames(caller)
    ? sql`coalesce(nullif(trim(${user}.display_name), ''), nullif(trim(${user}.fullname), ''), ${user}.username)`
    : sql`coalesce(nullif(trim(${user}.display_name), ''), ${user}.username)`;
}

/** Returns the address of the user's avatar, or null without one (IDENTITY-1). */
export function avatarUrl(alias: string): RawBuilder<string | null> {
  return sql`'/api/v1/assets/' || ${sql.ref(alias)}.avatar_asset_id || '/variants/col'`;
}

/** The identity as JSON `{ref, username, display_name, avatar_url}`, or null where it is hidden. */
export function identityJson(caller: Caller, alias: string): RawBuilder<unknown> {
  const user = sql.ref(alias);
  return sql`case when ${disclosedIdentity(caller, alias)} then json_build_object(
    'ref', ${user}.ref, 'username', ${user}.username, 'display_name', ${displayName(caller, alias)},
    'avatar_url', ${avatarUrl(alias)}) end`;
}

/**
 * Where a mirrored row with the column `origin_peer_id` comes from, with the name of the person there; null for what was made
 * here.
 */
export function originJson(alias: 'a' | 'c' | 'p'): RawBuilder<unknown> {
  const row = sql.ref(alias);
  const person = alias === 'p' ? sql`p.author_user_ref` : sql`${row}.owner_user_ref`;
  return originAt(
    sql`${row}.origin_peer_id`,
    sql`(select ra.display_name from remote_actors ra where ra.ref = ${person})`,
  );
}

/** The peer with this id as an origin; null without an id. */
export function originAt(peerId: RawBuilder<unknown>, author: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when ${peerId} is not null then (select json_build_object('peer_id', op.id,
    'display_name', op.display_name, 'instance_url', op.instance_url, 'author', ${author})
    from federation_peers op where op.id = ${peerId}) end`;
}

/** The owner's name on a placeholder, or null when the identity is hidden. */
export function ownerName(caller: Caller, alias: string): RawBuilder<string | null> {
  return sql`case when ${disclosedIdentity(caller, alias)} then ${displayName(caller, alias)} end`;
}
