import { verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  checkHttpSignature,
  digestOf,
  type RequestParts,
  readSignature,
  signHttp,
  signingString,
} from '../../../src/exchange/federation/protocol/http-signature.ts';
import { rawPublicKey } from '../../../src/exchange/federation/protocol/signature.ts';
import { privateKeyOf } from './keys.ts';
import { reasonOf } from './reason.ts';

const now = Date.parse('2026-11-22T10:00:00Z');
const privateKey = privateKeyOf(Buffer.alloc(32, 7));
const key = rawPublicKey(privateKey);
const otherKey = rawPublicKey(privateKeyOf(Buffer.alloc(32, 8)));
const body = Buffer.from('{"hello":"world"}');
const keyId = 'https://studio-a.example/federation/instance#main-key';

function signedParts(method: 'GET' | 'POST', at = now): RequestParts {
  const url = new URL('https://studio-b.example/federation/inbox?x=1');
  const sent = method === 'POST' ? body : null;
  const headers = signHttp({ method, url, body: sent, keyId, privateKey, now: at });
  return { method, path: '/federation/inbox?x=1', headers, body: sent ?? Buffer.alloc(0), now };
}

function check(parts: RequestParts, keys = [key]): string {
  return reasonOf(() => checkHttpSignature(parts, readSignature(parts), keys));
}

function withHeaders(parts: RequestParts, headers: Record<string, string | undefined>): RequestParts {
  return { ...parts, headers: { ...parts.headers, ...headers } };
}

/** Returns the request with one parameter of its Signature header replaced. */
function withParameter(parts: RequestParts, pattern: RegExp, replacement: string): RequestParts {
  return withHeaders(parts, { signature: String(parts.headers.signature).replace(pattern, replacement) });
}

// FED-3
describe('signed requests', () => {
  test('are accepted from the key that signed', () => {
    for (const method of ['GET', 'POST'] as const) {
      const parts = signedParts(method);
      expect(readSignature(parts)).toMatchObject({ keyId, algorithm: 'hs2019' });
      expect(check(parts)).toBe('accepted');
      expect(check(parts, [otherKey, key])).toBe('accepted');
      expect(check({ ...parts, host: 'studio-b.example' })).toBe('accepted');
      expect(check(parts, [otherKey])).toBe('sig_invalid');
      expect(check(parts, [])).toBe('sig_invalid');
    }
    const covered = ['(request-target)', 'host', 'date'];
    expect(readSignature(signedParts('POST')).covered).toEqual([...covered, 'digest']);
    expect(readSignature(signedParts('GET')).covered).toEqual(covered);
  });

  const post = signedParts('POST');
  test.each<[string, RequestParts]>([
    ['another method', { ...post, method: 'PUT' }],
    ['another path', { ...post, path: '/federation/inbox?x=2' }],
    ['another host in its headers', withHeaders(post, { host: 'studio-c.example' })],
    ['another host', { ...post, host: 'studio-c.example' }],
    ['another date', withHeaders(post, { date: new Date(now + 1000).toUTCString() })],
    ['another body', { ...post, body: Buffer.from('{"hello":"World"}') }],
    ['no body', { ...post, body: Buffer.alloc(0) }],
    ['another digest', withHeaders(post, { digest: digestOf(Buffer.from('{}')) })],
    ['no digest', withHeaders(post, { digest: undefined })],
  ])('are refused with %s instead of what was signed', (_, parts) => {
    expect(check(parts)).toBe('sig_invalid');
  });

  test('are refused with a body that the signature does not cover, even if its digest is right', () => {
    const parts = { ...signedParts('GET'), body };
    expect(check(parts)).toBe('unsigned');
    expect(check(withHeaders(parts, { digest: digestOf(body) }))).toBe('unsigned');
  });

  test('are refused when the clocks differ by more than five minutes', () => {
    for (const minutes of [-5, 5]) {
      const limit = now + minutes * 60_000;
      expect(check(signedParts('POST', limit))).toBe('accepted');
      expect(check(signedParts('POST', limit + Math.sign(minutes) * 1000))).toBe('stale_request');
    }
  });

  test('are refused unless the signature covers target, host, date and digest', () => {
    const parts = signedParts('POST');
    for (const name of ['\\(request-target\\) ', 'host ', 'date ', ' digest'])
      expect(check(withParameter(parts, new RegExp(name), '')), name).toBe('unsigned');
    expect(check(withParameter(parts, /headers="[^"]*",/, ''))).toBe('unsigned');
    // A request with a body needs a digest, whatever it covers.
    expect(check({ ...signedParts('GET'), method: 'POST', body })).toBe('unsigned');
    expect(check(withParameter(parts, / digest/, ' digest x-absent'))).toBe('sig_invalid');
    expect(check(withParameter(parts, / digest/, ' digest host'))).toBe('sig_malformed');
    expect(check(withParameter(parts, / digest/, ' Digest'))).toBe('sig_malformed');
  });

  // Protocol §10.1.
  test.each(['rsa-sha256', 'rsa-sha512', 'hmac-sha256', 'ecdsa-sha256', 'ed25519', 'HS2019', ''])(
    'are refused with the algorithm %j',
    (algorithm) => {
      expect(check(withParameter(post, /hs2019/, algorithm))).toBe('unsupported_algorithm');
      expect(check(withParameter(post, /algorithm="hs2019",/, ''))).toBe('unsupported_algorithm');
    },
  );

  test.each([
    undefined,
    '',
    'keyId',
    'keyId="x"',
    'signature="x"',
    'keyId="x",signature=""',
    'keyId="x",keyId="y",signature="AAAA"',
    'keyId="x",signature="AAAA",other="z"',
    'keyId="x" signature="AAAA"',
    'keyId="x\\"",signature="AAAA"',
    `keyId="${'x'.repeat(5000)}",signature="AAAA"`,
  ])('are refused with the Signature header %j', (signature) => {
    const parts = withHeaders(signedParts('POST'), { signature });
    expect(['unsigned', 'sig_malformed']).toContain(check(parts));
  });

  test('are refused when the signature is not 64 bytes of base64', () => {
    const parts = signedParts('POST');
    const signatures = ['AAAA', '!!!!', `${'A'.repeat(86)}`, 'A'.repeat(88), `${'A'.repeat(85)}B==`];
    for (const signature of signatures) {
      const changed = withParameter(parts, /signature=".*"/, `signature="${signature}"`);
      expect([signature, check(changed)]).toEqual([signature, 'sig_malformed']);
    }
  });

  test('are refused after the time they state themselves', () => {
    const url = new URL('https://studio-b.example/');
    const { signature = '' } = signHttp({ method: 'GET', url, body: null, keyId, privateKey, now });
    const seconds = now / 1000;
    const parts = { ...signedParts('GET'), path: '/' };
    const expiring = (parameter: string) =>
      check(withHeaders(parts, { signature: `${signature},${parameter}` }));
    expect(expiring(`expires=${seconds + 1}`)).toBe('accepted');
    expect(expiring(`expires=${seconds - 1}`)).toBe('stale_request');
    expect(expiring(`created=${seconds - 299}`)).toBe('accepted');
    expect(expiring(`created=${seconds + 301}`)).toBe('stale_request');
  });
});

/** Verifies an RSA signature, which Vitrine does not accept, because the signed text must be the same. */
function rsaFits(parts: RequestParts, publicKey: string): boolean {
  const signature = readSignature(parts);
  return verify('sha256', Buffer.from(signingString(parts, signature)), publicKey, signature.signature);
}

// draft-cavage-http-signatures-12, appendix C.
describe('published examples', () => {
  const publicKey = `-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----`;
  const draft = Buffer.from('{"hello": "world"}');
  const headers = {
    host: 'example.com',
    date: 'Sun, 05 Jan 2014 21:31:40 GMT',
    'content-type': 'application/json',
    digest: 'SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=',
    'content-length': '18',
  };
  const request = (signature: string): RequestParts => ({
    method: 'POST',
    path: '/foo?param=value&pet=dog',
    headers: { ...headers, signature },
    body: draft,
    now: Date.parse(headers.date),
  });

  test('have the digest of their body', () => {
    expect(digestOf(draft)).toBe(headers.digest);
  });

  test.each([
    [
      'the default',
      'keyId="Test",algorithm="rsa-sha256",signature="SjWJWbWN7i0wzBvtPl8rbASWz5xQW6mcJmn+ibttBqtifLN7Sazz6m79cNfwwb8DMJ5cou1s7uEGKKCs+FLEEaDV5lp7q25WqS+lavg7T8hc0GppauB6hbgEKTwblDHYGEtbGmtdHgVCk9SuS13F0hZ8FD0k/5OxEPXe5WozsbM="',
    ],
    [
      'the basic',
      'keyId="Test",algorithm="rsa-sha256",headers="(request-target) host date",signature="qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3HMbe8VfEdKFYRqzic+efkb3nndiv/x1xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0="',
    ],
    [
      'the complete',
      'keyId="Test",algorithm="rsa-sha256",headers="(request-target) host date content-type digest content-length",signature="vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TAD48XaERZFukWgHoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE="',
    ],
  ])('verify: %s test', (_, signature) => {
    const intact = request(signature);
    expect(rsaFits(intact, publicKey)).toBe(true);
    expect(rsaFits(withHeaders(intact, { date: 'now' }), publicKey)).toBe(false);
  });
});
