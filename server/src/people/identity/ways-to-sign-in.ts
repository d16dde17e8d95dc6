import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { isHashInSql } from './hash-forms.ts';
import { type RegistryDeps, readProviders } from './provider-registry.ts';

/** The providers with which people can sign in now. */
export interface WaysToSignIn {
  /** Redirect-based providers that are enabled. */
  redirecting: readonly string[];
  /** Whether a directory is configured. */
  directory: boolean;
}

/** Returns the ways to sign in that the library offers, besides passwords and passkeys. */
export async function waysToSignIn(deps: RegistryDeps & Pick<Deps, 'providers'>): Promise<WaysToSignIn> {
  const enabled = (await readProviders(deps)).filter(({ settings }) => settings.enabled);
  const directory = deps.providers.get('ldap');
  return {
    redirecting: enabled.map(({ name }) => name),
    directory: directory !== undefined && directory !== 'not set up',
  };
}

/** Whether an account `u` has a password that can verify: a hash, not the plain text of an earlier system (SIGNIN-9). */
const hasPassword = isHashInSql(sql.ref<string | null>('u.password_hash'));

/** The names of the ways with which an account `u` can sign in now, as an array. */
export function waysOf({ redirecting, directory }: WaysToSignIn): RawBuilder<string[]> {
  return sql`array(
    select 'password' where ${hasPassword}
    union all select 'ldap' where u.provider = 'ldap' and ${directory}
    union all select 'passkey' where exists (select from passkeys k where k.user_ref = u.ref)
    union all (select distinct i.provider from user_identities i
      where i.user_ref = u.ref and i.provider = any(${[...redirecting]}::text[]) order by i.provider))`;
}

/** Locks the account, so that two requests do not remove its last two ways to sign in at once. */
export async function lockWaysToSignIn(tx: Tx, userRef: number): Promise<void> {
  await tx.selectFrom('users').where('ref', '=', userRef).forNoKeyUpdate().execute();
}

/** Throws 409 unless the account has a way to sign in that works now (SSO-18, PASSKEY-8). */
export async function checkCanSignIn(tx: Tx, userRef: number, ways: WaysToSignIn): Promise<void> {
  const { rows } = await sql<{ can: boolean }>`
    select cardinality(${waysOf(ways)}) > 0 as can from users u where u.ref = ${userRef}`.execute(tx);
  if (rows[0]?.can !== true) throw refuse('last-way-to-sign-in');
}
