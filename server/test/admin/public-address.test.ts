import { request as httpRequest } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { openLibrary, password } from '../support/library.ts';
import { openSecond } from '../support/second.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const host = new URL(library.address).host;

beforeEach(() => store(null));

async function store(address: string | null) {
  await library.deps.db.deleteFrom('settings').where('key', '=', 'base_url').execute();
  if (address === null) return;
  const value = JSON.stringify(address);
  await library.deps.db.insertInto('settings').values({ key: 'base_url', value }).execute();
}

interface Wired {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  to?: string;
}

/** Sends a request with headers that fetch does not allow, such as Host. */
function send(path: string, { method = 'PATCH', body, headers = {}, to = library.address }: Wired) {
  return new Promise<{ status: number; cookie: string; error: string }>((resolve, reject) => {
    const sent = httpRequest(`${to}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie: `user=${root.cookie()}`, ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const answer: { error?: string } = JSON.parse(Buffer.concat(parts).toString());
        const cookie = response.headers['set-cookie']?.join() ?? '';
        resolve({ status: response.statusCode ?? 0, cookie, error: answer.error ?? '' });
      });
    });
    sent.end(JSON.stringify(body ?? {}));
  });
}

const prefer = (origin: string, more: Wired = {}) =>
  send('/account/preferences', { ...more, headers: { origin, ...more.headers } });
const signIn = (to = library.address) =>
  send('/auth/login', { method: 'POST', body: { username: 'root', password }, headers: { cookie: '' }, to });
const change = (body: unknown, headers: Record<string, string> = {}) =>
  send('/admin/system/site', { body, headers });
const shown = async () => (await root.ok('getSite')).base_url;

// ADMIN-2
describe('the stored public address', () => {
  // ADMIN-2
  test('is trusted as an origin from the next request on, on every process', async () => {
    const second = await openSecond(library);
    const origin = 'https://pictures.example';
    const statuses = async () => [
      (await prefer(origin)).status,
      (await prefer(origin, { to: second.address })).status,
    ];
    try {
      expect(await statuses()).toEqual([403, 403]);
      expect((await change({ base_url: `${origin}/library` })).status).toBe(200);
      expect(await statuses()).toEqual([200, 200]);
      expect((await prefer('https://elsewhere.example')).status).toBe(403);
      expect((await prefer('https://pictures.example.elsewhere.example')).status).toBe(403);
      expect((await change({ clear_base_url: true })).status).toBe(200);
      expect(await statuses()).toEqual([403, 403]);
    } finally {
      await second.close();
    }
  });

  test('makes the session cookie Secure when it is an https one', async () => {
    expect((await signIn()).cookie).not.toContain('Secure');
    await change({ base_url: 'https://pictures.example' });
    expect((await signIn()).cookie).toContain('; Secure');
    await change({ base_url: 'http://pictures.example' });
    expect((await signIn()).cookie).not.toContain('Secure');
  });

  // SETTING-9
  test('yields to the one in the environment', async () => {
    const fixed = await openLibrary({ VITRINE_BASE_URL: 'http://environment.example' });
    const chief = await fixed.join('chief', 'admin');
    await chief.ok('updateSite', { body: { base_url: 'https://stored.example' } });
    const ask = (origin: string) =>
      chief.send('/account/preferences', { method: 'PATCH', body: {}, headers: { origin } });
    expect((await ask('https://stored.example')).status).toBe(403);
    expect((await ask('http://environment.example')).status).toBe(200);
    // The environment prevents a lockout.
    const typo = { base_url: 'https://typo.example' };
    const headers = { origin: 'http://environment.example' };
    const change = await chief.send('/admin/system/site', { method: 'PATCH', body: typo, headers });
    expect(change.status).toBe(200);
    const credentials = { username: 'chief', password };
    const answer = await fixed.anonymous().send('/auth/login', { method: 'POST', body: credentials });
    expect(answer.headers.get('set-cookie')).not.toContain('Secure');
  });
});

// ADMIN-2
describe('lockout protection', () => {
  const proxied = { host: 'inside:8420', origin: 'https://pictures.example' };

  // ADMIN-2
  test('refuses an address that would refuse the page that sets it', async () => {
    await store('https://pictures.example');
    for (const body of [{ base_url: 'https://typo.example' }, { clear_base_url: true }]) {
      const answer = await change(body, proxied);
      expect([answer.status, await shown()]).toEqual([400, 'https://pictures.example']);
      expect(answer.error).toContain('requests from your current address https://pictures.example');
      expect(answer.error).toContain('force');
    }
  });

  test('accepts the same host with another path or scheme', async () => {
    await store('https://pictures.example');
    expect((await change({ base_url: 'https://pictures.example/library' }, proxied)).status).toBe(200);
    const direct = { origin: library.address, host };
    expect((await change({ base_url: 'https://other.example' }, direct)).status).toBe(200);
    expect((await change({ clear_base_url: true }, direct)).status).toBe(200);
  });

  test('refuses an https address set from an http page, which would lose its cookie', async () => {
    const inside = { host: 'nas.lan:8420', origin: 'http://nas.lan:8420' };
    const answer = await change({ base_url: 'https://pictures.example' }, inside);
    expect([answer.status, await shown()]).toEqual([400, null]);
    expect(answer.error).toContain('nobody could sign in at your current address http://nas.lan:8420');
    // Browsers keep secure cookies of their own machine.
    const own = { host: 'localhost:8420', origin: 'http://localhost:8420' };
    expect((await change({ base_url: 'https://pictures.example' }, own)).status).toBe(200);
  });

  // ADMIN-2
  test('can be overridden with force', async () => {
    await store('https://pictures.example');
    const moved = { base_url: 'https://moved.example', force: true };
    expect([(await change(moved, proxied)).status, await shown()]).toEqual([200, 'https://moved.example']);
    expect((await prefer(proxied.origin, { headers: { host: proxied.host } })).status).toBe(403);
  });

  test('does not apply to programs or to a name alone', async () => {
    await store('https://pictures.example');
    expect((await change({ site_name: 'Glass house' }, proxied)).status).toBe(200);
    expect((await change({ base_url: 'https://other.example' }, { host: 'inside:8420' })).status).toBe(200);
  });
});
