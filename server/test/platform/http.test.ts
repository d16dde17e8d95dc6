import { basePath, operations } from '@vitrine/contract/operations';
import fastify from 'fastify';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderErrors } from '../../src/platform/http/render-error.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';
import { errorOf, raw } from './wire.ts';

const missing = '00000000-0000-4000-8000-00000000dead';
const all = Object.values(operations);

let library: Library;
let root: Account;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  asset = (await upload(root, plainText('for posts'))).id;
});

describe('the address', () => {
  // HTTP-3
  test.each([
    'x',
    '5',
    '0000',
    missing.slice(1),
    `${missing}0`,
    missing.replaceAll('-', ''),
    `{${missing}}`,
    `urn:uuid:${missing}`,
    `${missing} `,
    `'${missing}'`,
    missing.replace('d', 'g'),
  ])('with %j for a UUID is 400', async (id) => {
    const text = encodeURIComponent(id);
    for (const path of [
      `/posts/${text}`,
      `/assets/${text}`,
      `/posts/by-asset/${text}`,
      `/posts?asset=${text}`,
    ]) {
      const answer = await root.send(path);
      expect([path, answer.status]).toEqual([path, 400]);
      errorOf(answer);
    }
  });

  // HTTP-3
  test('accepts a UUID in capitals', async () => {
    expect((await root.send(`/assets/${asset.toUpperCase()}`)).status).toBe(200);
  });

  // HTTP-4
  test.each([
    'abc',
    '',
    '%20',
    '1.5',
    '+1',
    '1e3',
    '0x10',
    'true',
    'null',
    'NaN',
    'Infinity',
    '1%202',
    '9223372036854775808',
    '-9223372036854775809',
    '99999999999999999999999',
  ])('with %j for an int64 is 400', async (text) => {
    const answer = await root.send(`/posts?author_ref=${text}`);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(/^author_ref/);
    if (text !== '') expect((await root.send(`/users/${text}`)).status).toBe(400);
  });

  // HTTP-4
  test.each(['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'with the int64 %s is well-formed, and nobody is there: 404, or an empty list',
    async (text) => {
      const answer = await root.send(`/users/${text}`);
      expect([answer.status, errorOf(answer)]).toEqual([404, 'not found']);
      expect((await root.send(`/users/${text}/follow`, { method: 'POST' })).status).toBe(404);
      const list = await root.send(`/posts?author_ref=${text}`);
      expect([list.status, JSON.parse(list.text)]).toEqual([200, { items: [], next_cursor: null }]);
    },
  );

  test('refuses an int64 that is given twice', async () => {
    expect((await root.send('/posts?author_ref=1&author_ref=2')).status).toBe(400);
  });

  // HTTP-14
  test('ignores an unknown query parameter', async () => {
    const plain = await root.send('/posts?limit=5');
    expect(plain.status).toBe(200);
    for (const extra of [
      'utm_source=x',
      '__proto__=1',
      'constructor[a]=1',
      'limit[]=0',
      '=',
      'a=%F0%9F%A6%89',
    ]) {
      const answer = await root.send(`/posts?limit=5&${extra}`);
      expect([extra, answer.status, answer.text]).toEqual([extra, 200, plain.text]);
    }
    expect((await root.send('/auth/me?fields=all')).status).toBe(200);
  });

  // HTTP-1, HTTP-16
  test.each([
    '/nothing',
    `/posts/${missing}/nothing`,
    '/auth',
    '/',
    '/Posts',
    '/posts/../../../etc/passwd',
    '//posts',
    '/auth/login.json',
  ])('%s is known to nobody: 404', async (path) => {
    const answer = await raw(library, root, basePath + path);
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toBe('not found');
  });

  // HTTP-1
  test('answers 404 with the error body outside the interface', async () => {
    for (const path of ['/api/v2/posts', '/api/v1x', '/api/']) {
      const answer = await raw(library, root, path);
      expect([path, answer.status]).toEqual([path, 404]);
      errorOf(answer);
    }
  });

  // HTTP-38
  test.each(['/posts/%E0%A4%A', '/posts/%', '/assets/%zz/file'])('%s is malformed: 400', async (path) => {
    const answer = await raw(library, root, basePath + path);
    expect(answer.status).toBe(400);
    errorOf(answer);
  });

  // HTTP-38
  test('refuses a very long id like any malformed one', async () => {
    for (const length of [499, 600, 5000]) {
      const answer = await raw(library, root, `${basePath}/posts/${'a'.repeat(length)}`);
      expect([length, answer.status]).toEqual([length, 400]);
      errorOf(answer);
    }
  });
});

// HTTP-20
describe('a response for one caller', () => {
  // HTTP-20
  test.each(['/posts', `/posts/${missing}`, '/auth/me', '/posts?limit=0'])(
    'is kept by no shared cache, refusals included: %s',
    async (path) => {
      for (const visitor of [root, library.anonymous()]) {
        expect((await visitor.send(path)).headers.get('cache-control')).toBe('private, no-cache');
      }
    },
  );
});

describe('a wrong method on a known path', () => {
  const byPath = Map.groupBy(all, (operation) => operation.path);
  const addressOf = (path: string) => path.replace('{id}', missing).replace(/\{\w+\}/g, 'col');

  // HTTP-16
  test('is 405 with the allowed methods, on every path', async () => {
    for (const [path, its] of byPath) {
      const methods = its.map((operation): string => operation.method);
      const allowed = [
        ...methods,
        ...(methods.includes('GET') ? ['HEAD'] : []),
        // Clients of tus ask for the server's extensions.
        ...(its.some((operation) => 'tus' in operation) ? ['OPTIONS'] : []),
      ].sort();
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (methods.includes(method)) continue;
        for (const visitor of [root, library.anonymous()]) {
          const answer = await visitor.send(addressOf(path), { method });
          expect([method, path, answer.status]).toEqual([method, path, 405]);
          expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(allowed);
          errorOf(answer);
        }
      }
    }
  });

  // HTTP-30
  test('is 405 without reading the body', async () => {
    const answer = await root.send('/posts', {
      method: 'PUT',
      body: '{',
      headers: { 'content-type': 'a/b' },
    });
    expect(answer.status).toBe(405);
  });

  test.each([
    ['HEAD', '/auth/login', 'POST'],
    ['OPTIONS', '/auth/login', 'POST'],
    ['OPTIONS', '/posts', 'GET, HEAD, POST'],
    ['TRACE', '/posts', 'GET, HEAD, POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['DELETE', '/openapi.json', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
  ])('%s %s is 405 like any other', async (method, path, allow) => {
    const answer = await raw(library, root, basePath + path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')?.split(', ').sort().join(', ')).toBe(allow);
  });

  // HTTP-16
  test('accepts HEAD wherever GET is accepted', async () => {
    const answer = await raw(library, root, `${basePath}/build-info`, { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('lists', () => {
  let mara: Account;

  beforeAll(async () => {
    mara = await library.join('mara');
    await sql`insert into posts (author_user_ref, state_id, posted_at)
      select ${mara.ref}, (select id from workflow_states where code = 'published'), now() - n * interval '1 minute'
      from generate_series(1, 230) n`.execute(library.deps.db);
  });

  const page = (query: string) => mara.send(`/posts?author_ref=${mara.ref}&${query}`);

  // HTTP-7
  test('hold 50 by default and 200 at most', async () => {
    const lengthOf = async (limit?: number) => {
      const query = { author_ref: mara.ref, ...(limit === undefined ? {} : { limit }) };
      return (await mara.ok('listPosts', { query })).items.length;
    };
    expect(await lengthOf()).toBe(50);
    expect(await lengthOf(1)).toBe(1);
    expect(await lengthOf(200)).toBe(200);
  });

  // HTTP-8
  test.each(['0', '201', '-1', '1.5', 'many', '', '1e2', '0x10', 'true', '%2050', '99999999999999999999'])(
    'with limit=%s are 400',
    async (limit) => {
      const answer = await page(`limit=${limit}`);
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatch(/^limit/);
    },
  );

  // HTTP-7
  test('continue at the cursor without duplicates', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query = { author_ref: mara.ref, limit: 100, ...(cursor === null ? {} : { cursor }) };
      const answer: { items: { id: string }[]; next_cursor: string | null } = await mara.ok('listPosts', {
        query,
      });
      seen.push(...answer.items.map((item) => item.id));
      cursor = answer.next_cursor;
    } while (cursor !== null);
    expect([seen.length, new Set(seen).size]).toEqual([230, 230]);
  });

  const encoded = (text: string) => Buffer.from(text).toString('base64url');
  test.each([
    ['nothing', ''],
    ['words', 'tomorrow'],
    ['signs', '%2B%2F%3D%25'],
    ['a number', '5'],
    ['JSON', encoded('{"at":"2026-01-01T00:00:00Z"}')],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x20, 0xff]).toString('base64url')],
    ['a time alone', encoded('2026-01-01T00:00:00Z')],
    ['an id that is none', encoded('2026-01-01T00:00:00Z nobody')],
    ['a month that is none', encoded(`2026-13-01T00:00:00Z ${missing}`)],
    ['a day that is none', encoded(`2026-02-30T00:00:00Z ${missing}`)],
    ['a year that is none', encoded(`0000-01-01T00:00:00Z ${missing}`)],
    ['SQL', encoded(`2026-01-01T00:00:00Z ${missing}' or true --`)],
    ['a third part', encoded(`2026-01-01T00:00:00Z ${missing} x`)],
    ['a newline at the end', encoded(`2026-01-01T00:00:00Z ${missing}\n`)],
    ['a text without end', 'a'.repeat(5000)],
  ])('with a cursor of %s are 400', async (_, cursor) => {
    const answer = await page(`cursor=${cursor}`);
    expect(answer.status).toBe(400);
    errorOf(answer);
  });

  // HTTP-8
  test('are 400 with two cursors or a truncated one', async () => {
    const { next_cursor } = await mara.ok('listPosts', { query: { author_ref: mara.ref, limit: 1 } });
    const whole = String(next_cursor);
    expect((await page(`cursor=${whole}`)).status).toBe(200);
    expect((await page(`cursor=${whole.slice(0, -6)}`)).status).toBe(400);
    expect((await page(`cursor=${whole}&cursor=${whole}`)).status).toBe(400);
  });
});

// PUBLIC-1
describe('an anonymous request', () => {
  async function walk(): Promise<Map<string, number>> {
    const statuses = new Map<string, number>();
    for (const operation of all) {
      const path = operation.path.replace('{id}', missing).replace(/\{\w+\}/g, 'col');
      const hasBody = 'body' in operation;
      const init = { method: operation.method, ...(hasBody ? { body: {} } : {}) };
      const { status } = await library.anonymous().send(path, init);
      statuses.set(`${operation.method} ${operation.path}`, status);
    }
    return statuses;
  }

  const refusedOf = (statuses: Map<string, number>) =>
    [...statuses].filter(([, status]) => status === 401).map(([name]) => name);
  const names = all.map((operation) => `${operation.method} ${operation.path}`);

  /** PUBLIC-1: whether an operation is open to every caller, with public mode on or off. */
  const isOpen = (name: string) =>
    /^\w+ \/(auth\/login|setup\/\w+|appearance|appearance\/logo|build-info)$/.test(name) ||
    // A link is its visitors' credential; only accounts manage it.
    /^(GET|POST) \/links\//.test(name);

  test('is 401 with public mode off, except for open operations', async () => {
    await library.setPublicMode(false);
    expect(refusedOf(await walk())).toEqual(names.filter((name) => !isOpen(name)));
    for (const path of ['/openapi.json', '/docs']) {
      expect((await library.anonymous().send(path)).status).toBe(200);
    }
  });

  test('may only read with public mode on', async () => {
    await library.setPublicMode(true);
    const refused = refusedOf(await walk());
    await library.setPublicMode(false);
    const looks = [
      'GET /posts',
      'GET /posts/{id}',
      'GET /posts/by-asset/{id}',
      'GET /assets/{id}',
      'GET /assets/{id}/file',
      'GET /assets/{id}/variants/{key}',
      'GET /previews',
      'GET /asset-types',
      // A query that is too long for an address.
      'POST /search/by-image',
    ];
    expect(refused.filter((name) => looks.includes(name))).toEqual([]);
    const changes = names.filter(
      (name) => !name.startsWith('GET ') && !isOpen(name) && !looks.includes(name),
    );
    const own = ['GET /auth/me', 'GET /me', 'GET /system/public-mode'];
    expect(refused).toEqual(expect.arrayContaining([...changes, ...own]));
  });

  // HTTP-30
  test('is refused with 401 before the body is read', async () => {
    for (const body of ['{', 'x'.repeat(2 * 1024 * 1024)]) {
      const answer = await library
        .anonymous()
        .send('/posts', { method: 'POST', body, headers: { 'content-type': 'a/b' } });
      expect(answer.status).toBe(401);
    }
  });
});

describe('every response', () => {
  // HTTP-23
  test('carries an x-request-id of the server, also with errors', async () => {
    const sent: [string, { method?: string; body?: unknown; headers?: Record<string, string> }, number][] = [
      ['/auth/me', {}, 200],
      ['/build-info', { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } }, 200],
      ['/posts?limit=0', {}, 400],
      ['/auth/me', { headers: { authorization: 'Bearer x' } }, 401],
      ['/nothing', {}, 404],
      ['/posts', { method: 'DELETE' }, 405],
      ['/auth/login', { method: 'POST', body: 'x'.repeat(1_100_000) }, 413],
      ['/auth/login', { method: 'POST', body: 'x', headers: { 'content-type': 'text/css' } }, 415],
    ];
    const ids = new Set<string | null>();
    for (const [path, init, status] of sent) {
      const answer = await root.send(path, init);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      ids.add(answer.headers.get('x-request-id'));
    }
    expect(ids.size).toBe(sent.length);
  });

  // HTTP-23
  test('carries nosniff and does not name the software', async () => {
    const { headers } = await root.send('/auth/me');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
  });
});

// HTTP-35
test('completes one of two deadlocked changes and answers 503 with Retry-After to the other', async () => {
  const { db } = library.deps;
  const server = fastify();
  renderErrors(server);
  // Each holds one lock before either requests the other.
  let holding = 0;
  const bothHold = Promise.withResolvers<void>();
  server.get<{ Params: { first: string } }>('/:first', ({ params }) =>
    db.transaction().execute(async (tx) => {
      const first = Number(params.first);
      await sql`select pg_advisory_xact_lock(${first}::bigint)`.execute(tx);
      holding += 1;
      if (holding === 2) bothHold.resolve();
      await bothHold.promise;
      await sql`select pg_advisory_xact_lock(${3 - first}::bigint)`.execute(tx);
      return {};
    }),
  );
  const answers = await Promise.all(['/1', '/2'].map((url) => server.inject({ url })));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 503]);
  const refused = answers.find(({ statusCode }) => statusCode === 503);
  expect([refused?.headers['retry-after'], Object.keys(refused?.json() ?? {})]).toEqual(['1', ['error']]);
  await server.close();
});

// HTTP-34
test('GET /build-info names the version of the service and of the interface', async () => {
  const info = await root.ok('getBuildInfo');
  expect(info).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), api_version: '0.10.2' });
});

describe('health', () => {
  // HTTP-33
  test('GET /healthz and /readyz answer without a sign-in', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(library.address + path);
      expect([path, response.status]).toEqual([path, 200]);
      const wrong = await fetch(library.address + path, { method: 'POST' });
      expect([path, wrong.status, wrong.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
    }
  });

  // HTTP-33
  test('GET /readyz, not /healthz, is 503 while jobs are unavailable', async () => {
    const rename = (from: string, to: string) =>
      sql`alter schema ${sql.id(from)} rename to ${sql.id(to)}`.execute(library.deps.db);
    await rename('graphile_worker', 'out_of_the_way');
    const statuses: number[] = [];
    for (const path of ['/readyz', '/healthz']) statuses.push((await fetch(library.address + path)).status);
    await rename('out_of_the_way', 'graphile_worker');
    expect(statuses).toEqual([503, 200]);
    expect((await fetch(`${library.address}/readyz`)).status).toBe(200);
  });
});
