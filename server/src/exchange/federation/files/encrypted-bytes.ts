import { hkdfSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { sentence } from '../../../platform/language/sentence.ts';
import { decryptStream, type Encryption, encryptStream } from '../../../platform/storage/encrypted-stream.ts';
import { OutboundError } from '../outbound.ts';

/**
 * Returns the key that encrypts the bytes of a file for a peer. It is derived, not stored, and is sent inside encrypted
 * envelopes only.
 */
export function bytesKey(secretKey: string, peerId: string, hash: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `vitrine federation bytes ${peerId} ${hash}`, 32));
}

/**
 * Returns the label of what is encrypted: an original or a rendition, from an offset of the plain bytes on. If a peer
 * sends other bytes than those requested, the first chunk fails.
 */
export function labelOf(hash: string, variant: string | null, offset: number): string {
  return `${hash} ${variant ?? ''}${offset === 0 ? '' : ` ${offset}`}`;
}

function encryptionOf(key: Uint8Array, label: string): Encryption {
  return { key, purpose: 'vitrine federation response', label: Buffer.from(label) };
}

/** Encrypts the bytes of a file. `label` names what is encrypted; the other side must use the same. */
export function encryptBytes(source: Readable, key: Uint8Array, label: string): Readable {
  return Readable.from(encryptStream(source, encryptionOf(key, label)), { objectMode: false });
}

/**
 * Decrypts the output of encryptBytes. The stream fails with OutboundError if a byte was changed or the end is missing.
 */
export function decryptBytes(source: Readable, key: Uint8Array, label: string): Readable {
  const damaged = () => new OutboundError(sentence('the peer sends bytes that do not decrypt'));
  return Readable.from(decryptStream(source, encryptionOf(key, label), damaged), { objectMode: false });
}
