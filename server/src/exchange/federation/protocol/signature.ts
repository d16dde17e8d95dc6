import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import { Rejection } from './rejection.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** What precedes the 32 bytes of a key in its DER form (RFC 8410). */
const derPrefix = {
  ed25519: Buffer.from('302a300506032b6570032100', 'hex'),
  x25519: Buffer.from('302a300506032b656e032100', 'hex'),
};
type Curve = keyof typeof derPrefix;

/** Returns the public key of 32 raw bytes; any 32 bytes are one to node:crypto. */
export function publicKeyOf(raw: Uint8Array, curve: Curve = 'ed25519'): KeyObject {
  return createPublicKey({ key: Buffer.concat([derPrefix[curve], raw]), format: 'der', type: 'spki' });
}

/** Returns the 32 raw bytes of the public key of an Ed25519 or X25519 key, private or public. */
export function rawPublicKey(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
}

/** Returns an Ed25519 key of 32 raw bytes as PEM (RFC 8410). */
export function publicKeyPem(raw: Uint8Array): string {
  return publicKeyOf(raw).export({ format: 'pem', type: 'spki' }).toString();
}

/** Returns the 32 raw bytes of an Ed25519 public key in PEM, or null for anything else. */
export function parsePublicKeyPem(text: string): Buffer | null {
  const body =
    /^-----BEGIN PUBLIC KEY-----\r?\n([A-Za-z0-9+/=]{60})\r?\n-----END PUBLIC KEY-----(?:\r?\n)?$/.exec(text);
  const der = Buffer.from(body?.[1] ?? '', 'base64');
  const prefix = derPrefix.ed25519;
  const fits = der.length === prefix.length + KEY_BYTES && der.subarray(0, prefix.length).equals(prefix);
  return fits ? der.subarray(prefix.length) : null;
}

/** Returns the fingerprint that administrators compare: the SHA-256 of the raw key, in lower-case hex. */
export function fingerprint(raw: Uint8Array): string {
  return createHash('sha256').update(raw).digest('hex');
}

/** Returns the bytes of unpadded base64url in its only valid spelling, or null. */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/**
 * Returns the bytes that the signature of an envelope covers: its canonical JSON without `signature`, and without `to`
 * and `cc` when they are empty.
 */
export function signedBytes(envelope: object): Buffer {
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
  const covered = Object.entries(envelope).filter(
    ([key, value]) => key !== 'signature' && !((key === 'to' || key === 'cc') && isEmpty(value)),
  );
  return Buffer.from(canonicalJson(Object.fromEntries(covered)));
}

/** Returns the envelope with its Ed25519 signature; `keyUri` is the address of the actor's key. */
export function signEnvelope<E extends object>(envelope: E, keyUri: string, privateKey: KeyObject) {
  const value = sign(null, signedBytes(envelope), privateKey).toString('base64url');
  return { ...envelope, signature: { type: 'Ed25519', publicKey: keyUri, value } };
}

/**
 * Verifies the signature of an envelope, as it was received, with the actor's raw public key. Throws Rejection unless
 * it has a well-formed, valid signature.
 */
export function verifyEnvelope(envelope: object, rawKey: Uint8Array): void {
  const signature: unknown = Reflect.get(envelope, 'signature');
  const isObject = typeof signature === 'object' && signature !== null;
  const value: unknown = isObject ? Reflect.get(signature, 'value') : undefined;
  if (typeof value !== 'string')
    throw new Rejection('envelope_sig_missing', 'the envelope has no complete signature');
  const bytes = decodeBase64Url(value);
  if (bytes?.length !== SIGNATURE_BYTES)
    throw new Rejection('sig_malformed', 'the signature is not 64 bytes of unpadded base64url');
  if (rawKey.length !== KEY_BYTES || !verify(null, signedBytes(envelope), publicKeyOf(rawKey), bytes))
    throw new Rejection('sig_invalid', 'the signature does not fit the envelope');
}
