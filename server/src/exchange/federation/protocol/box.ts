import { diffieHellman, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { hsalsa, secretbox } from '@noble/ciphers/salsa.js';
import { canonicalJson } from './canonical.ts';
import type { Encrypted } from './envelope.ts';
import { Rejection } from './rejection.ts';
import { decodeBase64Url, publicKeyOf, rawPublicKey } from './signature.ts';
import { parseStrict } from './strict-json.ts';

const NONCE_BYTES = 24;
const KEY_BYTES = 32;
/** "expand 32-byte k": the constant of Salsa20. */
const sigma = littleEndian(Buffer.from('expand 32-byte k'));

function littleEndian(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(index * 4, true));
}

/** Returns the key that two X25519 key pairs share in NaCl's box; throws for a public key of small order. */
function sharedKey(theirs: Uint8Array, own: KeyObject): Uint8Array {
  const secret = diffieHellman({ privateKey: own, publicKey: publicKeyOf(theirs, 'x25519') });
  const words = new Uint32Array(KEY_BYTES / 4);
  hsalsa(sigma, littleEndian(secret), new Uint32Array(4), words);
  const key = Buffer.alloc(KEY_BYTES);
  for (const [index, word] of words.entries()) key.writeUInt32LE(word, index * 4);
  return key;
}

/** Encrypts as NaCl's crypto_box does: X25519, XSalsa20 and Poly1305. */
export function sealBox(
  message: Uint8Array,
  theirs: Uint8Array,
  own: KeyObject,
  nonce: Uint8Array,
): Uint8Array {
  return secretbox(sharedKey(theirs, own), nonce).seal(message);
}

/** Decrypts what sealBox encrypted; null when key, nonce or bytes do not fit. */
export function openBox(
  ciphertext: Uint8Array,
  theirs: Uint8Array,
  own: KeyObject,
  nonce: Uint8Array,
): Uint8Array | null {
  try {
    return secretbox(sharedKey(theirs, own), nonce).open(ciphertext);
  } catch {
    return null;
  }
}

/** A recipient of encrypted content. */
export interface Recipient {
  /** Their address. */
  actor: string;
  /** Their X25519 key: 32 raw bytes. */
  key: Uint8Array;
}

/**
 * Encrypts the properties of an activity for each recipient, with one ephemeral key for all and a nonce for
 * each (protocol §6.3). `ephemeral` and `nonceOf` are set only by tests.
 */
export function encryptFor(
  recipients: readonly Recipient[],
  content: object,
  ephemeral: KeyObject = generateKeyPairSync('x25519').privateKey,
  nonceOf: (recipient: Recipient) => Uint8Array = () => randomBytes(NONCE_BYTES),
): Encrypted {
  const message = Buffer.from(canonicalJson(content));
  return {
    alg: 'nacl-box',
    ephemeralKey: rawPublicKey(ephemeral).toString('base64url'),
    recipients: recipients.map((recipient) => {
      const nonce = nonceOf(recipient);
      return {
        actor: recipient.actor,
        nonce: Buffer.from(nonce).toString('base64url'),
        ciphertext: Buffer.from(sealBox(message, recipient.key, ephemeral, nonce)).toString('base64url'),
      };
    }),
  };
}

/**
 * Returns the content that was encrypted for one recipient, whose private keys are tried in turn; readDecrypted checks it.
 * Throws Rejection: `encryption_not_supported` when nothing is for them, `decrypt_failed` when no key fits.
 */
export function decryptFor(actor: string, keys: readonly KeyObject[], encrypted: Encrypted): unknown {
  const own = encrypted.recipients.find((recipient) => recipient.actor === actor);
  if (own === undefined)
    throw new Rejection('encryption_not_supported', 'the content is encrypted for others');
  const ephemeral = decodeBase64Url(encrypted.ephemeralKey);
  const nonce = decodeBase64Url(own.nonce);
  const ciphertext = decodeBase64Url(own.ciphertext);
  if (ephemeral?.length !== KEY_BYTES || nonce?.length !== NONCE_BYTES || ciphertext === null)
    throw new Rejection('malformed', 'the encrypted content is not unpadded base64url');
  for (const key of keys) {
    const message = openBox(ciphertext, ephemeral, key, nonce);
    if (message === null) continue;
    try {
      return parseStrict(message);
    } catch {
      throw new Rejection('plaintext_type_mismatch', 'the decrypted content is not strict JSON');
    }
  }
  throw new Rejection('decrypt_failed', 'no key of the recipient decrypts the content');
}
