import { sql } from 'kysely';
import { ConfigError } from '../../core/config.ts';
import { readSetting } from '../../core/settings.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { seal, unseal } from './seal.ts';

const PURPOSE = 'former secret key';

/**
 * Returns the keys that this one has replaced, the latest first. They verify what cannot be sealed again: keyed hashes of
 * recovery codes, and addresses in sent messages that turn mail off (RUN-54).
 */
export async function readFormerKeys(db: Database, secretKey: string): Promise<string[]> {
  const stored = await readSetting(db, 'former_secret_keys');
  if (stored === null) return [];
  const sealed: unknown = typeof stored === 'object' ? Reflect.get(stored, 'sealed') : null;
  try {
    if (!Array.isArray(sealed)) throw new Error('it is not a list');
    return sealed.map((key) => unseal(secretKey, PURPOSE, Buffer.from(String(key), 'base64')));
  } catch {
    throw new ConfigError(
      sentence('the setting {name} in the database is damaged; restore a backup', {
        name: 'former_secret_keys',
      }),
    );
  }
}

/** Stores the keys that `secretKey` has replaced, sealed with it. */
export async function storeFormerKeys(tx: Tx, secretKey: string, former: readonly string[]): Promise<void> {
  const sealed = former.map((key) => seal(secretKey, PURPOSE, key).toString('base64'));
  await tx
    .insertInto('settings')
    .values({ key: 'former_secret_keys', value: JSON.stringify({ sealed }) })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet((eb) => ({ value: eb.ref('excluded.value'), updated_at: sql<string>`now()` })),
    )
    .execute();
}
