import type { Deps } from '../../core/deps.ts';
import type { HttpFacts } from '../../core/handle.ts';
import { ownAddress } from './own-address.ts';

/** COSE's numbers of the signatures that passkeys may use: Ed25519, ECDSA with P-256, and RSA. */
export const PASSKEY_ALGORITHMS = [-8, -7, -257];

/** Where passkeys are used. */
export interface PasskeySite {
  origin: string;
  /** The host, to which browsers bind passkeys (PASSKEY-4). */
  rpId: string;
}

/** Returns the site of the public address, else of the one that was addressed. */
export async function passkeySite(deps: Deps, http: HttpFacts): Promise<PasskeySite> {
  // A client may send a host that is no host; a browser cannot.
  const { origin, hostname } = URL.parse(await ownAddress(deps, http)) ?? new URL('http://host.invalid');
  return { origin, rpId: hostname };
}

/** Loads the library when a passkey is first used. */
export const loadWebAuthn = () => import('@simplewebauthn/server');
