import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answered, type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';

const refusal = '{"error":"requests from other sites are refused"}';
const foreign = 'https://elsewhere.example';

let library: Library;
let mara: Account;
let root: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await library.join('mara');
  root = await library.join('root', 'admin');
});

const unknownId = '00000000-0000-4000-8000-00000000dead';
const addressed = ({ path }: Operation) =>
  path.replaceAll('{ref}', '999999999').replace(/\{\w+\}/g, unknownId);
const unsafe: Operation[] = Object.values(operations).filter(({ method }) => method !== 'GET');

/** A change that the caller may make, and that is observable. */
function prefer(caller: Visitor, headers: Record<string, string>): Promise<Answered> {
  return caller.send('/account/preferences', { method: 'PATCH', body: { language: 'de' }, headers });
}

const signInFrom = (headers: Record<string, string>, at = library) =>
  at.anonymous().send('/auth/login', { method: 'POST', body: { username: 'mara', password }, headers });

describe('a request from a page of another site', () => {
  // HTTP-22
  test('returns 403 for every operation that changes anything', async () => {
    expect(unsafe.length).toBeGreaterThan(25);
    for (const operation of unsafe) {
      const init = { method: operation.method, body: {}, headers: { origin: foreign } };
      const answers = await Promise.all(
        [root, mara, library.anonymous()].map((caller) => caller.send(addressed(operation), init)),
      );
      for (const { status, text, headers } of answers) {
        expect([operation.id, status, text]).toEqual([operation.id, 403, refusal]);
        expect(headers.get('set-cookie')).toBeNull();
      }
    }
  });

  test('changes nothing', async () => {
    await mara.ok('updatePreferences', { body: { language: 'fr' } });
    expect((await prefer(mara, { origin: foreign })).status).toBe(403);
    expect((await mara.ok('getPreferences')).language).toBe('fr');
    const leaving = await mara.send('/auth/logout', { method: 'POST', headers: { origin: foreign } });
    expect(leaving.status).toBe(403);
    await mara.ok('getMe');
  });

  test('cannot sign a browser in', async () => {
    const answer = await signInFrom({ origin: foreign });
    expect([answer.status, answer.text]).toEqual([403, refusal]);
    expect(answer.headers.get('set-cookie')).toBeNull();
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
    const answer = await prefer(mara, { origin: origin() });
    expect([origin(), answer.status, answer.text]).toEqual([origin(), 403, refusal]);
    // Other headers of the browser do not help.
    expect((await prefer(mara, { origin: origin(), 'sec-fetch-site': 'same-origin' })).status).toBe(403);
  });

  test.each(['cross-site', 'same-site'])(
    'is recognised without Origin by Sec-Fetch-Site: %s',
    async (site) => {
      const headers = { 'sec-fetch-site': site };
      expect([(await prefer(mara, headers)).status, (await signInFrom(headers)).status]).toEqual([403, 403]);
    },
  );

  test('is refused despite Authorization, Referer and forwarding headers', async () => {
    const headers = { origin: foreign, authorization: 'Basic bWFyYTp4' };
    expect((await prefer(mara, headers)).status).toBe(403);
    expect((await prefer(mara, { origin: foreign, 'x-forwarded-host': 'elsewhere.example' })).status).toBe(
      403,
    );
    expect((await prefer(mara, { origin: foreign, referer: library.address })).status).toBe(403);
    expect((await prefer(mara, { origin: foreign, 'x-http-method-override': 'GET' })).status).toBe(403);
  });

  test('gets no CORS headers in any response', async () => {
    const headers = { origin: foreign };
    const preflight = await mara.send('/account/preferences', {
      method: 'OPTIONS',
      headers: { ...headers, 'access-control-request-method': 'PATCH' },
    });
    const answers = [preflight, await mara.send('/auth/me', { headers }), await prefer(mara, headers)];
    for (const answer of answers) {
      const names = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect(names).toEqual([]);
    }
    expect(preflight.status).toBeGreaterThanOrEqual(400);
  });

  // SIGNIN-1
  test('does not carry the session cookie, which is SameSite=Lax and HttpOnly', async () => {
    const answer = await signInFrom({ origin: library.address });
    const attributes = (answer.headers.get('set-cookie') ?? '').split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['SameSite=Lax', 'HttpOnly']));
    const masked = visit(library.address, {}, root.cookie());
    const started = await masked.send(`/admin/users/${mara.ref}/impersonate`, { method: 'POST', body: {} });
    const ended = await masked.send('/auth/impersonation/end', { method: 'POST' });
    for (const { status, headers } of [started, ended]) {
      expect(status).toBe(200);
      const set = (headers.get('set-cookie') ?? '').split('; ');
      expect(set).toEqual(expect.arrayContaining(['SameSite=Lax', 'HttpOnly']));
    }
  });
});

describe('an allowed request', () => {
  test('comes from a page of the service, over http or https', async () => {
    const { host } = new URL(library.address);
    for (const origin of [`http://${host}`, `https://${host}`]) {
      expect((await prefer(mara, { origin })).status).toBe(200);
      expect((await prefer(mara, { origin, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    }
    expect((await signInFrom({ origin: library.address })).status).toBe(200);
  });

  test('comes from a program without an Origin, or from the address bar', async () => {
    for (const headers of [{}, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }]) {
      expect((await prefer(mara, headers)).status).toBe(200);
    }
  });

  test('comes from a page of VITRINE_BASE_URL, or of the address it is sent to', async () => {
    const behind = await openLibrary({ VITRINE_BASE_URL: 'https://pictures.example/library/' });
    const nils = await behind.join('nils');
    for (const origin of ['https://pictures.example', 'https://pictures.example:443', behind.address]) {
      expect([origin, (await prefer(nils, { origin })).status]).toEqual([origin, 200]);
    }
    const others = [
      foreign,
      'null',
      'https://pictures.example:8443',
      'https://www.pictures.example',
      'https://pictures.example.elsewhere.example',
      'https://notpictures.example',
      'https://example',
    ];
    for (const origin of others) {
      expect([origin, (await prefer(nils, { origin })).status]).toEqual([origin, 403]);
    }
  });

  // HTTP-22
  test('only reads, from any site', async () => {
    for (const headers of [
      { origin: foreign },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ] satisfies Record<string, string>[]) {
      expect((await mara.send('/auth/me', { headers })).status).toBe(200);
      expect((await mara.send('/auth/me', { method: 'HEAD', headers })).status).toBe(200);
      expect((await library.anonymous().send('/appearance', { headers })).status).toBe(200);
    }
  });

  // HTTP-22
  test('has a bearer token, with or without a cookie', async () => {
    const { token } = await mara.ok('createToken', { body: { name: 'script', scopes: ['admin'] } });
    const authorization = `Bearer ${token}`;
    for (const caller of [
      visit(library.address, { authorization }),
      visit(library.address, { authorization, cookie: `user=${root.cookie()}` }),
    ]) {
      expect((await prefer(caller, { origin: foreign })).status).toBe(200);
      expect((await prefer(caller, { 'sec-fetch-site': 'cross-site' })).status).toBe(200);
      expect((await caller.ok('getMe')).ref).toBe(mara.ref);
    }
    const invalid = visit(library.address, { authorization: 'Bearer x', cookie: `user=${mara.cookie()}` });
    expect((await prefer(invalid, { origin: foreign })).status).toBe(401);
  });
});

// RATE-1
describe('the limit of requests per minute returns 429', () => {
  const caller = 6;
  const anonymous = 4;

  const open = () =>
    openLibrary({
      VITRINE_RATE_LIMITS: 'on',
      VITRINE_CALLER_LIMIT: String(caller),
      VITRINE_ANONYMOUS_LIMIT: String(anonymous),
    });

  /** Returns the statuses of a repeated request, in order. */
  async function statuses(times: number, ask: (i: number) => Promise<Answered>): Promise<number[]> {
    const found: number[] = [];
    for (let i = 0; i < times; i += 1) found.push((await ask(i)).status);
    return found;
  }

  const times = (count: number, status: number) => Array<number>(count).fill(status);

  // RATE-3
  test('per account, across its sessions and tokens', async () => {
    const limited = await open();
    const nora = await limited.join('nora');
    const otto = await limited.join('otto');
    const { token } = await nora.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
    const bearer = visit(limited.address, { authorization: `Bearer ${token}` });
    const asked = await statuses(caller + 1, (i) => (i % 2 === 0 ? nora : bearer).send('/auth/me'));
    expect(asked).toEqual([...times(caller - 1, 200), 429, 429]);
    const answer = await nora.send('/auth/me');
    expect(answer.status).toBe(429);
    expect(Object.keys(JSON.parse(answer.text))).toEqual(['error']);
    const seconds = Number(answer.headers.get('retry-after'));
    expect(Number.isInteger(seconds)).toBe(true);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    // This counts against neither other accounts of the address nor the address itself.
    expect((await otto.send('/auth/me')).status).toBe(200);
    expect((await limited.anonymous().send('/appearance')).status).toBe(200);
  });

  // RATE-1
  test('before the request has any effect', async () => {
    const limited = await open();
    const pia = await limited.join('pia');
    await statuses(caller, () => pia.send('/auth/me'));
    expect((await prefer(pia, {})).status).toBe(429);
    const row = await limited.deps.db
      .selectFrom('users')
      .select('preferences')
      .where('ref', '=', pia.ref)
      .executeTakeFirstOrThrow();
    expect(row.preferences).toEqual({});
  });

  // RATE-3
  test('per address for anonymous callers, across all operations', async () => {
    const limited = await open();
    const paths = ['/appearance', '/auth/me', '/build-info', '/posts'];
    const asked = await statuses(anonymous, (i) => limited.anonymous().send(paths[i] ?? ''));
    expect(asked).toEqual([200, 401, 200, 401]);
    const answer = await limited.anonymous().send('/appearance');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    // Does not limit signed-in callers of the same address.
    expect((await (await limited.join('rosa')).send('/auth/me')).status).toBe(200);
  });

  // RATE-2
  test('separately from sign-in, which has its own limit', async () => {
    const limited = await open();
    const names = ['ada', 'bea', 'cleo', 'dora', 'ella'];
    const tried = (username: string) =>
      limited.anonymous().send('/auth/login', { method: 'POST', body: { username, password: 'wrong' } });
    expect(await statuses(anonymous + 1, (i) => tried(names[i] ?? ''))).toEqual(times(anonymous + 1, 401));
    expect(await statuses(anonymous + 1, () => limited.anonymous().send('/appearance'))).toEqual([
      ...times(anonymous, 200),
      429,
    ]);
    expect((await tried('fay')).status).toBe(401);
    // Each costs a hash, so they are limited per address, too.
    expect((await tried('gia')).status).toBe(429);
  });

  // RATE-3
  test('per address for random cookies', async () => {
    const limited = await open();
    const asked = await statuses(anonymous + 1, (i) =>
      visit(limited.address, {}, `${i}`.repeat(43)).send('/auth/me'),
    );
    expect(asked).toEqual([...times(anonymous, 401), 429]);
    expect((await limited.anonymous().send('/appearance')).status).toBe(429);
  });

  // RATE-3
  test('per address for invalid bearer tokens, even with a valid cookie', async () => {
    const limited = await open();
    const sina = await limited.join('sina');
    const asked = await statuses(anonymous + 2, (i) =>
      visit(limited.address, {
        authorization: `Bearer vt_pat_${String(i).repeat(32)}`,
        ...(i % 2 === 0 ? {} : { cookie: `user=${sina.cookie()}` }),
      }).send('/auth/me'),
    );
    expect(asked).toEqual([...times(anonymous, 401), 429, 429]);
    expect((await sina.send('/auth/me')).status).toBe(200);
  });

  test('per actual address when a forwarding header names another', async () => {
    const limited = await open();
    const asked = await statuses(anonymous + 1, (i) =>
      visit(limited.address, {
        'x-forwarded-for': `10.0.0.${i}`,
        'x-real-ip': `10.0.0.${i}`,
        forwarded: `for=10.0.0.${i}`,
      }).send('/appearance'),
    );
    expect(asked).toEqual([...times(anonymous, 200), 429]);
  });

  test('for concurrent requests as for consecutive ones', async () => {
    const limited = await open();
    const tina = await limited.join('tina');
    const answers = await Promise.all(Array.from({ length: 10 }, () => tina.send('/auth/me')));
    expect(answers.filter(({ status }) => status === 200).length).toBe(caller);
    expect(answers.filter(({ status }) => status === 429).length).toBe(10 - caller);
  });
});
