import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scrypt,
} from 'node:crypto';
import { promisify } from 'node:util';
import { BackupError } from './target.ts';

const ALGORITHM = 'aes-256-gcm';
const CHUNK = 64 * 1024;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const LEAST_PASSPHRASE = 12;

/** The cost of scrypt: 128 MiB of memory and about half a second for each guess of a passphrase. */
const COST = { N: 2 ** 17, r: 8, p: 1 };
const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/** The key of all backups in one place, encrypted with the passphrase; stored beside them. */
export interface WrappedKey {
  kdf: 'scrypt';
  N: number;
  r: number;
  p: number;
  /** Base64, as is `key`. */
  salt: string;
  key: string;
}

async function wrappingKey(passphrase: string, { N, r, p }: typeof COST, salt: Buffer): Promise<Buffer> {
  return derive(passphrase.normalize('NFC'), salt, 32, { N, r, p, maxmem: 256 * N * r });
}

/** Creates a random key and encrypts it with the passphrase. Throws BackupError for a short passphrase. */
export async function createKey(passphrase: string): Promise<{ key: Buffer; wrapped: WrappedKey }> {
  if (passphrase.length < LEAST_PASSPHRASE) {
    throw new BackupError(`the passphrase of a backup needs at least ${LEAST_PASSPHRASE} characters`);
  }
  const key = randomBytes(32);
  const salt = randomBytes(SALT_BYTES);
  // The wrapping key is used once, so a nonce of zeros is safe.
  const cipher = createCipheriv(ALGORITHM, await wrappingKey(passphrase, COST, salt), Buffer.alloc(12));
  const sealed = Buffer.concat([cipher.update(key), cipher.final(), cipher.getAuthTag()]);
  return {
    key,
    wrapped: { kdf: 'scrypt', ...COST, salt: salt.toString('base64'), key: sealed.toString('base64') },
  };
}

/** Decrypts the key. Throws BackupError when the passphrase is wrong. */
export async function unwrapKey(wrapped: WrappedKey, passphrase: string): Promise<Buffer> {
  const { N, r, p } = wrapped;
  // Limits the cost that a forged file can cause; our parameters have always been 2^17, 8 and 1.
  if (N > 2 ** 20 || r > 16 || p > 4) throw new BackupError('the key of these backups is damaged');
  const sealed = Buffer.from(wrapped.key, 'base64');
  const outer = await wrappingKey(passphrase, { N, r, p }, Buffer.from(wrapped.salt, 'base64'));
  const decipher = createDecipheriv(ALGORITHM, outer, Buffer.alloc(12), { authTagLength: TAG_BYTES });
  try {
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new BackupError('wrong passphrase or key file');
  }
}

/** Returns the name under which content is stored. It reveals nothing about the content without the key. */
export function sealedName(key: Buffer, name: string): string {
  return createHmac('sha256', hkdf(key, Buffer.alloc(0), 'names'))
    .update(name)
    .digest('hex');
}

function hkdf(key: Uint8Array, salt: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `vitrine backup ${purpose}`, 32));
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
export function sealedSize(size: number): number {
  return SALT_BYTES + size + TAG_BYTES * Math.max(1, Math.ceil(size / CHUNK));
}

/**
 * Encrypts content: 16 bytes of salt, then chunks of 64 KiB, each with AES-256-GCM and its tag. Each content has its
 * own key, derived with the salt. `name` is authenticated, so that contents cannot be exchanged.
 */
export async function* seal(source: AsyncIterable<Uint8Array>, key: Uint8Array, name: string) {
  const salt = randomBytes(SALT_BYTES);
  const own = hkdf(key, salt, 'content');
  const label = createHash('sha256').update(name).digest();
  yield salt;
  let index = 0;
  for await (const { piece, last } of pieces(source, CHUNK)) {
    const cipher = createCipheriv(ALGORITHM, own, nonceOf(index++, last));
    cipher.setAAD(label);
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts the output of `seal`. Throws BackupError if a byte was changed or the end is missing. */
export async function* unseal(source: AsyncIterable<Uint8Array>, key: Uint8Array, name: string) {
  const label = createHash('sha256').update(name).digest();
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
      own = hkdf(key, head.subarray(0, SALT_BYTES), 'content');
      yield head.subarray(SALT_BYTES);
    }
  };
  let index = 0;
  for await (const { piece, last } of pieces(withoutSalt(), CHUNK + TAG_BYTES)) {
    const nonce = nonceOf(index++, last);
    const decipher = createDecipheriv(ALGORITHM, own ?? Buffer.alloc(32), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(label);
    try {
      decipher.setAuthTag(piece.subarray(-TAG_BYTES));
      yield Buffer.concat([decipher.update(piece.subarray(0, -TAG_BYTES)), decipher.final()]);
    } catch {
      throw new BackupError(`${name} is damaged: it does not decrypt`);
    }
  }
}
