import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { visit } from '../support/client.ts';
import { makeCertificate } from '../support/directory.ts';
import { haproxy } from '../support/haproxy.ts';
import { type Library, openLibrary, password } from '../support/library.ts';
import { freePort } from '../support/programs.ts';

const body = { username: 'mara', password };
const proxied = await openLibrary({ VITRINE_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, fd00::/8' });
await proxied.join('mara');

/** Returns the client's address that the latest sign-in recorded in the audit log and with the session. */
async function lastSignIn({ deps }: Library): Promise<{ audit: string; session: string } | undefined> {
  const { rows } = await sql<{ audit: string; session: string }>`select
    (select metadata ->> 'address' from audit_events where event = 'auth.signed_in' order by occurred_at desc limit 1) as audit,
    (select address from sessions order by created_at desc limit 1) as session`.execute(deps.db);
  return rows[0];
}

// HTTP-31
describe('behind trusted proxies', () => {
  const signIn = (headers: Record<string, string>) => visit(proxied.address, headers).ok('login', { body });

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
      const recorded = { header, audit: address, session: address };
      expect({ header, ...(await lastSignIn(proxied)) }).toEqual(recorded);
    }
  });

  // HTTP-31
  test('ignores other headers', async () => {
    await signIn({ 'x-real-ip': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-client-ip': '203.0.113.7' });
    expect(await lastSignIn(proxied)).toEqual({ audit: '127.0.0.1', session: '127.0.0.1' });
  });

  test('a cookie is for https alone when the proxy was asked by https', async () => {
    for (const [proto, secure] of [
      ['https', true],
      ['http', false],
    ] as const) {
      const visitor = visit(proxied.address, { 'x-forwarded-proto': proto });
      const answer = await visitor.send('/auth/login', { method: 'POST', body });
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
    const wrong = { body: { username: 'nobody', password: 'wrong' } };
    const tries: number[] = [];
    for (let i = 0; i < 3; i += 1) tries.push((await from('203.0.113.1').refused('login', wrong)).status);
    expect(tries).toEqual([401, 401, 429]);
    expect((await from('203.0.113.2').refused('login', wrong)).status).toBe(401);
  });
});

test.each(['', '10.0.0.0/8'])(
  'with VITRINE_TRUSTED_PROXIES=%s nobody else can claim an address',
  async (trusted) => {
    const library = await openLibrary({ VITRINE_TRUSTED_PROXIES: trusted });
    await library.join('mara');
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
    const answer = await visit(library.address, headers).send('/auth/login', { method: 'POST', body });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).not.toContain('Secure');
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.1', session: '127.0.0.1' });
  },
);

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

describe.skipIf(haproxy === null)('behind HAProxy as deployed (skipped when it is not installed)', () => {
  let library: Library;
  let port: number;

  beforeAll(async () => {
    library = await openLibrary({ VITRINE_TRUSTED_PROXIES: '127.0.0.1' });
    await library.join('mara');
    const directory = await mkdtemp(join(tmpdir(), 'vitrine-haproxy-'));
    const { key, cert } = await makeCertificate(['DNS:localhost']);
    await writeFile(join(directory, 'vitrine.pem'), cert + key);
    port = await freePort();
    const deployed = join(import.meta.dirname, '../../../deploy/proxy/haproxy.cfg');
    const config = (await readFile(deployed, 'utf8'))
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace('/etc/haproxy/vitrine.pem', join(directory, 'vitrine.pem'))
      .replaceAll(/127\.0\.0\.1:842\d/g, new URL(library.address).host);
    await writeFile(join(directory, 'haproxy.cfg'), config);
    const child = spawn(haproxy ?? '', ['-f', join(directory, 'haproxy.cfg')], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    while (child.exitCode === null && !(await accepts(port))) await sleep(20);
    return async () => {
      child.kill();
      await exited;
      await rm(directory, { recursive: true });
    };
  });

  /** Signs in over https from a loopback address other than the proxy's. Returns the attributes of the cookie. */
  function signInFrom(localAddress: string, headers: Record<string, string>): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          localAddress,
          rejectUnauthorized: false,
          method: 'POST',
          path: '/api/v1/auth/login',
          headers: { 'content-type': 'application/json', ...headers },
        },
        (response) => {
          response.resume();
          response.on('end', () => resolve((response.headers['set-cookie'] ?? []).join().split('; ')));
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }

  test('records the client’s real address at sign-in, and sets a Secure cookie', async () => {
    expect(await signInFrom('127.0.0.2', { 'x-forwarded-proto': 'http' })).toContain('Secure');
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.2', session: '127.0.0.2' });
    await signInFrom('127.0.0.3', { 'x-forwarded-for': '203.0.113.9' });
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.3', session: '127.0.0.3' });
  });
});
