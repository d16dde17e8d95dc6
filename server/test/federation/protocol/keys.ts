import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Returns the private key with this seed (RFC 8410). */
export function privateKeyOf(seed: Uint8Array, curve: 'ed25519' | 'x25519' = 'ed25519'): KeyObject {
  const oid = curve === 'ed25519' ? '70' : '6e';
  const der = Buffer.concat([Buffer.from(`302e020100300506032b65${oid}04220420`, 'hex'), seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}
