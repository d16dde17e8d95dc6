import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { OutboundError } from '../outbound.ts';

const CHUNK = 64 * 1024;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

/**
 * Returns the key that encrypts the bytes of a file for a peer. It is derived, not stored, and travels inside encrypted
 * envelopes only.
 */
export function bytesKey(secretKey: string, peerId: string, hash: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `vitrine federation bytes ${peerId} ${hash}`, 32));
}

/** Returns the number of bytes that encryptBytes produces for `size` bytes. */
export function encryptedSize(size: number): number {
  return SALT_BYTES + size + TAG_BYTES * Math.max(1, Math.ceil(size / CHUNK));
}

/** Each response has its own key, so that no pair of key and nonce is used twice. */
function responseKey(key: Uint8Array, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, 'vitrine federation response', 32));
}

/** The nonce counts chunks and marks the last one: chunks cannot be swapped, repeated or cut off. */
function nonceOf(index: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
}

/** Regroups a stream into pieces of `size` bytes and a last one of 0 to `size` bytes, which is marked. */
async function* pieces(source: AsyncIterable<Buffer>, size: number) {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length > size) {
      yield { piece: held.subarray(0, size), last: false };
      held = held.subarray(size);
    }
  }
  yield { piece: held, last: true };
}

/**
 * Returns the label of what is encrypted: an original or a rendition, from an offset of the plain bytes on. If a peer
 * sends other bytes than those requested, the first chunk fails.
 */
export function labelOf(hash: string, variant: string | null, offset: number): string {
  return `${hash} ${variant ?? ''}${offset === 0 ? '' : ` ${offset}`}`;
}

/**
 * Encrypts the bytes of a file: 16 bytes of salt, then chunks of 64 KiB, each with AES-256-GCM and its tag of 16 bytes.
 * `label` names what is encrypted; the other side must use the same.
 */
export function encryptBytes(source: Readable, key: Uint8Array, label: string): Readable {
  async function* run() {
    const salt = randomBytes(SALT_BYTES);
    const own = responseKey(key, salt);
    yield salt;
    let index = 0;
    for await (const { piece, last } of pieces(source, CHUNK)) {
      const cipher = createCipheriv(ALGORITHM, own, nonceOf(index++, last));
      cipher.setAAD(Buffer.from(label));
      yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    }
  }
  return Readable.from(run(), { objectMode: false });
}

/** Decrypts one chunk; throws OutboundError when a byte of it was changed. */
function openChunk(key: Uint8Array, nonce: Uint8Array, label: string, chunk: Buffer): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(label));
  try {
    decipher.setAuthTag(chunk.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(chunk.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new OutboundError('the peer sends bytes that do not decrypt');
  }
}

/**
 * Decrypts the output of encryptBytes. The stream fails with OutboundError if a byte was changed or the end is missing.
 */
export function decryptBytes(source: Readable, key: Uint8Array, label: string): Readable {
  async function* run() {
    let own: Buffer | null = null;
    let index = 0;
    const chunks = withoutSalt(source, (salt) => {
      own = responseKey(key, salt);
    });
    for await (const { piece, last } of pieces(chunks, CHUNK + TAG_BYTES)) {
      yield openChunk(own ?? Buffer.alloc(32), nonceOf(index++, last), label, piece);
    }
  }
  return Readable.from(run(), { objectMode: false });
}

/** Passes the leading salt to the callback and yields the rest. */
async function* withoutSalt(source: AsyncIterable<Buffer>, onSalt: (salt: Buffer) => void) {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of source) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < SALT_BYTES) continue;
    onSalt(head.subarray(0, SALT_BYTES));
    const rest: Buffer = head.subarray(SALT_BYTES);
    head = null;
    if (rest.length > 0) yield rest;
  }
}
