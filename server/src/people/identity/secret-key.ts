import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Config, ConfigError } from '../../core/config.ts';
import { readSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { syncDirectory } from '../../platform/files/directory-tree.ts';
import { sentence } from '../../platform/language/sentence.ts';

/** The settings that say where the secret key is. */
export type KeyPlace = Pick<Config, 'dataDir' | 'secretKey' | 'databaseUrl' | 's3'>;

/** What the database stores about the secret key. The key cannot be derived from it. */
export interface KeyRecord {
  /** Tells whether a key is the right one. */
  check: string;
  /** Identifies the library in places with backups. */
  library: string;
}

/** The key of this process, and the setting or file that it comes from. */
export interface OwnKey {
  key: string;
  source: string;
}

const acceptable = /^[!-~]{32,200}$/;

/** The file with the secret key, below the data directory. */
export const keyFile = (dataDir: string) => join(dataDir, 'secret.key');

/** The file with the key that a rotation has not finished with, or did not begin to use. */
export const nextKeyFile = (dataDir: string) => join(dataDir, 'secret.key.next');

function derive(key: string, purpose: string): string {
  return createHmac('sha256', key).update(purpose).digest('hex');
}

/** Returns what the database stores about a key. */
export function describeKey(key: string): KeyRecord {
  return {
    check: derive(key, 'vitrine secret key check'),
    library: derive(key, 'vitrine backup library').slice(0, 32),
  };
}

/** Returns whether values of the library with this record were sealed with this key. */
export function isKeyOf(key: string, { check }: KeyRecord): boolean {
  const [found, expected] = [describeKey(key).check, check].map((text) => Buffer.from(text));
  return found?.length === expected?.length && timingSafeEqual(found ?? Buffer.of(), expected ?? Buffer.of());
}

/** Parses the setting: earlier versions stored the key itself, a text. Null: the library has no key yet. */
export function parseStored(value: unknown): string | KeyRecord | null {
  if (typeof value === 'string' || value === null) return value;
  const property = (name: string): unknown => (typeof value === 'object' ? Reflect.get(value, name) : null);
  const check = property('check');
  const library = property('library');
  if (typeof check === 'string' && typeof library === 'string') return { check, library };
  throw new ConfigError(
    sentence('the setting {name} in the database is damaged; restore a backup', { name: 'secret_key' }),
  );
}

/** Returns the key in a file; null if there is no such file. Throws a ConfigError if it is damaged. */
export async function readKeyFile(source: string): Promise<OwnKey | null> {
  try {
    const key = (await readFile(source, 'utf8')).trim();
    if (acceptable.test(key)) return { key, source };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT') return null;
    throw new ConfigError(
      sentence('cannot read {file} ({code}); run this as the user that runs Vitrine', { file: source, code }),
    );
  }
  throw new ConfigError(
    sentence('{file} is damaged; restore it from a copy, or set VITRINE_SECRET_KEY', { file: source }),
  );
}

/** Returns the key from the setting or else the file; null if there is neither. Throws a ConfigError if it is damaged. */
export async function readOwnKey({ dataDir, secretKey }: KeyPlace): Promise<OwnKey | null> {
  if (secretKey !== null) return { key: secretKey, source: 'VITRINE_SECRET_KEY' };
  return readKeyFile(keyFile(dataDir));
}

/** Replaces the key file by the next one, which becomes durable under its name. */
export async function adoptNextKey(dataDir: string): Promise<void> {
  try {
    await rename(nextKeyFile(dataDir), keyFile(dataDir));
  } catch (error) {
    // Another process has done so.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  await syncDirectory(dataDir);
}

/**
 * Returns the key of this process for a library with this record. If a rotation was killed after the database took the
 * next key, finishes it (RUN-54).
 */
export async function readKeyOf(record: KeyRecord, place: KeyPlace): Promise<OwnKey | null> {
  const own = await readOwnKey(place);
  if (place.secretKey !== null || (own !== null && isKeyOf(own.key, record))) return own;
  const next = await readKeyFile(nextKeyFile(place.dataDir));
  if (next !== null && isKeyOf(next.key, record)) await adoptNextKey(place.dataDir);
  return readOwnKey(place);
}

/**
 * Writes a file with a key durably, unless it exists. It appears under its name as a whole, so that neither another
 * process nor a start after a kill reads half of it.
 */
export async function writeKeyFile(dataDir: string, key: string, file = keyFile(dataDir)): Promise<void> {
  const temporary = join(dataDir, `secret.key.${randomUUID()}`);
  await mkdir(dataDir, { recursive: true });
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${key}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(temporary, file).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    await syncDirectory(dataDir);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Whether database and files are elsewhere, so that the data directory may be lost with its machine. */
export function isDirectoryTransient({ databaseUrl, s3 }: KeyPlace): boolean {
  return databaseUrl !== null && s3 !== null;
}

/** Returns the key of this process, or a new one, which it writes to the key file. */
export async function ownKeyOrNew(place: KeyPlace): Promise<OwnKey> {
  const own = await readOwnKey(place);
  if (own !== null) return own;
  if (isDirectoryTransient(place)) {
    throw new ConfigError(
      sentence(
        'set VITRINE_SECRET_KEY to the same random text of at least 32 characters for every process, such as the output of {command}',
        { command: 'openssl rand -base64 32' },
      ),
    );
  }
  await writeKeyFile(place.dataDir, randomBytes(32).toString('hex'));
  return ownKeyOrNew(place);
}

/** Throws a ConfigError that says what to set unless the key of this process is that of the library. */
function requireKeyOf(own: OwnKey | null, record: KeyRecord, { dataDir }: KeyPlace): string {
  if (own !== null && isKeyOf(own.key, record)) return own.key;
  throw new ConfigError(
    own === null
      ? sentence(
          'there is no {file}; copy secret.key from another process of this library, or set VITRINE_SECRET_KEY to the content of that file',
          { file: keyFile(dataDir) },
        )
      : sentence(
          '{source} is not the key of this library; copy secret.key from another process of this library, or set VITRINE_SECRET_KEY to the content of that file',
          { source: own.source },
        ),
  );
}

/**
 * Moves the key of an earlier version out of the database (RUN-41). The row is replaced only after the key is on the
 * disk. A record in its place stops processes of earlier versions from starting, which would make another key.
 */
async function moveKey(db: Database, place: KeyPlace, key: string): Promise<string> {
  let own = await readOwnKey(place);
  if (own === null) {
    // The doctor asks for the setting; until then the database is the only place that lasts.
    if (isDirectoryTransient(place)) return key;
    await writeKeyFile(place.dataDir, key);
    own = await readOwnKey(place);
  }
  if (own?.key !== key) {
    throw new ConfigError(
      sentence(
        '{source} is not the key of this library, which is still in its database; remove it for this start',
        { source: own?.source ?? keyFile(place.dataDir) },
      ),
    );
  }
  await db
    .updateTable('settings')
    .set({ value: JSON.stringify(describeKey(key)), updated_at: sql<string>`now()` })
    .where('key', '=', 'secret_key')
    .where('value', '=', JSON.stringify(key))
    .execute();
  return key;
}

/**
 * Returns the key that seals secrets of this library, which every process of it has (RUN-41); made at the first start.
 * Throws a ConfigError if this process has another one or none.
 */
export async function keepSecretKey(db: Database, place: KeyPlace): Promise<string> {
  const stored = parseStored(await readSetting(db, 'secret_key'));
  if (typeof stored === 'string') return moveKey(db, place, stored);
  if (stored !== null) return requireKeyOf(await readKeyOf(stored, place), stored, place);
  const { key } = await ownKeyOrNew(place);
  await db
    .insertInto('settings')
    .values({ key: 'secret_key', value: JSON.stringify(describeKey(key)) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // Another process may have stored its key first.
  return keepSecretKey(db, place);
}
