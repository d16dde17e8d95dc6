import type { SignInState } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import { unexpired } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import { type RegistryDeps, readProviders } from '../identity/provider-registry.ts';

/** The providers with which people can sign in now. */
export interface WaysToSignIn {
  /** Redirect-based providers that are enabled. */
  redirecting: readonly string[];
  /** Whether a directory is configured. */
  directory: boolean;
}

/** Returns the ways to sign in that the library offers, besides passwords. */
export async function waysToSignIn(deps: RegistryDeps & Pick<Deps, 'providers'>): Promise<WaysToSignIn> {
  const enabled = (await readProviders(deps)).filter(({ settings }) => settings.enabled);
  const directory = deps.providers.get('ldap');
  return {
    redirecting: enabled.map(({ name }) => name),
    directory: directory !== undefined && directory !== 'not set up',
  };
}

/** The names with which an account `u` can prove who it is, as an array. */
function proofs({ redirecting, directory }: WaysToSignIn): RawBuilder<string[]> {
  return sql`array(
    select 'password' where u.password_hash is not null
    union all select 'ldap' where u.provider = 'ldap' and ${directory}
    union all select 'passkey' where exists (select from passkeys k where k.user_ref = u.ref)
    union all (select distinct i.provider from user_identities i
      where i.user_ref = u.ref and i.provider = any(${[...redirecting]}::text[]) order by i.provider))`;
}

/** Joins `state` with `by` and `obstacle` to a statement about `users u` (USER-20). */
export function signInState(ways: WaysToSignIn): RawBuilder<unknown> {
  return sql`cross join lateral (select p.by, case
      when u.status <> 'active' then u.status
      when not ${unexpired('u')} then 'expired'
      when cardinality(p.by) = 0 then 'no_password'
      -- A lock does not hold for providers that sign in by redirect.
      when p.by <@ array['password', 'ldap', 'passkey'] and exists (select from sign_in_failures f
        where f.name = left(u.username_key, 500) and f.locked_until > now()) then 'locked' end as obstacle
    from (select ${proofs(ways)} as by) p) state`;
}

/** The column of `signInState`, as the contract has it. */
export interface SignInColumns {
  by: string[];
  obstacle: SignInState['obstacle'] | null;
}

/** Returns the state in the form of the contract. */
export function shownState({ by, obstacle }: SignInColumns): SignInState {
  return { possible: obstacle === null, by, ...(obstacle == null ? {} : { obstacle }) };
}
