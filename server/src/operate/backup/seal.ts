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
import { LEAST_PASSPHRASE } from '../../core/config/secrets.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { decryptStream, type Encryption, encryptStream } from '../../platform/storage/encrypted-stream.ts';
import { BackupError } from './target.ts';

const ALGORITHM = 'aes-256-gcm';
const SALT_BYTES = 16;
const TAG_BYTES = 16;

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
    throw new BackupError(
      sentence('the passphrase of a backup needs at least {least} characters', { least: LEAST_PASSPHRASE }),
    );
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
  if (N > 2 ** 20 || r > 16 || p > 4) throw new BackupError(sentence('the key of these backups is damaged'));
  const sealed = Buffer.from(wrapped.key, 'base64');
  const outer = await wrappingKey(passphrase, { N, r, p }, Buffer.from(wrapped.salt, 'base64'));
  const decipher = createDecipheriv(ALGORITHM, outer, Buffer.alloc(12), { authTagLength: TAG_BYTES });
  try {
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new BackupError(sentence('wrong passphrase or key file'));
  }
}

/** Returns the name under which content is stored. It reveals nothing about the content without the key. */
export function sealedName(key: Buffer, name: string): string {
  const nameKey = Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'vitrine backup names', 32));
  return createHmac('sha256', nameKey).update(name).digest('hex');
}

function encryptionOf(key: Uint8Array, name: string): Encryption {
  return {
    key,
    purpose: 'vitrine backup content',
    label: createHash('sha256').update(name).digest(),
  };
}

/** Encrypts content. Its `name` is authenticated, so that contents cannot be exchanged. */
export function seal(source: AsyncIterable<Uint8Array>, key: Uint8Array, name: string) {
  return encryptStream(source, encryptionOf(key, name));
}

/** Decrypts the output of `seal`. Throws BackupError if a byte was changed or the end is missing. */
export function unseal(source: AsyncIterable<Uint8Array>, key: Uint8Array, name: string) {
  const damaged = () => new BackupError(sentence('{name} is damaged: it does not decrypt', { name }));
  return decryptStream(source, encryptionOf(key, name), damaged);
}
