import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { setupCodeOf } from '../../src/operate/set-up/first-run.ts';
import { openLibrary, password } from '../support/library.ts';
import { openSecond } from '../support/second.ts';

/** Sends a request with this `Host` header, which fetch does not allow. */
function ask(
  address: string,
  path: string,
  { host, body, headers = {} }: { host?: string; body?: unknown; headers?: Record<string, string> },
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${address}/api/v1${path}`,
      {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(host === undefined ? {} : { host }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      async (response) => {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part);
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const root = { username: 'root', password };
const refusedName = { status: 403, body: { error: expect.stringContaining('refused under this name') } };

const needsSetup = async ({ address }: { address: string }) => (await ask(address, '/setup/status', {})).body;

const named = await openLibrary({
  VITRINE_BASE_URL: 'https://pictures.example',
  VITRINE_TRUSTED_PROXIES: 'loopback',
});

// SETUP-2
describe('the host name during set-up', () => {
  const statusFor = (given: { host: string; headers?: Record<string, string> }) =>
    ask(named.address, '/setup/status', given);
  const completeFor = (given: { host: string; headers?: Record<string, string> }) =>
    ask(named.address, '/setup/complete', { ...given, body: root });

  test('is accepted if it is local or that of the public address', async () => {
    const local = ['localhost', 'localhost:8420', 'LOCALHOST', 'studio.localhost:8420'];
    const addresses = ['127.0.0.1:8420', '192.168.1.20', '203.0.113.7:80', '[::1]:8420', '[fd00::7]'];
    const hosts = [...local, ...addresses, 'pictures.example', 'Pictures.Example:443'];
    const found = await Promise.all(hosts.map((host) => statusFor({ host })));
    expect(found).toEqual(hosts.map(() => ({ status: 200, body: { needs_setup: true } })));
  });

  test('is refused if it is another name', async () => {
    const others = ['evil.example', 'evil.example:8420', 'localhost.evil.example', 'notlocalhost'];
    const ours = ['pictures.example.evil.example', 'pictures.example@evil.example'];
    const addresses = ['127.0.0.1.evil.example', '127.0.0.1@evil.example', 'evil.example#127.0.0.1'];
    for (const host of [...others, ...ours, ...addresses, '[::1].evil.example']) {
      const outcomes = [await statusFor({ host }), await completeFor({ host })];
      expect([host, outcomes]).toEqual([host, [refusedName, refusedName]]);
      // Like a page of that host.
      expect((await completeFor({ host, headers: { origin: `http://${host}` } })).status).toBe(403);
    }
    expect(await needsSetup(named)).toEqual({ needs_setup: true });
  });

  // SETUP-2
  test('is not taken from a forwarding header, and may be any name after set-up', async () => {
    const headers = { 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' };
    const host = 'evil.example';
    expect(await statusFor({ host, headers })).toEqual(refusedName);
    expect(await completeFor({ host, headers })).toEqual(refusedName);
    expect((await completeFor({ host: 'pictures.example' })).status).toBe(201);
    expect(await statusFor({ host })).toEqual({ status: 200, body: { needs_setup: false } });
    expect((await completeFor({ host })).status).toBe(409);
  });
});

const library = await openLibrary({ VITRINE_HOST: '0.0.0.0' });
const limited = await openLibrary({ VITRINE_HOST: '::', VITRINE_RATE_LIMITS: 'on' });

// SETUP-3
describe('a server that listens beyond loopback', () => {
  const complete = (address: string, code?: string) =>
    ask(address, '/setup/complete', { body: { ...root, ...(code === undefined ? {} : { code }) } });

  // SETUP-3
  test('requires the code, which every process accepts in any spelling', async () => {
    const second = await openSecond(library);
    const code = setupCodeOf(library.deps) ?? '';
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/);
    // Each library has its own.
    expect(code).not.toBe(setupCodeOf(limited.deps));
    const waiting = { needs_setup: true, code_required: true };
    try {
      const wrong = `${code.slice(0, -1)}${code.endsWith('2') ? '3' : '2'}`;
      for (const given of [undefined, '', wrong, code.slice(0, 4), `${code}2`, 'é'.repeat(12)]) {
        const refused = await complete(library.address, given);
        expect(refused).toEqual({ status: 403, body: { error: expect.stringContaining('code') } });
      }
      expect(await needsSetup(library)).toEqual(waiting);
      expect(await needsSetup(second)).toEqual(waiting);
      const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`;
      expect((await complete(second.address, typed)).status).toBe(201);
      expect(await needsSetup(library)).toEqual({ needs_setup: false });
      expect((await complete(library.address, code)).status).toBe(409);
    } finally {
      await second.close();
    }
  });

  // SETUP-3
  test('limits attempts, including those with the right code', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 10; i += 1) statuses.push((await complete(limited.address, 'wrong')).status);
    expect(statuses).toEqual(Array(10).fill(403));
    expect((await complete(limited.address, setupCodeOf(limited.deps) ?? '')).status).toBe(429);
    expect(await needsSetup(limited)).toMatchObject({ needs_setup: true });
  });
});

test('only a server that listens on loopback needs no code', () => {
  const needsCode = (host: string) => {
    const config = readConfig({ VITRINE_HOST: host }, '/nowhere');
    return setupCodeOf({ config, secretKey: 'secret' }) !== null;
  };
  const others = ['0.0.0.0', '::', '192.168.1.20', 'nas.example'];
  expect(['127.0.0.1', '127.8.9.1', '::1', 'localhost', ...others].filter(needsCode)).toEqual(others);
});
