import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readEnvelope } from '../../../src/exchange/federation/protocol/envelope.ts';
import {
  fingerprint,
  parsePublicKeyPem,
  publicKeyOf,
  publicKeyPem,
  rawPublicKey,
  signEnvelope,
  signedBytes,
  verifyEnvelope,
} from '../../../src/exchange/federation/protocol/signature.ts';
import { privateKeyOf } from './keys.ts';
import { reasonOf } from './reason.ts';

// RFC 8032, 7.1: tests 1 and 2.
const vectors = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
];
const hex = (text: string) => Buffer.from(text, 'hex');

describe('keys', () => {
  test.each(vectors)('fit the vectors of RFC 8032: $key', ({ seed, key, message, signature }) => {
    const privateKey = privateKeyOf(hex(seed));
    expect(rawPublicKey(privateKey).toString('hex')).toBe(key);
    expect(sign(null, hex(message), privateKey).toString('hex')).toBe(signature);
    expect(verify(null, hex(message), publicKeyOf(hex(key)), hex(signature))).toBe(true);
  });

  // RFC 8410, 10.1.
  test('are read from and written as PEM', () => {
    const pem =
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n';
    const raw = parsePublicKeyPem(pem);
    expect(raw?.toString('hex')).toBe('19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1');
    expect(publicKeyPem(raw ?? Buffer.alloc(0))).toBe(pem);
    expect(parsePublicKeyPem(pem.trim().replaceAll('\n', '\r\n'))).toEqual(raw);
  });

  test('of other kinds are not read', () => {
    const others = [
      generateKeyPairSync('x25519').publicKey,
      generateKeyPairSync('ed448').publicKey,
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
    ].map((key) => key.export({ format: 'pem', type: 'spki' }).toString());
    const pem = publicKeyPem(hex(vectors[0]?.key ?? ''));
    const altered = [pem.replace('PUBLIC', 'PRIVATE'), pem.replace('MCow', 'MCoX')];
    for (const text of [...others, ...altered, '', pem.slice(1), `${pem}x`, pem + pem])
      expect(parsePublicKeyPem(text), text).toBeNull();
  });

  test('have the SHA-256 of their raw bytes as fingerprint', () => {
    expect(fingerprint(hex(vectors[0]?.key ?? ''))).toBe(
      '21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9',
    );
  });
});

// FED-6
describe('signatures of envelopes', () => {
  const privateKey = privateKeyOf(hex(vectors[1]?.seed ?? ''));
  const key = hex(vectors[1]?.key ?? '');
  const actor = 'https://studio-a.example/users/alice';
  const unsigned = {
    '@context': 'https://artist-alley.org/protocol/v1',
    type: 'aa:Approve',
    id: 'https://studio-a.example/activities/2f6a1c7e-88f3-4b0d-9a55-0e4c7f1b2d3a',
    actor,
    published: '2026-06-04T10:00:00Z',
    object: 'https://studio-a.example/assets/7a0d2b1c-3e4f-4a5b-8c6d-9e0f1a2b3c4d',
    'aa:comment': 'Approved — with a €5 “lighting” note 😀.',
  };
  const signed = signEnvelope(unsigned, `${actor}#main-key`, privateKey);
  const changed = (signature: object) => ({ ...signed, signature: { ...signed.signature, ...signature } });

  test('cover the canonical JSON without the signature', () => {
    expect(signedBytes(signed).toString()).toBe(
      '{"@context":"https://artist-alley.org/protocol/v1","aa:comment":"Approved — with a €5 “lighting” note 😀.",' +
        '"actor":"https://studio-a.example/users/alice","id":"https://studio-a.example/activities/2f6a1c7e-88f3-4b0d-9a55-0e4c7f1b2d3a",' +
        '"object":"https://studio-a.example/assets/7a0d2b1c-3e4f-4a5b-8c6d-9e0f1a2b3c4d","published":"2026-06-04T10:00:00Z","type":"aa:Approve"}',
    );
    expect(signed.signature.value).toBe(sign(null, signedBytes(unsigned), privateKey).toString('base64url'));
    expect(() => verifyEnvelope(signed, key)).not.toThrow();
  });

  // Protocol §3.3 and §3.4.
  test('verify regardless of the order of names, and with empty recipients', () => {
    const reordered = Object.fromEntries(Object.entries(signed).reverse());
    expect(() => verifyEnvelope(reordered, key)).not.toThrow();
    expect(() => verifyEnvelope({ ...signed, to: [], cc: [] }, key)).not.toThrow();
    const withRecipients = signEnvelope({ ...unsigned, to: [actor] }, `${actor}#main-key`, privateKey);
    expect(reasonOf(() => verifyEnvelope({ ...withRecipients, to: [] }, key))).toBe('sig_invalid');
  });

  test('are invalid for another envelope and for another key', () => {
    expect(reasonOf(() => verifyEnvelope({ ...signed, 'aa:comment': 'Rejected' }, key))).toBe('sig_invalid');
    expect(reasonOf(() => verifyEnvelope({ ...signed, extra: 1 }, key))).toBe('sig_invalid');
    expect(reasonOf(() => verifyEnvelope(signed, hex(vectors[0]?.key ?? '')))).toBe('sig_invalid');
    expect(reasonOf(() => verifyEnvelope(signed, key.subarray(1)))).toBe('sig_invalid');
  });

  test('are 64 bytes of unpadded base64url', () => {
    const { value } = signed.signature;
    const bytes = Buffer.from(value, 'base64url');
    for (const wrong of [
      '',
      value.slice(1),
      `${value}=`,
      `${value}==`,
      `${value}A`,
      bytes.subarray(1).toString('base64url'),
      Buffer.concat([bytes, bytes]).toString('base64url'),
      bytes.toString('hex'),
      ` ${value}`,
      // The same bytes with other unused bits.
      value.slice(0, -1) + String.fromCharCode(value.charCodeAt(value.length - 1) + 1),
    ]) {
      const reason = reasonOf(() => verifyEnvelope(changed({ value: wrong }), key));
      expect([wrong, reason]).toEqual([wrong, 'sig_malformed']);
    }
  });

  // Protocol §9.3.
  test('are refused with the reason of the protocol', () => {
    const { signature, ...without } = signed;
    expect(reasonOf(() => readEnvelope(without))).toBe('envelope_sig_missing');
    for (const name of ['type', 'publicKey', 'value'])
      expect(reasonOf(() => readEnvelope(changed({ [name]: undefined })))).toBe('envelope_sig_missing');
    expect(reasonOf(() => readEnvelope({ ...signed, signature: [signature] }))).toBe('envelope_sig_missing');
    expect(reasonOf(() => readEnvelope(changed({ type: 'RsaSignature2017' })))).toBe('unsupported_algorithm');
    expect(reasonOf(() => readEnvelope(changed({ publicKey: `${actor}2#main-key` })))).toBe('unknown_key');
    expect(reasonOf(() => readEnvelope(changed({ created: 1 })))).toBe('unknown_field');
  });
});
