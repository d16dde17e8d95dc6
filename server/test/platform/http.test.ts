import { exampleOf } from '@vitrine/contract/openapi/examples';
import type { Operation } from '@vitrine/contract/operation';
import { basePath, operations } from '@vitrine/contract/operations';
import fastify from 'fastify';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { handlers } from '../../src/entry/operations.ts';
import { lowerCaseIds } from '../../src/platform/http/lower-case-ids.ts';
import { renderErrors } from '../../src/platform/http/render-error.ts';
import { inputChecks } from '../../src/platform/http/validate.ts';
import { openLibrary, upload } from '../support/library.ts';
import { nowhere as missing } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { errorOf, headOf, openWire, raw, sessionOf } from './wire.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');

/** Returns the status of each request to these addresses, whose errors must have the shape of all errors. */
async function statusesOf(paths: readonly string[], method = 'GET'): Promise<[string, number][]> {
  const answers = await Promise.all(paths.map((path) => raw(library, root, basePath + path, { method })));
  for (const answer of answers) if (answer.status >= 400) errorOf(answer);
  return answers.map(({ status }, at) => [paths[at] ?? '', status]);
}

const allAre = (status: number, paths: readonly string[]) => paths.map((path) => [path, status]);

test('every operation of the contract has exactly one handler', () => {
  expect(handlers.map(({ operation }) => operation.id).sort()).toEqual(Object.keys(operations).sort());
});

// HTTP-3
test('ids in upper case are read in lower case, in every body', () => {
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  const inCapitals = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replace(uuid, (id) => id.toUpperCase()));
  const named: string[] = [];
  for (const operation of Object.values<Operation>(operations)) {
    if (operation.body === undefined) continue;
    const example = exampleOf(JSON.parse(JSON.stringify(operation.body)));
    if (JSON.stringify(example).match(uuid) === null) continue;
    expect(lowerCaseIds(operation.body)?.(inCapitals(example)), operation.id).toEqual(example);
    named.push(operation.id);
  }
  expect(named).toEqual(expect.arrayContaining(['createComment', 'orderFeedViews', 'createPost']));
  const ofTeam = { reviewers: [2, { team_id: missing }], note: missing };
  expect(inputChecks(operations.requestReview).body({ ...inCapitals(ofTeam), note: missing })).toEqual(
    ofTeam,
  );
});

describe('the address', () => {
  // HTTP-3, HTTP-38
  test('is 400 if an id is not a UUID', async () => {
    const ids = [
      'x',
      '5',
      missing.slice(1),
      `${missing}0`,
      missing.replaceAll('-', ''),
      `{${missing}}`,
      `urn:uuid:${missing}`,
      `${missing} `,
      missing.replace('d', 'g'),
      'a'.repeat(5000),
    ].map(encodeURIComponent);
    const paths = ids.flatMap((id) => [`/posts/${id}`, `/posts?asset=${id}`]);
    expect(await statusesOf(paths)).toEqual(allAre(400, paths));
    const { id } = await upload(root, plainFile());
    expect(await root.status('GET', `/assets/${id.toUpperCase()}`)).toBe(200);
  });

  // HTTP-4
  test('is 400 if a ref is not a single int64', async () => {
    const texts = ['abc', '%20', '1.5', '+1', '1e3', '0x10', 'null', 'NaN', '1%202'];
    const large = ['9223372036854775808', '-9223372036854775809', '9'.repeat(30)];
    const paths = [...texts, ...large].flatMap((text) => [`/posts?author_ref=${text}`, `/users/${text}`]);
    paths.push('/posts?author_ref=', '/posts?author_ref=1&author_ref=2');
    expect(await statusesOf(paths)).toEqual(allAre(400, paths));
    expect(await root.refused('listPosts', { query: { author_ref: 0.5 } })).toMatchObject({
      error: expect.stringMatching(/^author_ref/),
    });
  });

  // HTTP-4
  test.each(['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'is 404, or an empty list, for the unused ref %s',
    async (text) => {
      const answer = await root.send(`/users/${text}`);
      expect([answer.status, errorOf(answer)]).toEqual([404, 'not found']);
      expect(await root.status('POST', `/users/${text}/follow`)).toBe(404);
      const list = await root.send(`/posts?author_ref=${text}`);
      expect([list.status, JSON.parse(list.text)]).toEqual([200, { items: [], next_cursor: null }]);
    },
  );

  // HTTP-1, HTTP-16, HTTP-38
  test('is 404 if it is unknown, and 400 if it is malformed', async () => {
    const unknown = [
      '/nothing',
      `/posts/${missing}/nothing`,
      '/auth',
      '/',
      '/Posts',
      '/posts/../../../etc/passwd',
      '//posts',
      '/auth/login.json',
      '/../v2/posts',
      '/../v1x',
      '/../',
    ];
    expect(await statusesOf(unknown)).toEqual(allAre(404, unknown));
    const malformed = ['/posts/%E0%A4%A', '/posts/%', '/assets/%zz/file'];
    expect(await statusesOf(malformed)).toEqual(allAre(400, malformed));
  });
});

// HTTP-36, HTTP-41
test('an absolute address is answered like its path', async () => {
  const answerTo = async (method: string, address: string, headers: Record<string, string>) => {
    const wire = await openWire(library);
    await wire.send(headOf(method, address, 0, { connection: 'close', ...sessionOf(root), ...headers }));
    const { status, headers: received } = await wire.ended;
    const named = ['content-type', 'allow', 'x-robots-tag', 'referrer-policy', 'location'];
    return { status, headers: named.map((name) => received.get(name)?.replace(/[0-9a-f-]{36}/, 'id')) };
  };
  const tus = { 'tus-resumable': '1.0.0', 'upload-length': '5', 'content-length': '0' };
  const requests: [status: number, method: string, path: string, headers?: Record<string, string>][] = [
    [200, 'GET', `${basePath}/posts?limit=1`],
    [200, 'HEAD', `${basePath}/build-info`],
    [404, 'GET', `${basePath}/posts/${missing}`],
    [400, 'GET', `${basePath}/posts/%zz`],
    [404, 'GET', `${basePath}/unknown`],
    [405, 'PROPFIND', `${basePath}/posts`],
    [201, 'POST', `${basePath}/uploads`, tus],
    [204, 'OPTIONS', `${basePath}/uploads`],
    [200, 'GET', `${basePath}/openapi.json`],
    [301, 'GET', `${basePath}/docs`],
    [200, 'GET', `${basePath}/docs/`],
    [200, 'GET', '/healthz'],
    [404, 'GET', '/metrics'],
    [200, 'GET', ''],
    [200, 'GET', '?q=a'],
    [200, 'GET', `/posts/${missing}`],
    [200, 'GET', `/s/${'a'.repeat(32)}`],
    [200, 'GET', '/favicon.svg'],
    [404, 'GET', '/unknown.js'],
    [200, 'GET', '/robots.txt'],
    [401, 'GET', '/sitemap.xml'],
    [401, 'GET', '/oembed?url=a'],
    [401, 'GET', '/feeds/library.atom'],
    [404, 'GET', '/users/root', { accept: 'application/json' }],
    [404, 'GET', '/federation/instance'],
    [404, 'POST', '/federation/inbox', { 'content-type': 'application/json' }],
    [404, 'GET', `/assets/${'a'.repeat(64)}/bytes`],
    [404, 'GET', '/.well-known/webfinger'],
  ];
  for (const [status, method, path, headers = {}] of requests) {
    const answer = await answerTo(method, path.replace(/^(?!\/)/, '/'), headers);
    expect([path, answer.status]).toEqual([path, status]);
    for (const host of ['http://other.example', 'HTTPS://user@[::1]:8080'])
      expect([path, await answerTo(method, host + path, headers)]).toEqual([path, answer]);
  }
  for (const address of ['ftp://other.example/', 'http:///posts', 'http://?', '*'])
    expect((await answerTo('GET', address, {})).status, address).toBeLessThan(500);
});

// HTTP-38
test('an oversized address or header is 431', async () => {
  const long = 'x'.repeat(20_000);
  const paths: [string, Record<string, string>][] = [
    [`/posts?q=${long}`, {}],
    [`/users/${long}`, {}],
    ['/posts', { 'x-long': long }],
  ];
  for (const [path, headers] of paths) {
    const { status, text } = await root.send(path, { headers });
    expect([status, Object.keys(JSON.parse(text))]).toEqual([431, ['error']]);
  }
});

// HTTP-20
test('responses for one caller are not stored by shared caches, including errors', async () => {
  for (const path of ['/posts', `/posts/${missing}`, '/auth/me', '/posts?limit=0'])
    for (const visitor of [root, library.anonymous()])
      expect((await visitor.send(path)).headers.get('cache-control'), path).toBe('private, no-cache');
});

describe('a wrong method on a known path', () => {
  // HTTP-16
  test('is 405 with the allowed methods, on every path', async () => {
    const byPath = Map.groupBy(Object.values(operations), ({ path }) => path);
    const verbs = ['DELETE', 'PATCH', 'PUT', 'POST', 'GET'];
    const expectRefusals = async (path: string, its: readonly Operation[]) => {
      const allowed = its.map(({ method }): string => method);
      if (allowed.includes('GET')) allowed.push('HEAD');
      // Clients of tus ask for the server's extensions.
      if (its.some(({ tus }) => tus === true)) allowed.push('OPTIONS');
      const address = path.replace('{id}', missing).replace(/\{\w+\}/g, 'col');
      for (const method of verbs.filter((verb) => !allowed.includes(verb))) {
        const answer = await library.anonymous().send(address, { method });
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(answer.headers.get('allow')?.split(', ').sort(), path).toEqual(allowed.sort());
        errorOf(answer);
      }
    };
    await Promise.all([...byPath].map(([path, its]) => expectRefusals(path, its)));
  });

  // HTTP-30
  test('is 405 without reading the body', async () => {
    const headers = { 'content-type': 'a/b' };
    expect((await root.send('/posts', { method: 'PUT', body: '{', headers })).status).toBe(405);
  });

  test.each([
    ['HEAD', '/auth/login', 'POST'],
    ['OPTIONS', '/posts', 'GET, HEAD, POST'],
    ['TRACE', '/posts', 'GET, HEAD, POST'],
    ['GET', '/auth/login/?a=b', 'POST'],
    ['PROPFIND', '/posts', 'GET, HEAD, POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['DELETE', '/docs', 'GET, HEAD'],
  ])('%s %s is 405 like any other', async (method, path, allow) => {
    const answer = await raw(library, root, basePath + path, { method });
    expect([answer.status, answer.headers.get('allow')?.split(', ').sort().join(', ')]).toEqual([405, allow]);
  });

  // HTTP-16
  test('accepts HEAD wherever GET is accepted', async () => {
    const answer = await raw(library, root, `${basePath}/build-info`, { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

// HTTP-7, HTTP-8
test('lists hold 50 by default and 200 at most, and continue at the cursor without duplicates', async () => {
  const mara = await library.join('mara');
  await sql`insert into posts (author_user_ref, state_id, posted_at)
    select ${mara.ref}, (select id from workflow_states where code = 'published'), now() - n * interval '1 minute'
    from generate_series(1, 205) n`.execute(library.deps.db);
  const page = (more: { limit?: number; cursor?: string } = {}) =>
    mara.ok('listPosts', { query: { author_ref: mara.ref, ...more } });
  const [usual, one, most] = await Promise.all([page(), page({ limit: 1 }), page({ limit: 200 })]);
  expect([usual, one, most].map(({ items }) => items.length)).toEqual([50, 1, 200]);
  const cursor = String(most.next_cursor);
  const rest = await page({ limit: 200, cursor });
  expect(rest.next_cursor).toBeNull();
  const seen = new Set([...most.items, ...rest.items].map(({ id }) => id));
  expect([rest.items.length, seen.size]).toEqual([5, 205]);
  const limits = ['0', '201', '-1', '1.5', 'many', '', '1e2', '%2050', '9'.repeat(20)];
  const paths = [
    ...limits.map((limit) => `/posts?limit=${limit}`),
    `/posts?cursor=${cursor.slice(0, -6)}`,
    `/posts?cursor=${cursor}&cursor=${cursor}`,
  ];
  expect(await statusesOf(paths)).toEqual(allAre(400, paths));
});

// HTTP-30
test('an anonymous request is refused with 401 before the body is read', async () => {
  const headers = { 'content-type': 'a/b' };
  for (const body of ['{', 'x'.repeat(2 * 1024 * 1024)])
    expect((await library.anonymous().send('/posts', { method: 'POST', body, headers })).status).toBe(401);
});

// HTTP-23
test('every response carries nosniff and an x-request-id of the server, and does not name the software', async () => {
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
    const { 'x-request-id': id = '', ...headers } = Object.fromEntries(answer.headers);
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    ids.add(id);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect([headers['x-powered-by'], headers.server]).toEqual([undefined, undefined]);
  }
  expect(ids.size).toBe(sent.length);
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
