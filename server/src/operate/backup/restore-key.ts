import type pg from 'pg';
import { generateActorKeys } from '../../exchange/activitypub/actors.ts';
import {
  describeKey,
  isDirectoryTransient,
  isKeyOf,
  type KeyPlace,
  ownKeyOrNew,
  parseStored,
  readOwnKey,
  writeKeyFile,
} from '../../people/identity/secret-key.ts';
import { sentence, storedForm } from '../../platform/language/sentence.ts';
import type { Manifest } from './manifest.ts';
import { BackupError } from './target.ts';

/** What a restore without the secret key removed or replaced. */
export interface LostSecrets {
  /** The names of accounts that had a second factor. */
  accounts: string[];
  hadMail: boolean;
  /** The addresses of connected libraries. */
  peers: string[];
  /** The number of people who were followed with ActivityPub. */
  actors: number;
}

function refuseKey(source: string): BackupError {
  return new BackupError(
    sentence('{source} is not the key of the library in the backup; remove it, and restore again', {
      source,
    }),
  );
}

/**
 * Throws a BackupError if the place has another secret key than the backup, before anything is restored. Throws a
 * ConfigError if the restored library would have no place for a key.
 */
export async function checkKey({ secretKey }: Manifest, place: KeyPlace): Promise<void> {
  const own = await readOwnKey(place);
  if (own !== null && secretKey != null && own.key !== secretKey) throw refuseKey(own.source);
  if (own === null && secretKey === null && isDirectoryTransient(place)) await ownKeyOrNew(place);
}

/** Replaces the keys of people who are followed; those who withdrew have nobody to tell. */
async function replaceActorKeys(client: pg.ClientBase, secretKey: string): Promise<number> {
  await client.query(`update activitypub_actors set public_key = null, private_key_sealed = null
    where withdrawn_at is not null`);
  const { rows } = await client.query<{ id: string }>(
    'select id from activitypub_actors where withdrawn_at is null',
  );
  for (const { id } of rows) {
    const { pem, sealed } = await generateActorKeys(secretKey);
    await client.query(
      'update activitypub_actors set public_key = $2, private_key_sealed = $3 where id = $1',
      [id, pem, sealed],
    );
  }
  return rows.length;
}

/** Why a connection of a restored library is disabled. */
const keyReplaced = sentence(
  'a restore replaced the key of this library: remove this connection on both sides, and connect again',
);

/** Removes the keys of federation, which are made again when needed, and turns off connections that rely on them. */
async function endConnections(client: pg.ClientBase): Promise<string[]> {
  await client.query("delete from settings where key = 'federation_key'");
  for (const table of ['federation_rotations', 'federation_keys', 'federation_box_keys'])
    await client.query(`delete from ${table}`);
  const { rows } = await client.query<{ instance_url: string }>(
    `update federation_peers
    set state = 'disabled', accepted_here_at = null, accepted_there_at = null, announced_key = null, updated_at = now(),
      last_error = $1
    returning instance_url`,
    [storedForm(keyReplaced)],
  );
  return rows.map(({ instance_url }) => instance_url).sort();
}

/** Removes the key of push messages, which is made again, and the subscriptions, which accept no other key. */
async function endPush(client: pg.ClientBase): Promise<void> {
  await client.query("delete from settings where key = 'push_key'");
  await client.query('delete from push_subscriptions');
}

/** Removes or replaces every value that nobody can read without the former key, so that the library works. */
async function forgetSecrets(client: pg.ClientBase, secretKey: string): Promise<LostSecrets> {
  const { rows: accounts } = await client.query<{ username: string }>(
    `with gone as (delete from two_factor returning user_ref, confirmed_at)
     select u.username from gone join users u on u.ref = gone.user_ref
     where gone.confirmed_at is not null order by u.username`,
  );
  const mail = await client.query(
    "update settings set value = value - 'smtp_url' where key = 'mail' and value ? 'smtp_url'",
  );
  await client.query("delete from settings where key = 'former_secret_keys'");
  await endPush(client);
  return {
    accounts: accounts.map(({ username }) => username),
    hadMail: (mail.rowCount ?? 0) > 0,
    peers: await endConnections(client),
    actors: await replaceActorKeys(client, secretKey),
  };
}

/**
 * Gives the restored library its secret key: from the backup, the setting or the key file. Without the right one, the
 * secrets are removed, and the library gets the key of this place or a new one (RUN-42).
 */
export async function restoreKey(
  client: pg.ClientBase,
  { secretKey }: Manifest,
  place: KeyPlace,
): Promise<LostSecrets | null> {
  const { rows } = await client.query<{ value: unknown }>(
    "select value from settings where key = 'secret_key'",
  );
  const stored = parseStored(rows[0]?.value ?? null);
  const own = await readOwnKey(place);
  if (typeof stored === 'string') {
    // A backup of an earlier version; the first start moves the key.
    if (own !== null && own.key !== stored) throw refuseKey(own.source);
    return null;
  }
  if (stored === null) return null;
  const key = secretKey ?? own?.key ?? null;
  if (key !== null && isKeyOf(key, stored)) {
    if (own === null) await writeKeyFile(place.dataDir, key);
    return null;
  }
  const next = await ownKeyOrNew(place);
  // The library stays the same one for places with its backups.
  const record = { ...describeKey(next.key), library: stored.library };
  await client.query("update settings set value = $1 where key = 'secret_key'", [JSON.stringify(record)]);
  return forgetSecrets(client, next.key);
}
