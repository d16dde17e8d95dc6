import type { SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { isLocked, recordFailure } from './lock-out.ts';

/** Checks the password with the account's directory or against the stored hash. */
async function matches(deps: Deps, caller: SignedIn, password: string): Promise<boolean> {
  const account = await deps.db
    .selectFrom('users')
    .select(['username', 'password_hash', 'hashed_as', 'provider', 'provider_subject'])
    .where('ref', '=', caller.ref)
    .executeTakeFirst();
  if (account === undefined) return false;
  const provider = deps.providers.get(account.provider);
  if (provider !== undefined && provider !== 'not set up') {
    const identity = await provider.verify(account.username, password).catch((error: unknown) => {
      deps.log.error({ err: error, provider: account.provider }, 'the identity provider could not be asked');
      // Not the user's failure, so an outage locks no one out.
      throw refuse('directory-unavailable');
    });
    return identity?.subject === account.provider_subject;
  }
  return (await deps.passwords.verify(account.hashed_as ?? account.username, password, account.password_hash))
    .matches;
}

/**
 * Throws 403 unless this is the caller's password, which protects an unattended browser. Failures count like failed
 * sign-ins, and a locked name is refused even with the right password.
 */
export async function checkCurrentPassword(
  deps: Deps,
  caller: SignedIn,
  password: string,
  http: HttpFacts,
): Promise<void> {
  const isRight = await matches(deps, caller, password);
  if (!isRight) await recordFailure(deps.db, caller.username, http.address);
  if (!isRight || (await isLocked(deps.db, caller.username))) throw refuse('wrong-password');
}
