import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openPool } from '../../src/platform/database/pool.ts';
import { cloneTemplate } from '../support/clone.ts';
import { spawnVitrine, startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const clone = await cloneTemplate();
const { db, close } = openPool(clone.settings, 4);
const dataDir = await temporaryDirectory();
const env = {
  DATABASE_URL: clone.url,
  VITRINE_ADMIN_USERNAME: 'mara',
  VITRINE_ADMIN_PASSWORD: 'correct horse battery',
};
afterAll(async () => {
  await close();
  await clone.drop();
});

/** Returns the exit code and the last line of a command. */
async function run(...args: string[]): Promise<{ code: number | null; last: string }> {
  const { code, said } = await spawnVitrine(dataDir, args, env).ended;
  return { code, last: said.trimEnd().split('\n').at(-1) ?? '' };
}

// RUN-61
test('vitrine admin reset-password prints a password that works, beside a running service', async () => {
  const service = await startProcess(dataDir, env);
  const signIn = async (password: string) => {
    const response = await fetch(`${service.address}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'mara', password }),
    });
    return { status: response.status, cookie: response.headers.get('set-cookie') ?? '' };
  };
  const before = await signIn(env.VITRINE_ADMIN_PASSWORD);
  expect(before.status).toBe(200);
  const { code, last: password } = await run('admin', 'reset-password', 'MARA');
  expect(code).toBe(0);
  expect(password).toMatch(/^\S{12,}$/);
  expect((await signIn(env.VITRINE_ADMIN_PASSWORD)).status).toBe(401);
  expect((await signIn(password)).status).toBe(200);
  const cookie = before.cookie.split(';')[0] ?? '';
  expect((await fetch(`${service.address}/api/v1/me`, { headers: { cookie } })).status).toBe(401);

  // An account of a directory that is down signs in too.
  await sql`update users set provider = 'ldap', provider_subject = 'x', password_hash = null`.execute(db);
  const again = await run('admin', 'reset-password', 'mara');
  expect((await signIn(again.last)).status).toBe(200);
  expect((await run('admin', 'reset-password', 'nobody')).code).toBe(1);
  expect((await run('admin')).code).toBe(1);
  service.child.kill();
  await service.exited;
});
