import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { activeAccount } from '../../access/live.ts';
import type { Deps } from '../../core/deps.ts';
import { seal, unseal } from '../../people/identity/seal.ts';
import type { Database } from '../../platform/database/pool.ts';
import { rawPublicKey } from './protocol/signature.ts';

/** A public X25519 key with which others encrypt for an account (FED-53). */
export interface PublishedBoxKey {
  version: number;
  /** 32 raw bytes. */
  public_key: Buffer;
}

export const BOX_KEY_PURPOSE = 'federation encryption key';

/** Current keys, and former ones within their grace period; of accounts that may still sign in. */
const usable = sql`(k.retained_until is null or k.retained_until > now())`;

/** Generates the encryption key of an account unless it has one. */
export async function ensureBoxKey(
  { db, secretKey }: Pick<Deps, 'db' | 'secretKey'>,
  userRef: number,
): Promise<void> {
  const rows = await db.selectFrom('federation_box_keys').where('user_ref', '=', userRef).execute();
  if (rows.length === 0) await addBoxKey({ db, secretKey }, userRef, 1);
}

/** Stores a new current key with this version, unless another process has stored it. */
export async function addBoxKey(
  { db, secretKey }: { db: Database; secretKey: string },
  userRef: number,
  version: number,
): Promise<void> {
  const { privateKey } = generateKeyPairSync('x25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await sql`insert into federation_box_keys (user_ref, version, public_key, sealed)
    select ref, ${version}, ${rawPublicKey(privateKey)}::bytea, ${seal(secretKey, BOX_KEY_PURPOSE, pem)}::bytea
    from users where ref = ${userRef} on conflict do nothing`.execute(db);
}

/**
 * Sets when the current key stops decrypting, in days from now, and returns the latest version; 0 without a
 * key.
 */
export async function retireBoxKeys(db: Database, userRef: number, days: number): Promise<number> {
  await db
    .updateTable('federation_box_keys')
    .set({ retained_until: sql<string>`now() + make_interval(days => ${days})` })
    .where('user_ref', '=', userRef)
    .where('retained_until', 'is', null)
    .execute();
  const { rows } = await sql<{ version: number }>`select coalesce(max(version), 0) as version
    from federation_box_keys where user_ref = ${userRef}`.execute(db);
  return rows[0]?.version ?? 0;
}

/** Returns the published keys of an account, newest first. */
export async function publishedBoxKeys(db: Database, userRef: number): Promise<PublishedBoxKey[]> {
  const { rows } = await sql<PublishedBoxKey>`select k.version, k.public_key from federation_box_keys k
    where k.user_ref = ${userRef} and ${usable} order by k.version desc`.execute(db);
  return rows;
}

/** An account with the private keys that decrypt what was encrypted for it, the current one first. */
export interface Decrypter {
  ref: number;
  keys: KeyObject[];
}

/** Returns the active accounts of these folded usernames (NAME-1) with their private keys. */
export async function decryptersNamed(
  { db, secretKey }: Pick<Deps, 'db' | 'secretKey'>,
  keys: readonly string[],
): Promise<Map<string, Decrypter>> {
  const { rows } = await sql<{ username_key: string; ref: number; sealed: Buffer }>`
    select u.username_key, u.ref, k.sealed
    from users u join federation_box_keys k on k.user_ref = u.ref and ${usable}
    where u.username_key = any(${keys}::text[]) and ${activeAccount('u')}
    order by k.version desc`.execute(db);
  const byKey = Map.groupBy(rows, ({ username_key }) => username_key);
  return new Map(
    [...byKey].flatMap(([key, sealedKeys]) => {
      const [first] = sealedKeys;
      if (first === undefined) return [];
      const privateKeys = sealedKeys.map(({ sealed }) =>
        createPrivateKey(unseal(secretKey, BOX_KEY_PURPOSE, sealed)),
      );
      return [[key, { ref: first.ref, keys: privateKeys }] as const];
    }),
  );
}
