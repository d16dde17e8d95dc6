import { readSetting, writeSetting } from '../../core/settings.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** Returns the scramble keys of the systems that accounts were imported from (SIGNIN-8). */
export async function readImportedKeys(db: Database): Promise<string[]> {
  const stored = await readSetting(db, 'imported_scramble_keys');
  const keys: unknown = stored !== null && typeof stored === 'object' ? Reflect.get(stored, 'keys') : [];
  return Array.isArray(keys) ? keys.map(String) : [];
}

/** Keeps the scramble key of an earlier system, so that its hashes verify. Idempotent. */
export async function keepImportedKey(tx: Tx, key: string): Promise<void> {
  const keys = await readImportedKeys(tx);
  if (!keys.includes(key)) await writeSetting(tx, 'imported_scramble_keys', { keys: [...keys, key] });
}
