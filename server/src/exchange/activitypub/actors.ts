import { createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import { followableActor } from '../../access/activitypub.ts';
import { renderedHash } from '../../access/assets.ts';
import { displayName } from '../../access/identities.ts';
import { picturesForVisitors, visitor } from '../../access/visitors.ts';
import type { Deps } from '../../core/deps.ts';
import { seal, unseal } from '../../people/identity/seal.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** A followable account. */
export interface ActorRow {
  id: string;
  user_ref: number;
  username: string;
  name: string;
  bio: string;
  /** An avatar that visitors may see. */
  avatar: { asset_id: string; type: string } | null;
  created_at: string;
}

export const ACTIVITYPUB_KEY_PURPOSE = 'activitypub actor key';
const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
const generate = promisify(generateKeyPair);

/** The names that remote systems can address: what WebFinger and Mastodon accept as the first half of a handle. */
export const addressableName = /^[a-z0-9_]+([a-z0-9_.-]*[a-z0-9_]+)?$/i;

async function find(db: Database, which: RawBuilder<unknown>): Promise<ActorRow | null> {
  const { rows } = await sql<ActorRow>`
    select ap.id, ap.user_ref, u.username, ${displayName(visitor, 'u')} as name, u.bio, ap.created_at,
      (select json_build_object('asset_id', a.id, 'type', f.renditions -> 'col' ->> 'type')
        from assets a join files f on f.hash = ${renderedHash} and f.renditions ? 'col'
        where a.id = u.avatar_asset_id and ${picturesForVisitors}) as avatar
    from activitypub_actors ap join users u on u.ref = ap.user_ref
    where ${followableActor} and ${which}`.execute(db);
  return rows[0] ?? null;
}

/** Returns a followable account by the id of its actor. */
export function findActor(db: Database, id: string): Promise<ActorRow | null> {
  return find(db, sql`ap.id = ${id}`);
}

/** Returns a followable account by its username, in any spelling (NAME-1). */
export function findActorNamed(db: Database, username: string): Promise<ActorRow | null> {
  return find(db, sql`u.username_key = ${foldName(username)}`);
}

/** Returns whether this actor has been withdrawn, which is reported as 410 (AP-5). */
export async function isWithdrawn(db: Database, id: string): Promise<boolean> {
  const rows = await db
    .selectFrom('activitypub_actors')
    .where('id', '=', id)
    .where('withdrawn_at', 'is not', null)
    .execute();
  return rows.length > 0;
}

/** Generates the keys of an actor: the public one as PEM, and the private one sealed. */
export async function generateActorKeys(secretKey: string): Promise<{ pem: string; sealed: Buffer }> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const sealed = seal(
    secretKey,
    ACTIVITYPUB_KEY_PURPOSE,
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  return { pem, sealed };
}

/** Creates an actor with new keys and returns its id. */
export async function createActor(tx: Tx, secretKey: string, userRef: number): Promise<string> {
  const { pem, sealed } = await generateActorKeys(secretKey);
  const row = await tx
    .insertInto('activitypub_actors')
    .values({ user_ref: userRef, public_key: pem, private_key_sealed: sealed })
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw new Error('an actor was not stored');
  return row.id;
}

/**
 * Erases the keys of withdrawn actors that have nothing left to sign: their Delete was delivered or given up (AP-5).
 */
export async function eraseKeys(db: Database): Promise<void> {
  await sql`update activitypub_actors ap set public_key = null, private_key_sealed = null
    where ap.withdrawn_at is not null and ap.private_key_sealed is not null
      and not exists (select from activitypub_deliveries d where d.actor_id = ap.id)`.execute(db);
}

/**
 * Returns the keys of an actor, or null if it has none. Withdrawn actors keep their keys to sign their Delete.
 */
export async function readKeys(
  { db, secretKey }: Pick<Deps, 'db' | 'secretKey'>,
  actorId: string,
): Promise<CryptoKeyPair | null> {
  const { rows } = await sql<{ public_key: string; private_key_sealed: Buffer }>`
    select public_key, private_key_sealed from activitypub_actors
    where id = ${actorId} and public_key is not null and private_key_sealed is not null`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { subtle } = crypto;
  const spki = new Uint8Array(createPublicKey(row.public_key).export({ type: 'spki', format: 'der' }));
  const pkcs8 = new Uint8Array(
    createPrivateKey(unseal(secretKey, ACTIVITYPUB_KEY_PURPOSE, row.private_key_sealed)).export({
      type: 'pkcs8',
      format: 'der',
    }),
  );
  return {
    publicKey: await subtle.importKey('spki', spki, algorithm, true, ['verify']),
    privateKey: await subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
  };
}
