import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { openLibrary, password } from '../support/library.ts';
import { bearer, nowhere, signIn } from '../support/people.ts';

const refusal = '{"error":"requests from other sites are refused"}';
const foreign = 'https://elsewhere.example';

const library = await openLibrary();
const mara = await library.join('mara');
const root = await library.join('root', 'admin');

const addressed = ({ path }: Operation) => path.replaceAll('{ref}', '999999999').replace(/\{\w+\}/g, nowhere);
/** Without those that the page of a provider posts a form to. */
const unsafe: Operation[] = Object.values<Operation>(operations).filter(
  ({ method, postedForm }) => method !== 'GET' && postedForm === undefined,
);

/** A change that the caller may make, and that is observable. */
async function prefer(caller: Visitor, headers: Record<string, string>, language = 'de'): Promise<number> {
  const init = { method: 'PATCH', body: { language }, headers };
  return (await caller.send('/account/preferences', init)).status;
}

const signInFrom = (headers: Record<string, string>) =>
  library.anonymous().send('/auth/login', { method: 'POST', body: { username: 'mara', password }, headers });

describe('a request from a page of another site', () => {
  // HTTP-22
  test('returns 403 for every operation that changes anything, to any caller', async () => {
    expect(unsafe.length).toBeGreaterThan(25);
    const callers = [root, mara, library.anonymous()];
    const found = await Promise.all(
      unsafe.map(async (operation, index) => {
        const caller = callers[index % callers.length] ?? root;
        const init = { method: operation.method, body: {}, headers: { origin: foreign } };
        const { status, text, headers } = await caller.send(addressed(operation), init);
        return [operation.id, status, text, headers.get('set-cookie')];
      }),
    );
    expect(found).toEqual(unsafe.map(({ id }) => [id, 403, refusal, null]));
  });

  test('changes nothing, and neither signs a browser in nor out', async () => {
    await prefer(mara, {}, 'fr');
    expect(await prefer(mara, { origin: foreign })).toBe(403);
    expect((await mara.ok('getPreferences')).language).toBe('fr');
    const leaving = await mara.send('/auth/logout', { method: 'POST', headers: { origin: foreign } });
    expect(leaving.status).toBe(403);
    await mara.ok('getMe');
    const entering = await signInFrom({ origin: foreign });
    expect([entering.status, entering.headers.get('set-cookie')]).toEqual([403, null]);
  });

  // HTTP-22
  test.each([
    ['null, of a frame or a file', () => 'null'],
    ['another port', () => 'http://127.0.0.1:9'],
    ['no port', () => 'http://127.0.0.1'],
    ['another name of the same machine', () => library.address.replace('127.0.0.1', 'localhost')],
    ['our name at the front', () => `${library.address}.elsewhere.example`],
    ['our name as a user', () => `http://${new URL(library.address).host}@elsewhere.example`],
    ['our name as a path', () => `${foreign}/${new URL(library.address).host}`],
    ['no address at all', () => new URL(library.address).host],
    ['nothing', () => ''],
    ['a file', () => 'file://'],
    ['two, ours first', () => `${library.address}, ${foreign}`],
    ['two with a blank', () => `${library.address} ${foreign}`],
  ])('is recognised by the Origin %s', async (_, origin) => {
    // Other headers of the browser do not help.
    for (const more of [{}, { 'sec-fetch-site': 'same-origin' }])
      expect([origin(), await prefer(mara, { origin: origin(), ...more })]).toEqual([origin(), 403]);
  });

  test('is recognised without Origin by Sec-Fetch-Site, and despite other headers', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: foreign, authorization: 'Basic bWFyYTp4' },
      { origin: foreign, 'x-forwarded-host': 'elsewhere.example' },
      { origin: foreign, referer: library.address },
      { origin: foreign, 'x-http-method-override': 'GET' },
    ] satisfies Record<string, string>[])
      expect([headers, await prefer(mara, headers)]).toEqual([headers, 403]);
  });

  test('gets no CORS headers in any response', async () => {
    const headers = { origin: foreign, 'access-control-request-method': 'PATCH' };
    const answers = await Promise.all([
      mara.send('/account/preferences', { method: 'OPTIONS', headers }),
      mara.send('/auth/me', { headers }),
      mara.send('/account/preferences', { method: 'PATCH', body: {}, headers }),
    ]);
    expect(answers[0].status).toBeGreaterThanOrEqual(400);
    const names = answers.flatMap((answer) => [...answer.headers.keys()]);
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  // SIGNIN-1
  test('does not carry the session cookie, which is SameSite=Lax and HttpOnly', async () => {
    const masked = visit(library.address, {}, root.cookie());
    const answers = [
      await signIn(library, 'mara'),
      await masked.send(`/admin/users/${mara.ref}/impersonate`, { method: 'POST', body: {} }),
      await masked.send('/auth/impersonation/end', { method: 'POST' }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      const attributes = (headers.get('set-cookie') ?? '').split('; ');
      expect(attributes).toEqual(expect.arrayContaining(['SameSite=Lax', 'HttpOnly']));
    }
  });
});

describe('an allowed request', () => {
  test('comes from a page of the service, from a program, or from the address bar', async () => {
    const { host } = new URL(library.address);
    for (const headers of [
      { origin: `http://${host}` },
      { origin: `https://${host}`, 'sec-fetch-site': 'same-origin' },
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin' },
    ] satisfies Record<string, string>[])
      expect([headers, await prefer(mara, headers)]).toEqual([headers, 200]);
    expect((await signInFrom({ origin: library.address })).status).toBe(200);
  });

  test('comes from a page of VITRINE_BASE_URL, or of the address it is sent to', async () => {
    const behind = await openLibrary({ VITRINE_BASE_URL: 'https://pictures.example/library/' });
    const nils = await behind.join('nils');
    const origins = {
      'https://pictures.example': 200,
      'https://pictures.example:443': 200,
      [behind.address]: 200,
      [foreign]: 403,
      null: 403,
      'https://pictures.example:8443': 403,
      'https://www.pictures.example': 403,
      'https://pictures.example.elsewhere.example': 403,
      'https://notpictures.example': 403,
      'https://example': 403,
    };
    for (const [origin, status] of Object.entries(origins))
      expect([origin, await prefer(nils, { origin })]).toEqual([origin, status]);
  });

  // HTTP-22
  test('only reads, from any site', async () => {
    const origins: Record<string, string>[] = [{ origin: foreign }, { origin: 'null' }];
    for (const headers of [...origins, { 'sec-fetch-site': 'cross-site' }]) {
      for (const method of ['GET', 'HEAD'])
        expect((await mara.send('/auth/me', { method, headers })).status).toBe(200);
      expect((await library.anonymous().send('/appearance', { headers })).status).toBe(200);
    }
  });

  // HTTP-22
  test('has a bearer token, with or without a cookie', async () => {
    const { token } = await mara.ok('createToken', { body: { name: 'script', scopes: ['admin'] } });
    const authorization = `Bearer ${token}`;
    for (const more of [{}, { cookie: `user=${root.cookie()}` }]) {
      const caller = visit(library.address, { authorization, ...more });
      expect(await prefer(caller, { origin: foreign })).toBe(200);
      expect(await prefer(caller, { 'sec-fetch-site': 'cross-site' })).toBe(200);
      expect((await caller.ok('getMe')).ref).toBe(mara.ref);
    }
    const invalid = visit(library.address, { authorization: 'Bearer x', cookie: `user=${mara.cookie()}` });
    expect(await prefer(invalid, { origin: foreign })).toBe(401);
  });
});

const perAccount = 6;
const perAddress = 4;
const limited = await openLibrary({
  VITRINE_RATE_LIMITS: 'on',
  VITRINE_CALLER_LIMIT: String(perAccount),
  VITRINE_ANONYMOUS_LIMIT: String(perAddress),
  VITRINE_SIGN_IN_ADDRESS_LIMIT: String(perAccount),
  VITRINE_TRUSTED_PROXIES: 'loopback',
});

// RATE-1
describe('the limit of requests per minute', () => {
  /** A caller of this address. */
  const from = (address: string, headers: Record<string, string> = {}, token?: string) =>
    visit(limited.address, { 'x-forwarded-for': address, ...headers }, token);
  const times = (count: number, status: number) => Array<number>(count).fill(status);

  /** Returns the statuses of consecutive requests. */
  async function statuses(callers: readonly Visitor[], paths = ['/auth/me']): Promise<number[]> {
    const found: number[] = [];
    for (const [i, caller] of callers.entries())
      found.push(await caller.status('GET', paths[i % paths.length] ?? ''));
    return found;
  }

  // RATE-1, RATE-3
  test('applies to all sessions and tokens of an account together, and a refused request has no effect', async () => {
    const nora = await limited.join('nora');
    const script = await bearer(limited, nora, ['read']);
    const callers = Array.from({ length: perAccount }, (_, i) => (i % 2 === 0 ? nora : script));
    expect(await statuses([...callers, script])).toEqual([...times(perAccount, 200), 429]);
    const answer = await nora.send('/account/preferences', { method: 'PATCH', body: { language: 'de' } });
    expect([answer.status, Object.keys(JSON.parse(answer.text))]).toEqual([429, ['error']]);
    expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    const preferences = limited.deps.db.selectFrom('users').select('preferences').where('ref', '=', nora.ref);
    expect(await preferences.execute()).toEqual([{ preferences: {} }]);
    // This counts against neither other accounts of the address nor the address itself.
    const others = [await limited.join('otto'), from('127.0.0.1', {}, 'unknown')];
    expect(await statuses(others)).toEqual([200, 401]);
  });

  test('holds for concurrent requests as for consecutive ones', async () => {
    const tina = await limited.join('tina');
    const found = await Promise.all(Array.from({ length: 10 }, () => tina.status('GET', '/auth/me')));
    expect(found.sort()).toEqual([...times(perAccount, 200), ...times(10 - perAccount, 429)]);
  });

  // RATE-3
  test('holds for an address without valid credentials, across all operations', async () => {
    const cookie = `user=${(await limited.join('sina')).cookie()}`;
    const cases: Record<string, (i: number) => [Record<string, string>, token?: string]> = {
      'no credentials': () => [{}],
      'random cookies': (i) => [{}, `${i}`.repeat(43)],
      // Even beside a valid cookie.
      'invalid bearer tokens': (i) => [
        { authorization: `Bearer vt_pat_${`${i}`.repeat(32)}`, ...(i % 2 === 0 ? {} : { cookie }) },
      ],
    };
    for (const [place, [label, credentials]] of Object.entries(cases).entries()) {
      const address = `203.0.113.${place + 1}`;
      const callers = Array.from({ length: perAddress + 1 }, (_, i) => from(address, ...credentials(i)));
      const found = await statuses(callers, ['/auth/me', '/posts']);
      expect([label, found]).toEqual([label, [...times(perAddress, 401), 429]]);
      expect([label, await from(address).status('GET', '/appearance')]).toEqual([label, 429]);
      // Does not limit accounts of the same address.
      expect(await from(address, { cookie }).status('GET', '/auth/me')).toBe(200);
    }
  });

  // RATE-2
  test('counts the sign-ins of an address separately, because each costs a hash', async () => {
    const browser = from('203.0.113.9');
    const names = ['ada', 'bea', 'cleo', 'dora', 'ella', 'fay', 'gia'];
    const found: number[] = [];
    for (const username of names)
      found.push(await browser.status('POST', '/auth/login', { username, password: 'wrong' }));
    expect(found).toEqual([...times(perAccount, 401), 429]);
    expect(await browser.status('GET', '/appearance')).toBe(200);
  });
});
