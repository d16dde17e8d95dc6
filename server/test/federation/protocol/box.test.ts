import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decryptFor, encryptFor, openBox, sealBox } from '../../../src/exchange/federation/protocol/box.ts';
import {
  type EncryptedEnvelope,
  readDecrypted,
  readEnvelope,
} from '../../../src/exchange/federation/protocol/envelope.ts';
import {
  rawPublicKey,
  signEnvelope,
  verifyEnvelope,
} from '../../../src/exchange/federation/protocol/signature.ts';
import { privateKeyOf } from './keys.ts';
import { reasonOf } from './reason.ts';

const hex = (text: string) => Buffer.from(text, 'hex');

// Bernstein, Cryptography in NaCl, sections 3 to 10; the same vectors are the tests box and box2 of NaCl.
describe('the box of NaCl', () => {
  const bob = privateKeyOf(hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb'), 'x25519');
  const alicePublic = hex('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a');
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
  const message = hex(
    'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705',
  );
  const ciphertext = hex(
    'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5',
  );

  test('encrypts and decrypts the published message', () => {
    const publicKey = 'de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f';
    expect(rawPublicKey(bob).toString('hex')).toBe(publicKey);
    expect(Buffer.from(sealBox(message, alicePublic, bob, nonce))).toEqual(ciphertext);
    expect(Buffer.from(openBox(ciphertext, alicePublic, bob, nonce) ?? [])).toEqual(message);
  });

  test('does not decrypt changed bytes', () => {
    for (let index = 0; index < ciphertext.length; index++) {
      const changed = Buffer.from(ciphertext);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(openBox(changed, alicePublic, bob, nonce)).toBeNull();
    }
    expect(openBox(ciphertext.subarray(1), alicePublic, bob, nonce)).toBeNull();
    expect(openBox(Buffer.alloc(0), alicePublic, bob, nonce)).toBeNull();
    expect(openBox(ciphertext, alicePublic, bob, Buffer.alloc(24))).toBeNull();
  });

  test('refuses public keys of small order', () => {
    for (const key of [Buffer.alloc(32), hex(`01${'00'.repeat(31)}`)]) {
      expect(openBox(ciphertext, key, bob, nonce)).toBeNull();
      expect(() => sealBox(message, key, bob, nonce)).toThrow();
    }
  });
});

// FED-52
describe('encrypted envelopes', () => {
  const alice = 'https://studio-a.example/users/alice';
  const bob = 'https://studio-b.example/users/bob';
  const carol = 'https://studio-c.example/users/carol';
  const signing = privateKeyOf(Buffer.alloc(32, 5));
  const newKey = () => generateKeyPairSync('x25519').privateKey;
  const keys = { bob: newKey(), carol: newKey() };
  const recipients = [
    { actor: bob, key: rawPublicKey(keys.bob) },
    { actor: carol, key: rawPublicKey(keys.carol) },
  ];
  const content = {
    object: 'https://studio-a.example/assets/7a0d2b1c-3e4f-4a5b-8c6d-9e0f1a2b3c4d',
    'aa:comment': 'Für Bob und Carol 😀',
  };
  const wrap = (encrypted: object, type = 'aa:Annotation') =>
    signEnvelope(
      {
        '@context': 'https://artist-alley.org/protocol/v1',
        type,
        id: 'https://studio-a.example/activities/2f6a1c7e-88f3-4b0d-9a55-0e4c7f1b2d3a',
        actor: alice,
        published: '2026-06-04T10:00:00Z',
        to: [bob, carol],
        encrypted,
      },
      `${alice}#main-key`,
      signing,
    );
  const read = (envelope: object) => readEnvelope(envelope) as EncryptedEnvelope;

  test('are authenticated by everyone and read by each recipient', () => {
    const sent = wrap(encryptFor(recipients, content));
    expect(() => verifyEnvelope(sent, rawPublicKey(signing))).not.toThrow();
    const envelope = read(JSON.parse(JSON.stringify(sent)));
    expect(envelope).toMatchObject({ type: 'encrypted', activityType: 'aa:Annotation', actor: alice });
    for (const [actor, key] of [[bob, keys.bob] as const, [carol, keys.carol] as const]) {
      const decrypted = decryptFor(actor, [key], envelope.encrypted);
      const activity = { type: 'aa:Annotation', actor: alice, ...content };
      expect(readDecrypted(envelope, decrypted)).toMatchObject(activity);
    }
    expect(JSON.stringify(sent)).not.toContain('Carol 😀');
  });

  test('share the ephemeral key and no nonce', () => {
    const first = encryptFor(recipients, content);
    const second = encryptFor(recipients, content);
    const nonces = [...first.recipients, ...second.recipients].map(({ nonce }) => nonce);
    expect(new Set(nonces).size).toBe(4);
    expect(first.ephemeralKey).not.toBe(second.ephemeralKey);
  });

  // Protocol §9.4.
  test('are the same for the same ephemeral key and nonces', () => {
    const ephemeral = newKey();
    const make = () => encryptFor(recipients, content, ephemeral, () => Buffer.alloc(24, 1));
    expect(make()).toEqual(make());
  });

  test('are opened with a retained key after a rotation', () => {
    const encrypted = encryptFor(recipients, content);
    const fresh = newKey();
    expect(decryptFor(bob, [fresh, keys.bob], encrypted)).toEqual(content);
    expect(reasonOf(() => decryptFor(bob, [fresh], encrypted))).toBe('decrypt_failed');
    expect(reasonOf(() => decryptFor(bob, [], encrypted))).toBe('decrypt_failed');
    expect(reasonOf(() => decryptFor(carol, [keys.bob], encrypted))).toBe('decrypt_failed');
  });

  test('are not for anyone else', () => {
    const encrypted = encryptFor(recipients, content);
    expect(reasonOf(() => decryptFor(alice, [keys.bob], encrypted))).toBe('encryption_not_supported');
  });

  // Protocol §6.4.
  test('must contain the content of their type', () => {
    const reasons = (body: object, type: string) => {
      const envelope = read(wrap(encryptFor(recipients, body), type));
      return reasonOf(() => readDecrypted(envelope, decryptFor(bob, [keys.bob], envelope.encrypted)));
    };
    expect(reasons(content, 'aa:Annotation')).toBe('accepted');
    expect(reasons({ ...content, type: 'aa:Annotation' }, 'aa:Annotation')).toBe('accepted');
    expect(reasons({ ...content, type: 'aa:Approve' }, 'aa:Annotation')).toBe('plaintext_type_mismatch');
    expect(reasons(content, 'Follow')).toBe('plaintext_type_mismatch');
    expect(reasons(content, 'Create')).toBe('plaintext_type_mismatch');
    expect(reasons({ ...content, actor: bob }, 'aa:Annotation')).toBe('plaintext_type_mismatch');
    expect(reasons([content], 'aa:Annotation')).toBe('plaintext_type_mismatch');
  });

  // Protocol §3: either the plain properties or the encrypted ones.
  test('have no plain properties beside the encrypted ones', () => {
    const encrypted = encryptFor(recipients, content);
    expect(reasonOf(() => read({ ...wrap(encrypted), object: content.object }))).toBe('unknown_field');
    expect(reasonOf(() => read(wrap({ ...encrypted, alg: 'rsa' })))).toBe('malformed');
    expect(reasonOf(() => read(wrap({ ...encrypted, recipients: [] })))).toBe('malformed');
    expect(reasonOf(() => read(wrap({ ...encrypted, more: 1 })))).toBe('unknown_field');
    expect(reasonOf(() => read(wrap({ ...encrypted, ephemeralKey: 'AAAA' })))).toBe('malformed');
  });
});
