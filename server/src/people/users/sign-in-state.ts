import type { SignInState } from '@vitrine/contract/users';
import { type RawBuilder, sql } from 'kysely';
import { unexpired } from '../../access/live.ts';
import { type WaysToSignIn, waysOf } from '../identity/ways-to-sign-in.ts';

/** Joins `state` with `by` and `obstacle` to a statement about `users u` (USER-20). */
export function signInState(ways: WaysToSignIn): RawBuilder<unknown> {
  return sql`cross join lateral (select p.by, case
      when u.status <> 'active' then u.status
      when not ${unexpired('u')} then 'expired'
      when cardinality(p.by) = 0 then 'no_password'
      -- A lock does not hold for providers that sign in by redirect.
      when p.by <@ array['password', 'ldap', 'passkey'] and exists (select from sign_in_failures f
        where f.name = left(u.username_key, 500) and f.locked_until > now()) then 'locked' end as obstacle
    from (select ${waysOf(ways)} as by) p) state`;
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
