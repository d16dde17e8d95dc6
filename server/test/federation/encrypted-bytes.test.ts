import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { bytesKey, decryptBytes, encryptBytes } from '../../src/exchange/federation/files/encrypted-bytes.ts';
import { encryptedSize } from '../../src/platform/storage/encrypted-stream.ts';

const key = randomBytes(32);
const CHUNK = 64 * 1024;
/** A stream of the bytes, in pieces that do not fit the chunks. */
const streamOf = (bytes: Uint8Array) =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += 10_007) yield Buffer.from(bytes.subarray(at, at + 10_007));
    })(),
    { objectMode: false },
  );
const read = async (stream: Readable) => Buffer.concat(await stream.toArray());
const encrypt = (bytes: Uint8Array, label = 'a ') => read(encryptBytes(streamOf(bytes), key, label));
const decrypt = (bytes: Uint8Array, label = 'a ', own: Uint8Array = key) =>
  read(decryptBytes(streamOf(bytes), own, label));

// FED-54
describe('encrypted bytes of files', () => {
  test('are decrypted at any length and have the announced length', async () => {
    for (const length of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 17]) {
      const bytes = randomBytes(length);
      const encrypted = await encrypt(bytes);
      expect(encrypted.length).toBe(encryptedSize(length));
      expect((await decrypt(encrypted)).equals(bytes)).toBe(true);
    }
  });

  test('are refused when any part was changed, cut off, repeated or swapped', async () => {
    const bytes = randomBytes(3 * CHUNK + 5);
    const encrypted = await encrypt(bytes);
    const sealed = CHUNK + 16;
    const chunk = (index: number) => encrypted.subarray(16 + index * sealed, 16 + (index + 1) * sealed);
    const salt = encrypted.subarray(0, 16);
    const flipped = (at: number) =>
      Buffer.from(encrypted.map((byte, index) => (index === at ? byte ^ 1 : byte)));
    const broken = [
      flipped(0),
      flipped(16),
      flipped(16 + sealed),
      flipped(encrypted.length - 1),
      encrypted.subarray(0, -1),
      encrypted.subarray(0, 16 + 3 * sealed),
      encrypted.subarray(0, 16),
      encrypted.subarray(0, 7),
      Buffer.alloc(0),
      Buffer.concat([encrypted, Buffer.alloc(1)]),
      Buffer.concat([salt, chunk(1), chunk(0), chunk(2), chunk(3)]),
      Buffer.concat([salt, chunk(0), chunk(0), chunk(2), chunk(3)]),
    ];
    for (const one of broken) await expect(decrypt(one)).rejects.toThrow('do not decrypt');
  });

  test('are for one peer, one file and one rendition', async () => {
    const encrypted = await encrypt(randomBytes(100), 'hash col');
    await expect(decrypt(encrypted, 'hash ')).rejects.toThrow('do not decrypt');
    await expect(decrypt(encrypted, 'hash col', randomBytes(32))).rejects.toThrow('do not decrypt');
    const keys = [
      bytesKey('secret', 'one', 'a'),
      bytesKey('secret', 'two', 'a'),
      bytesKey('secret', 'one', 'b'),
      bytesKey('other', 'one', 'a'),
    ].map((one) => one.toString('hex'));
    expect(new Set(keys).size).toBe(4);
  });
});
