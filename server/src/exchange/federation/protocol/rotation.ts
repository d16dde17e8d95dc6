import { type KeyObject, sign, verify } from 'node:crypto';
import { closed } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';
import { canonicalJson } from './canonical.ts';
import { PROTOCOL } from './envelope.ts';
import { decodeBase64Url, publicKeyOf } from './signature.ts';
import { Base64Url, Time } from './values.ts';

/** Maximum number of statements of one owner that are sent and read, latest first. */
export const MOST_ROTATIONS = 100;

/**
 * A statement, signed with the former signing key, that another key follows it (FED-56); bytes are unpadded base64url.
 */
export const Rotation = closed({
  previous: Base64Url.key,
  next: Base64Url.key,
  published: Time,
  signature: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' }),
});
export type Rotation = Static<typeof Rotation>;
export const Rotations = Type.Array(Rotation, { maxItems: MOST_ROTATIONS });

/** Returns the text that a statement signs. It names the owner, so that it is invalid for anyone else. */
function statement(owner: string, { previous, next, published }: Omit<Rotation, 'signature'>): Buffer {
  return Buffer.from(
    canonicalJson({ '@context': PROTOCOL, type: 'aa:KeyRotation', owner, previous, next, published }),
  );
}

/** States with the former private key that the next one follows it; keys are 32 raw bytes. */
export function signRotation(
  owner: string,
  former: { publicKey: Uint8Array; privateKey: KeyObject },
  next: Uint8Array,
  published: string,
): Rotation {
  const unsigned = {
    previous: Buffer.from(former.publicKey).toString('base64url'),
    next: Buffer.from(next).toString('base64url'),
    published,
  };
  return {
    ...unsigned,
    signature: sign(null, statement(owner, unsigned), former.privateKey).toString('base64url'),
  };
}

function holds(owner: string, rotation: Rotation): boolean {
  const signature = decodeBase64Url(rotation.signature);
  const previous = decodeBase64Url(rotation.previous);
  if (signature?.length !== 64 || previous?.length !== 32) return false;
  return verify(null, statement(owner, rotation), publicKeyOf(previous), signature);
}

/**
 * Returns the key that follows the pinned one at the end of an owner's statements, in their order: each is signed with
 * the key that the one before it names. Returns the pinned key when nothing follows it, and null when it is not among
 * them or a statement is invalid.
 */
export function followRotations(
  owner: string,
  pinned: Uint8Array,
  rotations: readonly Rotation[],
): Buffer | null {
  let key = Buffer.from(pinned).toString('base64url');
  const first = rotations.findLastIndex(({ previous }) => previous === key);
  if (first < 0) return rotations.at(-1)?.next === key ? Buffer.from(pinned) : null;
  for (const rotation of rotations.slice(first)) {
    if (rotation.previous !== key || !holds(owner, rotation)) return null;
    key = rotation.next;
  }
  return decodeBase64Url(key);
}

/** Returns what the owner of an encryption key signs when it replaces an earlier one. */
function boxStatement(owner: string, version: number, publicKey: string): Buffer {
  return Buffer.from(
    canonicalJson({
      '@context': PROTOCOL,
      type: 'aa:EncryptionKey',
      owner,
      algorithm: 'x25519',
      version,
      publicKey,
    }),
  );
}

/** Signs an encryption key with the signing key of its owner. */
export function signBoxKey(owner: string, version: number, publicKey: string, signingKey: KeyObject): string {
  return sign(null, boxStatement(owner, version, publicKey), signingKey).toString('base64url');
}

/** Returns whether the owner's signing key, 32 raw bytes, has signed an encryption key. */
export function isSignedBoxKey(
  owner: string,
  { version, publicKey, signature = '' }: { version: number; publicKey: string; signature?: string },
  signingKey: Uint8Array,
): boolean {
  const bytes = decodeBase64Url(signature);
  return (
    bytes?.length === 64 &&
    verify(null, boxStatement(owner, version, publicKey), publicKeyOf(signingKey), bytes)
  );
}
