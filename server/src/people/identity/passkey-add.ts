import { randomBytes } from 'node:crypto';
import { addPasskey, type Passkey, type PasskeyAttestation, startPasskey } from '@vitrine/contract/passkeys';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { readSite } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
import { CHALLENGE_MS, keepChallenge, takeChallenge } from './passkey-challenges.ts';
import { loadWebAuthn, PASSKEY_ALGORITHMS, type PasskeySite, passkeySite } from './passkey-site.ts';

/** A generous limit that keeps accounts from filling the table. */
const MOST_PASSKEYS = 50;

const DEFAULT_NAME = 'Passkey';

function readPasskeys(db: Database, userRef: number) {
  return db
    .selectFrom('passkeys')
    .select(['credential_id', 'user_handle', 'transports'])
    .where('user_ref', '=', userRef)
    .orderBy('created_at')
    .execute();
}

/** The session that the scope of the contract requires. */
function sessionOf({ sessionId }: SignedIn): string {
  if (sessionId === null) throw refuse('session-required');
  return sessionId;
}

/** PASSKEY-2: options for a passkey that the browser can find without a name and that verifies its user. */
export const startAdding = handle(startPasskey, async (deps, { caller, http }) => {
  const { db } = deps;
  const [{ rpId }, site, known] = [
    await passkeySite(deps, http),
    await readSite(deps),
    await readPasskeys(db, caller.ref),
  ];
  const userHandle = known[0]?.user_handle ?? randomBytes(32);
  const { generateRegistrationOptions } = await loadWebAuthn();
  const { challenge, pubKeyCredParams } = await generateRegistrationOptions({
    rpName: site.site_name,
    rpID: rpId,
    userName: caller.username,
    supportedAlgorithmIDs: PASSKEY_ALGORITHMS,
  });
  await keepChallenge(db, challenge, { sessionId: sessionOf(caller), userHandle });
  return {
    status: 200,
    body: {
      rp: { id: rpId, name: site.site_name },
      user: {
        id: userHandle.toString('base64url'),
        name: caller.username,
        displayName: caller.account.fullname ?? caller.username,
      },
      challenge,
      pubKeyCredParams,
      timeout: CHALLENGE_MS,
      excludeCredentials: known.map(({ credential_id, transports }) => ({
        id: credential_id.toString('base64url'),
        type: 'public-key' as const,
        transports,
      })),
      authenticatorSelection: {
        residentKey: 'required' as const,
        requireResidentKey: true,
        userVerification: 'required' as const,
      },
      attestation: 'none' as const,
    },
  };
});

/** Returns the new key of a response, or null if anything is wrong with it. */
async function verify(
  { id, rawId, response: { clientDataJSON, attestationObject } }: PasskeyAttestation,
  challenge: string,
  { origin, rpId }: PasskeySite,
) {
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  try {
    const statement = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    // PASSKEY-2. Certificates name addresses of revocation lists, which the library would fetch.
    const hasCertificates = statement.get('attStmt').get('x5c') !== undefined;
    const isAllowed = ['none', 'packed'].includes(statement.get('fmt')) && !hasCertificates;
    if (!isAllowed) return null;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type: 'public-key',
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: PASSKEY_ALGORITHMS,
    });
    return registrationInfo ?? null;
  } catch {
    // The library throws for every response that it does not accept.
    return null;
  }
}

export const add = handle(addPasskey, async (deps, { caller, body, http }) => {
  const { db } = deps;
  const { credential } = body;
  const name = body.name ?? DEFAULT_NAME;
  const taken = await takeChallenge(db, credential.response, sessionOf(caller));
  if (taken === null || taken.userHandle === null) throw refuse('passkey-challenge-unknown');
  const { userHandle, challenge } = taken;
  const made = await verify(credential, challenge, await passkeySite(deps, http));
  if (made === null) throw refuse('passkey-not-verified');
  const row = {
    user_ref: caller.ref,
    name,
    credential_id: Buffer.from(made.credential.id, 'base64url'),
    public_key: Buffer.from(made.credential.publicKey),
    user_handle: userHandle,
    counter: made.credential.counter,
    transports: credential.response.transports ?? [],
    multi_device: made.credentialDeviceType === 'multiDevice',
    backed_up: made.credentialBackedUp,
  };
  const added = await db.transaction().execute(async (tx): Promise<Passkey> => {
    // One at a time: concurrent calls could otherwise both pass the limit.
    await tx.selectFrom('users').where('ref', '=', caller.ref).forNoKeyUpdate().execute();
    if ((await readPasskeys(tx, caller.ref)).length >= MOST_PASSKEYS)
      throw refuse('too-many-passkeys', { max: MOST_PASSKEYS });
    const inserted = await tx
      .insertInto('passkeys')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .returning(['id', 'name', 'created_at', 'last_used_at'])
      .executeTakeFirst();
    if (inserted === undefined) throw refuse('passkey-known');
    await recordEvent(tx, caller, {
      event: 'auth.passkey.added',
      subjectUserRef: caller.ref,
      metadata: { name },
    });
    return inserted;
  });
  return { status: 201, body: added };
});
