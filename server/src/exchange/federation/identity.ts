import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { getFederation } from '@vitrine/contract/federation';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readSetting, readSite } from '../../core/settings.ts';
import { seal, unseal } from '../../people/identity/seal.ts';
import type { Database } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { parseInstanceUrl } from './protocol/addresses.ts';
import { fingerprint, publicKeyPem, rawPublicKey } from './protocol/signature.ts';
import { encryptionCapabilities, readKeyGraceDays, readSensitiveContent } from './settings.ts';

/** The key of this library, which signs requests to peers (FED-3). */
interface InstallKey {
  /** 32 raw bytes. */
  publicKey: Buffer;
  privateKey: KeyObject;
}

/** This install as known to its peers. */
export interface Install {
  /** The public address, without a trailing slash. */
  url: string;
  name: string;
  key: InstallKey;
  /** Former private keys by the address of the peer that still expects them. */
  former?: ReadonlyMap<string, KeyObject>;
}

export type IdentityDeps = Pick<Deps, 'db' | 'config' | 'secretKey'>;

export const INSTALL_KEY_PURPOSE = 'federation install key';

/** Peers with this capability understand shares with a team. */
export const TEAM_SHARES = 'team-shares-v1';

/** Peers with this capability take comments that persons of other peers wrote on our posts. */
export const RELAYED_COMMENTS = 'relayed-comments-v1';

/** Peers with this capability understand comments about places in files. */
export const ANNOTATIONS = 'annotations-v1';

/** Optional capabilities of an install, which peers read when they pair. */
const capabilities = [
  'batched-inbox-v1',
  'changes-v1',
  TEAM_SHARES,
  RELAYED_COMMENTS,
  ANNOTATIONS,
  ...encryptionCapabilities,
];

/** Returns the key of this install, generated at the first start and kept sealed. */
export async function readInstallKey({
  db,
  secretKey,
}: {
  db: Database;
  secretKey: string;
}): Promise<InstallKey> {
  const stored = await readSetting(db, 'federation_key');
  if (typeof stored !== 'string') {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const sealed = JSON.stringify(seal(secretKey, INSTALL_KEY_PURPOSE, pkcs8).toString('base64'));
    await db
      .insertInto('settings')
      .values({ key: 'federation_key', value: sealed })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // Another process may have stored a key first.
    return readInstallKey({ db, secretKey });
  }
  const privateKey = createPrivateKey(unseal(secretKey, INSTALL_KEY_PURPOSE, Buffer.from(stored, 'base64')));
  return { publicKey: rawPublicKey(privateKey), privateKey };
}

/**
 * Returns the former keys that sign requests to peers that have not confirmed the current one, while a
 * former key is in its grace period (FED-56).
 */
async function readFormer(
  { db, secretKey }: Pick<Deps, 'db' | 'secretKey'>,
  current: Buffer,
): Promise<ReadonlyMap<string, KeyObject>> {
  const { rows: retained } = await sql<{ previous_key: Buffer; previous_sealed: Buffer }>`
    select previous_key, previous_sealed from federation_rotations
    where user_ref is null and previous_sealed is not null and retained_until > now() order by id`.execute(
    db,
  );
  if (retained.length === 0) return new Map();
  const peers = await db
    .selectFrom('federation_peers')
    .select(['instance_url as url', 'announced_key'])
    .where('announced_key', 'is distinct from', current)
    .execute();
  const former = peers.flatMap(({ url, announced_key }) => {
    const found =
      announced_key === null ? retained[0] : retained.find((key) => key.previous_key.equals(announced_key));
    if (found === undefined) return [];
    return [[url, createPrivateKey(unseal(secretKey, INSTALL_KEY_PURPOSE, found.previous_sealed))] as const];
  });
  return new Map(former);
}

/** Returns the canonical address of an install for peers; null for one with a path or without TLS. */
function instanceUrlOf(baseUrl: string | null): string | null {
  return baseUrl === null ? null : parseInstanceUrl(baseUrl);
}

/** Returns this install, or null while it has no public address that peers can use: then nothing federates (FED-2). */
export async function readInstall(deps: IdentityDeps): Promise<Install | null> {
  const { base_url, site_name: name } = await readSite(deps);
  const url = instanceUrlOf(base_url);
  if (url === null) return null;
  const key = await readInstallKey(deps);
  return { url, name, key, former: await readFormer(deps, key.publicKey) };
}

/** Returns this install; throws 409 while it has no public address that peers can use. */
export async function requireInstall(deps: IdentityDeps): Promise<Install> {
  const install = await readInstall(deps);
  if (install !== null) return install;
  const { base_url } = await readSite(deps);
  if (base_url === null) throw refuse('public-address-missing');
  throw refuse('public-address-unsuitable', { address: base_url });
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

/** Returns the federation settings and identity of this install for administrators. */
export async function showFederation(deps: IdentityDeps) {
  const { base_url, site_name } = await readSite(deps);
  const { publicKey } = await readInstallKey(deps);
  const row = await deps.db
    .selectFrom('federation_rotations')
    .select('retained_until as until')
    .where('user_ref', 'is', null)
    .where('retained_until', '>', sql<string>`now()`)
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return {
    instance_url: instanceUrlOf(base_url),
    display_name: site_name,
    fingerprint: fingerprint(publicKey),
    sensitive_content: await readSensitiveContent(deps.db),
    key_grace_days: await readKeyGraceDays(deps.db),
    former_key_until: row?.until ?? null,
  };
}

export const show = handle(getFederation, async (deps) => ({
  status: 200,
  body: await showFederation(deps),
}));
