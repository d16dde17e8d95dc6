import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { getFederation } from '@vitrine/contract/federation';
import { readSite } from '../admin/site.ts';
import type { Deps } from '../deps.ts';
import { handle } from '../handle.ts';
import { seal, unseal } from '../identity/seal.ts';
import { refuse } from '../platform/http/refuse.ts';
import { readSetting } from '../settings.ts';
import { fingerprint, publicKeyPem, rawPublicKey } from './protocol/signature.ts';
import { encryptionCapabilities, readSensitiveContent } from './settings.ts';

/** What this install's signatures prove: requests to peers are signed with it (FED-3). */
interface InstallKey {
  /** 32 raw bytes. */
  publicKey: Buffer;
  privateKey: KeyObject;
}

/** This install as its peers know it. */
export interface Install {
  /** The public address, without a trailing slash. */
  url: string;
  name: string;
  key: InstallKey;
}

export type IdentityDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

const PURPOSE = 'federation install key';

/** What an install can do beyond the envelope, as peers learn it when they pair. */
const capabilities = ['batched-inbox-v1', ...encryptionCapabilities];

/** Returns the key of this install, generated at the first start and kept sealed. */
export async function readInstallKey({ db, secretKey }: Pick<Deps, 'db' | 'secretKey'>): Promise<InstallKey> {
  const stored = await readSetting(db, 'federation_key');
  if (typeof stored !== 'string') {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const sealed = JSON.stringify(seal(secretKey, PURPOSE, pkcs8).toString('base64'));
    await db
      .insertInto('settings')
      .values({ key: 'federation_key', value: sealed })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // Another process may have been first.
    return readInstallKey({ db, secretKey });
  }
  const privateKey = createPrivateKey(unseal(secretKey, PURPOSE, Buffer.from(stored, 'base64')));
  return { publicKey: rawPublicKey(privateKey), privateKey };
}

/** Returns this install, or null while it has no public address: then nothing federates. */
export async function readInstall(deps: IdentityDeps): Promise<Install | null> {
  const { base_url: url, site_name: name } = await readSite(deps);
  return url === null ? null : { url, name, key: await readInstallKey(deps) };
}

/** Returns this install; throws 409 while it has no public address. */
export async function requireInstall(deps: IdentityDeps): Promise<Install> {
  const install = await readInstall(deps);
  if (install === null) throw refuse(409, 'set the public address of this library first');
  return install;
}

/** Returns the document at `/federation/instance`. */
export function instanceDocument({ url, name, key }: Install) {
  const id = `${url}/federation/instance`;
  return {
    '@context': 'https://artist-alley.org/protocol/v1',
    type: 'aa:Instance',
    id,
    url,
    name,
    publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem: publicKeyPem(key.publicKey) },
    capabilities,
  };
}

/** Returns what administrators see of this install as a part of federation. */
export async function showFederation(deps: IdentityDeps) {
  const { base_url, site_name } = await readSite(deps);
  const { publicKey } = await readInstallKey(deps);
  return {
    instance_url: base_url,
    display_name: site_name,
    fingerprint: fingerprint(publicKey),
    sensitive_content: await readSensitiveContent(deps.db),
  };
}

export const show = handle(getFederation, async (deps) => ({
  status: 200,
  body: await showFederation(deps),
}));
