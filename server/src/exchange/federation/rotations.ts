import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  rotateInstallKey as installContract,
  rotateOwnKeys as ownContract,
} from '@vitrine/contract/federation';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { wakeDelivery } from '../../core/outbox/enqueue.ts';
import { writeSetting } from '../../core/settings.ts';
import { recordEvent } from '../../people/audit/record.ts';
import { seal } from '../../people/identity/seal.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { addBoxKey, retireBoxKeys } from './box-keys.ts';
import { INSTALL_KEY_PURPOSE, readInstallKey, requireInstall, showFederation } from './identity.ts';
import { ACTOR_KEY_PURPOSE, readActorKeys } from './keys.ts';
import { actorUri, mainKeyUri } from './protocol/addresses.ts';
import { signRotation } from './protocol/rotation.ts';
import { fingerprint, rawPublicKey, signEnvelope } from './protocol/signature.ts';
import { readKeyGraceDays } from './settings.ts';

interface Replaced {
  userRef: number | null;
  owner: string;
  former: { publicKey: Buffer; privateKey: KeyObject };
  /** Kept while peers may still expect requests signed with it. */
  formerSealed: Buffer | null;
}

/**
 * Generates a key that follows the former one, and stores the statement; returns the key as PEM and raw public bytes.
 */
async function succeed(tx: Tx, { userRef, owner, former, formerSealed }: Replaced) {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = rawPublicKey(privateKey);
  const { published, signature } = signRotation(owner, former, publicKey, new Date().toISOString());
  const days = await readKeyGraceDays(tx);
  await tx
    .insertInto('federation_rotations')
    .values({
      user_ref: userRef,
      previous_key: former.publicKey,
      next_key: publicKey,
      published,
      signature: Buffer.from(signature, 'base64url'),
      previous_sealed: formerSealed,
      retained_until: sql<string>`now() + make_interval(days => ${days})`,
    })
    .execute();
  return { privateKey, publicKey, pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), days };
}

function record(tx: Tx, caller: SignedIn, whose: 'install' | 'person', former: Buffer, next: Buffer) {
  return recordEvent(tx, caller, {
    event: `federation.key.rotated`,
    metadata: { whose, before: fingerprint(former), after: fingerprint(next) },
  });
}

/** Replaces the key of this library; deliveries announce it to the peers (FED-56). */
export const rotateInstall = handle(installContract, async (deps, { caller }) => {
  const { url } = await requireInstall(deps);
  const { secretKey } = deps;
  await deps.db.transaction().execute(async (tx) => {
    // One rotation at a time: each statement follows the one before it.
    await tx.selectFrom('settings').where('key', '=', 'federation_key').forUpdate().execute();
    const former = await readInstallKey({ db: tx, secretKey });
    const formerPem = former.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const next = await succeed(tx, {
      userRef: null,
      owner: `${url}/federation/instance`,
      former,
      formerSealed: seal(secretKey, INSTALL_KEY_PURPOSE, formerPem),
    });
    await writeSetting(
      tx,
      'federation_key',
      seal(secretKey, INSTALL_KEY_PURPOSE, next.pem).toString('base64'),
    );
    await record(tx, caller, 'install', former.publicKey, next.publicKey);
    const rows = await tx
      .selectFrom('federation_peers')
      .select('id')
      .where('state', '=', 'connected')
      .execute();
    await wakeDelivery(
      tx,
      rows.map(({ id }) => id),
    );
  });
  return { status: 200, body: await showFederation(deps) };
});

/** Signs pending envelopes with the next key, because receivers may learn of that key before the envelopes arrive. */
async function signAgain(tx: Tx, actor: string, privateKey: KeyObject): Promise<void> {
  const { rows } = await sql<{ seq: number; envelope: string | null; preludes: string[] }>`
    select seq, envelope, preludes from federation_outbox
    where status = 'queued' and coalesce(envelope, preludes[1])::jsonb ->> 'actor' = ${actor} for update`.execute(
    tx,
  );
  const again = (text: string) => {
    const { signature: _, ...unsigned } = JSON.parse(text);
    return JSON.stringify(signEnvelope(unsigned, mainKeyUri(actor), privateKey));
  };
  for (const { seq, envelope, preludes } of rows) {
    await tx
      .updateTable('federation_outbox')
      .set({ envelope: envelope === null ? null : again(envelope), preludes: preludes.map(again) })
      .where('seq', '=', seq)
      .execute();
  }
}

/** Replaces the keys of the caller, for signing and for encryption (FED-57). */
export const rotateOwn = handle(ownContract, async (deps, { caller }) => {
  const { url } = await requireInstall(deps);
  const { secretKey } = deps;
  await readActorKeys(deps, caller.ref);
  await deps.db.transaction().execute(async (tx) => {
    await tx.selectFrom('federation_keys').where('user_ref', '=', caller.ref).forUpdate().execute();
    const former = await readActorKeys({ db: tx, secretKey }, caller.ref);
    if (former === null) throw new Error('the caller has no keys');
    const owner = actorUri(url, former.username);
    const next = await succeed(tx, {
      userRef: caller.ref,
      owner,
      former: { publicKey: former.signingPublic, privateKey: former.signingPrivate },
      formerSealed: null,
    });
    await tx
      .updateTable('federation_keys')
      .set({ signing_public: next.publicKey, signing_sealed: seal(secretKey, ACTOR_KEY_PURPOSE, next.pem) })
      .where('user_ref', '=', caller.ref)
      .execute();
    const version = await retireBoxKeys(tx, caller.ref, next.days);
    await addBoxKey({ db: tx, secretKey }, caller.ref, version + 1);
    await signAgain(tx, owner, next.privateKey);
    await record(tx, caller, 'person', former.signingPublic, next.publicKey);
  });
  return { status: 204 };
});
