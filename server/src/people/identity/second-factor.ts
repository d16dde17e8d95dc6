import type { PasskeyAssertion } from '@vitrine/contract/passkey-assertion';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordFailure } from './lock-out.ts';
import { presentPasskey } from './passkey-proof.ts';
import { acceptSecondFactor } from './two-factor-code.ts';

interface Account {
  ref: number;
  username: string;
  /** Whether two-factor sign-in is confirmed. */
  two_factor: boolean;
}

/** What was given as the second factor; an empty code is none. */
interface Given {
  code: string;
  passkey: PasskeyAssertion | null;
}

/**
 * Checks the second factor after the first one was right: a code, or a passkey of the account in its place (TWOFACTOR-4,
 * PASSKEY-6). A wrong one is a failure. Returns whether one was given.
 */
export async function checkSecondFactor(
  deps: Deps,
  account: Account,
  { code, passkey }: Given,
  http: HttpFacts,
): Promise<boolean> {
  if (passkey === null && !account.two_factor) return false;
  if (passkey === null && code === '') throw refuse('two-factor-required');
  const isRight =
    passkey === null
      ? (await acceptSecondFactor(deps.db, deps, account.ref, code)) !== null
      : await isPasskeyOf(deps, account, passkey, http);
  if (isRight) return true;
  await recordFailure(deps.db, account.username, http.address, { userAgent: http.userAgent });
  throw refuse('two-factor-code-invalid');
}

async function isPasskeyOf(deps: Deps, { ref }: Account, passkey: PasskeyAssertion, http: HttpFacts) {
  const { account, isProven } = await presentPasskey(deps, passkey, http);
  return isProven && account?.ref === ref;
}
