import { signInWithPasskey, startPasskeySignIn } from '@vitrine/contract/passkeys';
import { handle } from '../../core/handle.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { forgetFailures } from './lock-out.ts';
import { CHALLENGE_MS, keepChallenge } from './passkey-challenges.ts';
import { accountByPasskey } from './passkey-proof.ts';
import { loadWebAuthn, passkeySite } from './passkey-site.ts';

/** The same options for everyone, so that they reveal no accounts: the browser knows the passkeys of the site. */
export const startWithPasskey = handle(startPasskeySignIn, async (deps, { http }) => {
  const { rpId } = await passkeySite(deps, http);
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const { challenge } = await generateAuthenticationOptions({ rpID: rpId });
  await keepChallenge(deps.db, challenge, null);
  return {
    status: 200,
    body: { challenge, timeout: CHALLENGE_MS, rpId, userVerification: 'required' as const },
  };
});

/** PASSKEY-5: every failure is the 401 of a wrong password. */
export const withPasskey = handle(signInWithPasskey, async (deps, { body, caller, http }) => {
  const account = await accountByPasskey(deps, body.credential, http);
  await forgetFailures(deps.db, account.username);
  const signedIn = { userRef: account.ref, provider: 'passkey', secondFactor: true };
  const opened = await completeSignIn(deps, signedIn, caller, http);
  return { status: 200, body: opened.body, cookie: opened.cookie };
});
