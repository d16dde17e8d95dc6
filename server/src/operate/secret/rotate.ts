import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { shareInForce } from '../../access/federation.ts';
import { ConfigError } from '../../core/config.ts';
import { notifyPeer } from '../../core/outbox/enqueue.ts';
import { readSetting } from '../../core/settings.ts';
import { readFormerKeys, storeFormerKeys } from '../../people/identity/former-keys.ts';
import {
  adoptNextKey,
  describeKey,
  isDirectoryTransient,
  isKeyOf,
  type KeyPlace,
  type KeyRecord,
  keepSecretKey,
  keyFile,
  nextKeyFile,
  type OwnKey,
  parseStored,
  readKeyFile,
  readKeyOf,
  readOwnKey,
  writeKeyFile,
} from '../../people/identity/secret-key.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { type KeyChange, type SealedCount, sealEverything } from './sealed-values.ts';

/** What a rotation did: nothing if every secret was sealed with the key already. */
export interface Rotation {
  /** Null if nothing was to do. */
  sealed: SealedCount[] | null;
  /** True if an earlier rotation was killed after the database took the key, and is finished now. */
  isFinished: boolean;
  /** The setting or file with the key. */
  source: string;
}

/** Returns the check value of the library's key; moves a key of an earlier version out of the database first. */
async function readRecord(db: Database, place: KeyPlace): Promise<KeyRecord> {
  let stored = parseStored(await readSetting(db, 'secret_key'));
  if (typeof stored === 'string') {
    await keepSecretKey(db, place);
    stored = parseStored(await readSetting(db, 'secret_key'));
  }
  if (stored === null || typeof stored === 'string')
    throw new ConfigError(sentence('the key of this library is not outside its database yet; start it once'));
  return stored;
}

/** Returns the key that replaces the present one: VITRINE_SECRET_KEY, or a new one that is written beside the file. */
async function nextKeyOf(place: KeyPlace): Promise<string> {
  if (place.secretKey !== null) return place.secretKey;
  if (isDirectoryTransient(place)) {
    throw new ConfigError(
      sentence(
        'set VITRINE_SECRET_KEY to the new key, for example from {command}, and name a file with the present one: {option}',
        { command: 'openssl rand -base64 32', option: '--former FILE' },
      ),
    );
  }
  // A rotation that was killed before the database took the key left it there.
  const file = nextKeyFile(place.dataDir);
  await writeKeyFile(place.dataDir, randomBytes(32).toString('hex'), file);
  const next = await readKeyFile(file);
  if (next === null) throw new ConfigError(sentence('{file} was removed; run this again', { file }));
  return next.key;
}

/** Returns the present key: the given one, or that of the library's file. */
async function formerKeyOf(place: KeyPlace, record: KeyRecord, given: OwnKey | null): Promise<string> {
  const file = keyFile(place.dataDir);
  const former = given ?? (await readKeyFile(file));
  if (former !== null && isKeyOf(former.key, record)) return former.key;
  const option = '--former FILE';
  throw new ConfigError(
    former === null
      ? sentence('there is no {file}; name a file with the present key: {option}', { file, option })
      : sentence('{source} is not the key of this library; name a file with the present key: {option}', {
          source: former.source,
          option,
        }),
  );
}

/** Sends restricted files to peers again, because the keys that encrypt their bytes are derived from the secret key. */
async function sendEncryptedAgain(tx: Tx): Promise<void> {
  const { rows } = await sql<{ peer: string; kind: 'post' | 'asset' | 'collection'; id: string; by: number }>`
    select distinct s.peer_id as peer, s.kind, s.object_id as id, s.granted_by_user_ref as by from federation_shares s
    where cardinality(s.sensitive_assets) > 0 and ${shareInForce}`.execute(tx);
  for (const { peer, kind, id, by } of rows)
    await notifyPeer(tx, peer, { activity: 'update', kind, objectId: id, actorRef: by });
}

/** Seals everything with the next key and makes it the library's, in one transaction. */
async function exchange(db: Database, record: KeyRecord, change: KeyChange): Promise<SealedCount[]> {
  return db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    const earlier = await readFormerKeys(tx, change.former);
    const counts = await sealEverything(tx, change);
    await storeFormerKeys(tx, change.next, [change.former, ...earlier]);
    await sendEncryptedAgain(tx);
    // The library stays the same one for places with its backups.
    const next = JSON.stringify({ ...describeKey(change.next), library: record.library });
    await tx
      .updateTable('settings')
      .set({ value: next, updated_at: sql<string>`now()` })
      .where('key', '=', 'secret_key')
      .execute();
    return counts;
  });
}

/**
 * Replaces the secret key of a library that no process uses, and seals every stored secret with the next one (RUN-54).
 * The next key is on the disk before the database takes it, and gets its name after that; a start or another run
 * continues after a kill at any moment. Throws a ConfigError, and changes nothing, without the present key.
 */
export async function rotateSecretKey(
  db: Database,
  place: KeyPlace,
  given: OwnKey | null,
): Promise<Rotation> {
  const record = await readRecord(db, place);
  const source = place.secretKey === null ? keyFile(place.dataDir) : 'VITRINE_SECRET_KEY';
  const before = await readOwnKey(place);
  const own = await readKeyOf(record, place);
  if (own !== null && isKeyOf(own.key, record)) {
    const isFinished = before?.key !== own.key;
    if (isFinished || place.secretKey !== null) return { sealed: null, isFinished, source };
  }
  const former = await formerKeyOf(place, record, given);
  const next = await nextKeyOf(place);
  const sealed = await exchange(db, record, { former, next });
  if (place.secretKey === null) await adoptNextKey(place.dataDir);
  return { sealed, isFinished: false, source };
}
