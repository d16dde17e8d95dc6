import type { PasskeyAssertion } from '@vitrine/contract/passkey-assertion';
import { sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { isLocked, recordFailure } from './lock-out.ts';
import { type TakenChallenge, takeChallenge } from './passkey-challenges.ts';
import { loadWebAuthn, type PasskeySite, passkeySite } from './passkey-site.ts';

interface StoredPasskey {
  id: string;
  public_key: Buffer;
  user_handle: Buffer;
  counter: number;
  multi_device: boolean;
  ref: number;
  username: string;
}

/** Returns the passkey with this credential id, if its account is active. */
async function findPasskey(db: Database, credentialId: Buffer): Promise<StoredPasskey | null> {
  const { rows } = await sql<StoredPasskey>`
    select p.id, p.public_key, p.user_handle, p.counter, p.multi_device, u.ref, u.username
    from passkeys p join users u on u.ref = p.user_ref
    where p.credential_id = ${credentialId} and ${activeAccount('u')}`.execute(db);
  return rows[0] ?? null;
}

/** Verifies a response with the key of the passkey it names; null if anything is wrong with it (PASSKEY-4, PASSKEY-5). */
async function verify(
  passkey: StoredPasskey,
  { id, rawId, response }: PasskeyAssertion,
  { challenge }: TakenChallenge,
  { origin, rpId }: PasskeySite,
) {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const isOther = userHandle != null && !passkey.user_handle.equals(Buffer.from(userHandle, 'base64url'));
  if (isOther) return null;
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type: 'public-key',
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: { id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter },
      requireUserVerification: true,
    });
    const isMultiDevice = authenticationInfo.credentialDeviceType === 'multiDevice';
    return verified && isMultiDevice === passkey.multi_device ? authenticationInfo : null;
  } catch {
    // The library throws for every response that it does not accept.
    return null;
  }
}

/** PASSKEY-7: records a use; false if the counter has not increased since, also for concurrent callers. */
async function recordUse(
  db: Database,
  { id }: StoredPasskey,
  { newCounter, credentialBackedUp }: { newCounter: number; credentialBackedUp: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    update passkeys set counter = ${newCounter}, backed_up = ${credentialBackedUp}, last_used_at = now()
    where id = ${id} and (counter < ${newCounter} or (counter = 0 and ${newCounter} = 0))
    returning id`.execute(db);
  return rows.length === 1;
}

/** The account that a response names, and whether the response proves that its owner has the passkey. */
export interface PresentedPasskey {
  account: { ref: number; username: string } | null;
  isProven: boolean;
}

/** Checks a response of a browser to a challenge for signing in. Uses the challenge up in any case. */
export async function presentPasskey(
  deps: Deps,
  credential: PasskeyAssertion,
  http: HttpFacts,
): Promise<PresentedPasskey> {
  const challenge = await takeChallenge(deps.db, credential.response, null);
  const passkey = await findPasskey(deps.db, Buffer.from(credential.id, 'base64url'));
  if (passkey === null) return { account: null, isProven: false };
  const account = { ref: passkey.ref, username: passkey.username };
  if (challenge === null) return { account, isProven: false };
  const use = await verify(passkey, credential, challenge, await passkeySite(deps, http));
  return { account, isProven: use !== null && (await recordUse(deps.db, passkey, use)) };
}

/**
 * Returns the account that a response proves; throws the 401 of a wrong password otherwise. Failures with a known passkey count
 * towards the lock of its account, which keeps it out (PASSKEY-5).
 */
export async function accountByPasskey(
  deps: Deps,
  credential: PasskeyAssertion,
  http: HttpFacts,
): Promise<{ ref: number; username: string }> {
  const { account, isProven } = await presentPasskey(deps, credential, http);
  if (account === null) throw refuse('wrong-credentials');
  if (!isProven)
    await recordFailure(deps.db, account.username, http.address, {
      method: 'passkey',
      userAgent: http.userAgent,
    });
  if (!isProven || (await isLocked(deps.db, account.username))) throw refuse('wrong-credentials');
  return account;
}
