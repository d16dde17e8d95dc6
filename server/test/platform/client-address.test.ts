import { beforeAll, describe, expect, test } from 'vitest';
import { visit } from '../support/client.ts';
import { type Library, openLibrary, password } from '../support/library.ts';
import { arriveWithPassword, lastSignIn } from './proxied.ts';

// HTTP-31
describe('behind trusted proxies', () => {
  let library: Library;

  beforeAll(async () => {
    library = await openLibrary({ VITRINE_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, fd00::/8' });
    await arriveWithPassword(library, 'mara');
  });

  const signIn = (headers: Record<string, string>) =>
    visit(library.address, headers).ok('login', { body: { username: 'mara', password } });

  test('a request comes from the last address in X-Forwarded-For that is no proxy', async () => {
    for (const [header, address] of [
      ['203.0.113.7', '203.0.113.7'],
      ['198.51.100.1, 203.0.113.7', '203.0.113.7'],
      ['203.0.113.7,10.1.2.3 ,  fd00::1', '203.0.113.7'],
      ['203.0.113.7, ::ffff:10.1.2.3', '203.0.113.7'],
      ['10.1.2.3, 10.1.2.4', '10.1.2.3'],
      ['2001:DB8:0:0::7', '2001:db8::7'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['garbage, 203.0.113.7', '203.0.113.7'],
      ['203.0.113.7, garbage, 10.1.2.3', '10.1.2.3'],
      ['203.0.113.7:5678', '127.0.0.1'],
      ["'; drop table sessions; --", '127.0.0.1'],
      ['203.0.113.256', '127.0.0.1'],
      [',,', '127.0.0.1'],
      ['', '127.0.0.1'],
      ['203.0.113.7,,', '203.0.113.7'],
    ] as const) {
      await signIn({ 'x-forwarded-for': header });
      expect({ header, ...(await lastSignIn(library)) }).toEqual({
        header,
        audit: address,
        session: address,
      });
    }
  });

  // HTTP-31
  test('ignores other headers', async () => {
    await signIn({ 'x-real-ip': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-client-ip': '203.0.113.7' });
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.1', session: '127.0.0.1' });
  });

  test('a cookie is for https alone when the proxy was asked by https', async () => {
    for (const [proto, secure] of [
      ['https', true],
      ['http', false],
    ] as const) {
      const answer = await visit(library.address, { 'x-forwarded-proto': proto }).send('/auth/login', {
        method: 'POST',
        body: { username: 'mara', password },
      });
      expect((answer.headers.get('set-cookie') ?? '').split('; ').includes('Secure')).toBe(secure);
    }
  });

  test('counts the budgets of visitors separately', async () => {
    const limited = await openLibrary({
      VITRINE_TRUSTED_PROXIES: 'loopback',
      VITRINE_RATE_LIMITS: 'on',
      VITRINE_ANONYMOUS_LIMIT: '3',
      VITRINE_SIGN_IN_LIMIT: '2',
    });
    const from = (address: string) => visit(limited.address, { 'x-forwarded-for': address });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await from('203.0.113.1').send('/appearance')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await from('203.0.113.2').send('/appearance')).status).toBe(200);
    const body = { username: 'nobody', password: 'wrong' };
    const tries: number[] = [];
    for (let i = 0; i < 3; i += 1) tries.push((await from('203.0.113.1').refused('login', { body })).status);
    expect(tries).toEqual([401, 401, 429]);
    expect((await from('203.0.113.2').refused('login', { body })).status).toBe(401);
  });
});

test.each(['', '10.0.0.0/8'])(
  'with VITRINE_TRUSTED_PROXIES=%s nobody else can claim an address',
  async (trusted) => {
    const library = await openLibrary({ VITRINE_TRUSTED_PROXIES: trusted });
    await arriveWithPassword(library, 'mara');
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
    const answer = await visit(library.address, headers).send('/auth/login', {
      method: 'POST',
      body: { username: 'mara', password },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).not.toContain('Secure');
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.1', session: '127.0.0.1' });
  },
);
