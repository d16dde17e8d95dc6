import type { SensitiveContent } from '@vitrine/contract/federation';
import { readSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';

/** The capabilities that a peer needs to receive restricted and mature content (FED-51). */
export const encryptionCapabilities = ['encryption-nacl-box-v1', 'encrypted-bytes-v1'] as const;

/** How long a former key is accepted, in days, unless configured (FED-56). */
const KEY_GRACE_DAYS = 7;

/** Returns for how many days a key is accepted, and decrypts, after it was replaced. */
export async function readKeyGraceDays(db: Database): Promise<number> {
  const days = await readSetting(db, 'federation_key_grace_days');
  return typeof days === 'number' ? days : KEY_GRACE_DAYS;
}

/** Returns whether restricted and mature content may be shared; `never` unless configured (FED-50). */
export async function readSensitiveContent(db: Database): Promise<SensitiveContent> {
  return (await readSetting(db, 'federation_sensitive')) === 'encrypted' ? 'encrypted' : 'never';
}
