import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import { seal, unseal } from '../../people/identity/seal.ts';
import type { Database } from '../../platform/database/pool.ts';
import { ensureBoxKey, publishedBoxKeys } from './box-keys.ts';
import { actorUri, mainKeyUri } from './protocol/addresses.ts';
import { PROTOCOL } from './protocol/envelope.ts';
import { signBoxKey } from './protocol/rotation.ts';
import { publicKeyPem, rawPublicKey } from './protocol/signature.ts';
import { readRotations } from './statements.ts';

/** A federated person with the keys that sign their envelopes (FED-4). The raw public key has 32 bytes. */
export interface ActorKeys {
  username: string;
  displayName: string;
  signingPublic: Buffer;
  signingPrivate: KeyObject;
}

type KeyDeps = { db: Database; secretKey: string };

export const ACTOR_KEY_PURPOSE = 'federation actor key';

interface AccountKeysRow {
  ref: number;
  username: string;
  display_name: string;
  signing_public: Buffer;
  signing_sealed: Buffer;
}

const keysOfUsers = sql`select u.ref, u.username, coalesce(nullif(trim(u.display_name), ''), u.username) as display_name,
    k.signing_public, k.signing_sealed
  from users u join federation_keys k on k.user_ref = u.ref`;

/** Returns the keys of an account, generated at its first federated action; null if the account does not exist. */
export async function readActorKeys({ db, secretKey }: KeyDeps, userRef: number): Promise<ActorKeys | null> {
  const read = () => sql<AccountKeysRow>`${keysOfUsers} where u.ref = ${userRef}`.execute(db);
  let row = (await read()).rows[0];
  if (row === undefined) {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await sql`insert into federation_keys (user_ref, signing_public, signing_sealed)
      select ref, ${rawPublicKey(privateKey)}::bytea, ${seal(secretKey, ACTOR_KEY_PURPOSE, pem)}::bytea
      from users where ref = ${userRef} on conflict do nothing`.execute(db);
    row = (await read()).rows[0];
  }
  if (row === undefined) return null;
  return {
    username: row.username,
    displayName: row.display_name,
    signingPublic: row.signing_public,
    signingPrivate: createPrivateKey(unseal(secretKey, ACTOR_KEY_PURPOSE, row.signing_sealed)),
  };
}

/**
 * Returns the document of a person, or null. A connected peer may read that of every active account, to share something
 * with them; other installs can read only those of people who already have keys.
 */
export async function actorDocument(
  deps: KeyDeps,
  installUrl: string,
  username: string,
  { forPeer }: { forPeer: boolean },
) {
  const named = sql`u.username_key = ${foldName(username)} and ${activeAccount('u')}`;
  if (forPeer) {
    const { rows } = await sql<{ ref: number }>`select u.ref from users u where ${named}`.execute(deps.db);
    if (rows[0] !== undefined) {
      await readActorKeys(deps, rows[0].ref);
      await ensureBoxKey(deps, rows[0].ref);
    }
  }
  const { rows } = await sql<AccountKeysRow>`${keysOfUsers} where ${named}`.execute(deps.db);
  const [row] = rows;
  if (row === undefined) return null;
  const id = actorUri(installUrl, row.username);
  const boxKeys = await publishedBoxKeys(deps.db, row.ref);
  const rotations = await readRotations(deps.db, row.ref);
  const signingKey = createPrivateKey(unseal(deps.secretKey, ACTOR_KEY_PURPOSE, row.signing_sealed));
  return {
    '@context': PROTOCOL,
    type: 'aa:Actor',
    id,
    preferredUsername: row.username,
    name: row.display_name,
    inbox: `${installUrl}/federation/inbox`,
    publicKey: { id: mainKeyUri(id), owner: id, publicKeyPem: publicKeyPem(row.signing_public) },
    publicKeys: boxKeys.map(({ version, public_key }) => {
      const publicKey = public_key.toString('base64url');
      return {
        id: `${id}#box-${version}`,
        algorithm: 'x25519',
        version,
        publicKey,
        // The first key is accepted without a statement.
        ...(version > 1 ? { signature: signBoxKey(id, version, publicKey, signingKey) } : {}),
      };
    }),
    ...(rotations.length === 0 ? {} : { rotations }),
  };
}
