import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../support/directory.ts';
import { haproxy } from '../support/haproxy.ts';
import { type Library, openLibrary, password } from '../support/library.ts';
import { freePort } from '../support/programs.ts';
import { arriveWithPassword, lastSignIn } from './proxied.ts';

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
    await arriveWithPassword(library, 'mara');
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
    const child: ChildProcess = spawn(haproxy ?? '', ['-f', join(directory, 'haproxy.cfg')], {
      stdio: 'ignore',
    });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
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
      sent.end(JSON.stringify({ username: 'mara', password }));
    });
  }

  test('records the client’s real address at sign-in, and sets a Secure cookie', async () => {
    expect(await signInFrom('127.0.0.2', { 'x-forwarded-proto': 'http' })).toContain('Secure');
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.2', session: '127.0.0.2' });
    await signInFrom('127.0.0.3', { 'x-forwarded-for': '203.0.113.9' });
    expect(await lastSignIn(library)).toEqual({ audit: '127.0.0.3', session: '127.0.0.3' });
  });
});
