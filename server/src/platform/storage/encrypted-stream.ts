import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * The format of encrypted content in backups and for peers: 16 bytes of salt, then chunks of 64 KiB, each with
 * AES-256-GCM and its tag of 16 bytes.
 */
const ALGORITHM = 'aes-256-gcm';
const CHUNK = 64 * 1024;
const SALT_BYTES = 16;
const TAG_BYTES = 16;

/** How content is encrypted; both sides must use the same values. */
export interface Encryption {
  key: Uint8Array;
  /** Separates the keys of different uses of `key`. */
  purpose: string;
  /** Authenticated with the content, so that contents cannot be exchanged. */
  label: Uint8Array;
}

/** Derives a key for each content, so that no pair of key and nonce is used twice. */
function contentKey({ key, purpose }: Encryption, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, purpose, 32));
}

/** The nonce counts chunks and marks the last one: chunks cannot be swapped, repeated or cut off. */
function nonceOf(index: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
}

/** Regroups a stream into pieces of `size` bytes and a last one of 0 to `size` bytes, which is marked. */
async function* pieces(source: AsyncIterable<Uint8Array>, size: number) {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= size) continue;
    const joined = Buffer.concat(held);
    let start = 0;
    for (; joined.length - start > size; start += size) {
      yield { piece: joined.subarray(start, start + size), last: false };
    }
    held = [joined.subarray(start)];
    bytes = joined.length - start;
  }
  yield { piece: Buffer.concat(held), last: true };
}

/** Returns the encrypted size of `size` bytes. */
export function encryptedSize(size: number): number {
  return SALT_BYTES + size + TAG_BYTES * Math.max(1, Math.ceil(size / CHUNK));
}

/** Encrypts content. */
export async function* encryptStream(source: AsyncIterable<Uint8Array>, encryption: Encryption) {
  const salt = randomBytes(SALT_BYTES);
  const own = contentKey(encryption, salt);
  yield salt;
  let index = 0;
  for await (const { piece, last } of pieces(source, CHUNK)) {
    const cipher = createCipheriv(ALGORITHM, own, nonceOf(index++, last));
    cipher.setAAD(encryption.label);
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts the output of `encryptStream`. Throws the error of `damaged` if a byte was changed or the end is missing. */
export async function* decryptStream(
  source: AsyncIterable<Uint8Array>,
  encryption: Encryption,
  damaged: () => Error,
) {
  let own: Buffer | null = null;
  const withoutSalt = async function* () {
    let head = Buffer.alloc(0);
    for await (const chunk of source) {
      if (own !== null) {
        yield chunk;
        continue;
      }
      head = Buffer.concat([head, chunk]);
      if (head.length < SALT_BYTES) continue;
      own = contentKey(encryption, head.subarray(0, SALT_BYTES));
      yield head.subarray(SALT_BYTES);
    }
  };
  let index = 0;
  for await (const { piece, last } of pieces(withoutSalt(), CHUNK + TAG_BYTES)) {
    const nonce = nonceOf(index++, last);
    const decipher = createDecipheriv(ALGORITHM, own ?? Buffer.alloc(32), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(encryption.label);
    try {
      decipher.setAuthTag(piece.subarray(-TAG_BYTES));
      yield Buffer.concat([decipher.update(piece.subarray(0, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw damaged();
    }
  }
}
