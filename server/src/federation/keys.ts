import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { seal, unseal } from '../identity/seal.ts';
import { publicKeyPem, rawPublicKey } from './protocol/signature.ts';

/** A person's current keys (FED-4): one pair signs, the other decrypts. Raw public keys have 32 bytes. */
export interface ActorKeys {
  username: string;
  displayName: string;
  version: number;
  signingPublic: Buffer;
  signingPrivate: KeyObject;
  boxPublic: Buffer;
}

type KeyDeps = Pick<Deps, 'db' | 'secretKey'>;

const SIGNING = 'federation actor signing key';
const BOX = 'federation actor box key';
const RETAINED_DAYS = 7;

interface Row {
  username: string;
  display_name: string;
  version: number;
  signing_public: Buffer;
  signing_sealed: Buffer;
  box_public: Buffer;
}

const currentKeys = sql`select u.username, coalesce(nullif(trim(u.display_name), ''), u.username) as display_name, k.version,
    k.signing_public, k.signing_sealed, k.box_public
  from users u join federation_keys k on k.user_ref = u.ref and k.retained_until is null`;

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function generate(secretKey: string) {
  const signing = generateKeyPairSync('ed25519').privateKey;
  const box = generateKeyPairSync('x25519').privateKey;
  return {
    signing_public: rawPublicKey(signing),
    signing_sealed: seal(secretKey, SIGNING, pem(signing)),
    box_public: rawPublicKey(box),
    box_sealed: seal(secretKey, BOX, pem(box)),
  };
}

/** Returns the keys of an account, generated when it first takes part; null for an account that does not exist. */
export async function readActorKeys({ db, secretKey }: KeyDeps, userRef: number): Promise<ActorKeys | null> {
  const read = () => sql<Row>`${currentKeys} where u.ref = ${userRef}`.execute(db);
  let row = (await read()).rows[0];
  if (row === undefined) {
    const made = generate(secretKey);
    await sql`insert into federation_keys (user_ref, version, signing_public, signing_sealed, box_public, box_sealed)
      select ref, 1, ${made.signing_public}, ${made.signing_sealed}, ${made.box_public}, ${made.box_sealed}
      from users where ref = ${userRef} on conflict do nothing`.execute(db);
    row = (await read()).rows[0];
  }
  if (row === undefined) return null;
  return {
    username: row.username,
    displayName: row.display_name,
    version: row.version,
    signingPublic: row.signing_public,
    signingPrivate: createPrivateKey(unseal(secretKey, SIGNING, row.signing_sealed)),
    boxPublic: row.box_public,
  };
}

/** Returns the private keys that may decrypt for an account: the current one first, then those still retained. */
export async function readBoxKeys({ db, secretKey }: KeyDeps, userRef: number): Promise<KeyObject[]> {
  const { rows } = await sql<{ box_sealed: Buffer }>`select box_sealed from federation_keys
    where user_ref = ${userRef} and (retained_until is null or retained_until > now()) order by version desc`.execute(
    db,
  );
  return rows.map(({ box_sealed }) => createPrivateKey(unseal(secretKey, BOX, box_sealed)));
}

/** Replaces the keys of an account; the earlier ones decrypt for seven more days. */
export async function rotateActorKeys({ db, secretKey }: KeyDeps, userRef: number): Promise<void> {
  const made = generate(secretKey);
  await db.transaction().execute(async (tx) => {
    await sql`select from users where ref = ${userRef} for no key update`.execute(tx);
    await sql`update federation_keys set retained_until = now() + make_interval(days => ${RETAINED_DAYS})
      where user_ref = ${userRef} and retained_until is null`.execute(tx);
    await sql`insert into federation_keys (user_ref, version, signing_public, signing_sealed, box_public, box_sealed)
      select ${userRef}, coalesce(max(version), 0) + 1, ${made.signing_public}, ${made.signing_sealed},
        ${made.box_public}, ${made.box_sealed} from federation_keys where user_ref = ${userRef}`.execute(tx);
  });
}

/** The address of a person of this install. */
export function actorUri(installUrl: string, username: string): string {
  return `${installUrl}/users/${encodeURIComponent(username)}`;
}

/**
 * Returns the actor document of an account that has taken part, or null: others are not told who has an account here.
 */
export async function actorDocument({ db }: Pick<Deps, 'db'>, installUrl: string, username: string) {
  const { rows } = await sql<Row>`${currentKeys} where lower(u.username) = lower(${username})
    and u.status = 'active'`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  const id = actorUri(installUrl, row.username);
  return {
    '@context': 'https://artist-alley.org/protocol/v1',
    type: 'aa:Actor',
    id,
    preferredUsername: row.username,
    name: row.display_name,
    inbox: `${installUrl}/federation/inbox`,
    publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem: publicKeyPem(row.signing_public) },
    publicKeys: [
      {
        id: `${id}#box-${row.version}`,
        algorithm: 'x25519',
        version: row.version,
        publicKey: row.box_public.toString('base64url'),
      },
    ],
  };
}
