import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { Deps } from '../../core/deps.ts';
import { readSetting } from '../../core/settings.ts';
import { seal, unseal } from '../identity/seal.ts';

export const PUSH_KEY_PURPOSE = 'push key';

/** The key with which the library signs for push services (RFC 8292), as base64url. */
export interface PushKey {
  /** An uncompressed point. */
  publicKey: string;
  privateKey: string;
}

/** Returns the key of this library, generated at the first start and kept sealed (PUSH-2). */
export async function readPushKey(deps: Pick<Deps, 'db' | 'secretKey'>): Promise<PushKey> {
  const { db, secretKey } = deps;
  const stored = await readSetting(db, 'push_key');
  if (typeof stored !== 'string') {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const value = JSON.stringify(seal(secretKey, PUSH_KEY_PURPOSE, pem).toString('base64'));
    await db
      .insertInto('settings')
      .values({ key: 'push_key', value })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // Another process may have stored a key first.
    return readPushKey(deps);
  }
  const pem = unseal(secretKey, PUSH_KEY_PURPOSE, Buffer.from(stored, 'base64'));
  const { x = '', y = '', d = '' } = createPrivateKey(pem).export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { publicKey: point.toString('base64url'), privateKey: d };
}
