import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { openServer } from '../../src/platform/http/server.ts';
import { usualTimeouts } from '../../src/platform/http/slow-requests.ts';
import { openLibrary, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';
import { plainText } from '../support/pictures.ts';
import { openWire, raw } from './wire.ts';

const library = await openLibrary({ VITRINE_BASE_URL: 'https://library.example' });
const root = await library.join('root', 'admin');
const asset = (await upload(root, plainText('some bytes'))).id;

/** The headers of every response, besides its policy. */
const always = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': expect.stringContaining('camera=()'),
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const closed = "default-src 'none'; frame-ancestors 'none'";

/** Returns the sources of each directive of a policy. */
function directivesOf(policy: string | null): Map<string, string[]> {
  const directives = (policy ?? '').split('; ').map((directive) => directive.split(' '));
  return new Map(directives.map(([name = '', ...sources]) => [name, sources]));
}

async function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(library.address + path, { redirect: 'manual', ...init });
}

function expectSafe(headers: Headers): void {
  expect(Object.fromEntries(headers)).toMatchObject(always);
  // No page may be framed by another site, and no policy allows injected scripts.
  const directives = directivesOf(headers.get('content-security-policy'));
  expect(directives.get('frame-ancestors')).toEqual(["'none'"]);
  const scripts = directives.get('script-src') ?? directives.get('default-src') ?? ['*'];
  for (const source of scripts) expect(source).toMatch(/^'(none|self|sha256-[\w+/]{43}=)'$/);
}

// HTTP-25
describe('a page of the web app', () => {
  test('is sent with the policy of pages', async () => {
    for (const path of ['/', '/sign-in', `/posts/${nowhere}`, '/settings', '/a/b/c?d=e', '/index.html']) {
      const { status, headers } = await get(path);
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expectSafe(headers);
      expect(Object.fromEntries(directivesOf(headers.get('content-security-policy')))).toEqual({
        'default-src': ["'self'"],
        // The sign-in page has no script within it.
        'script-src': ["'self'", ...(path === '/sign-in' ? [] : [expect.stringMatching(/^'sha256-/)])],
        'style-src': ["'self'", "'unsafe-inline'"],
        'img-src': ["'self'", 'blob:', 'data:'],
        'media-src': ["'self'", 'blob:'],
        'connect-src': ["'self'", 'blob:'],
        'object-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'self'"],
        'frame-ancestors': ["'none'"],
      });
    }
    for (const path of ['/favicon.svg', '/_app/version.json']) {
      const { status, headers } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      expectSafe(headers);
    }
  });

  test.each(['gzip', 'br', 'identity'])(
    'has its headers in the encoding %s, to HEAD and when it is unchanged',
    async (encoding) => {
      const accepted = { 'accept-encoding': encoding };
      const whole = await raw(library, root, '/', { headers: accepted });
      const policy = whole.headers.get('content-security-policy');
      const again = { ...accepted, 'if-none-match': whole.headers.get('etag') ?? '' };
      const head = await raw(library, root, '/', { method: 'HEAD', headers: accepted });
      const unchanged = await raw(library, root, '/', { headers: again });
      expect([whole.status, head.status, unchanged.status]).toEqual([200, 200, 304]);
      for (const { headers } of [whole, head, unchanged]) {
        expectSafe(headers);
        expect(headers.get('content-security-policy')).toBe(policy);
      }
    },
  );
});

test('the reference page has its own policy: two scripts, and requests to this site only', async () => {
  const { status, headers } = await get(`${basePath}/docs/`);
  expect(status).toBe(200);
  expectSafe(headers);
  const directives = directivesOf(headers.get('content-security-policy'));
  expect(directives.get('default-src')).toEqual(["'none'"]);
  expect(directives.get('script-src')).toEqual(["'self'", expect.stringMatching(/^'sha256-/)]);
  expect(directives.get('connect-src')).toEqual(["'self'"]);
  for (const path of ['/docs', '/docs/js/scalar.js', '/docs/nothing', '/openapi.json'])
    expectSafe((await get(basePath + path)).headers);
});

// HTTP-24
describe('paths that are not pages', () => {
  const post = (body: string, type: string) => ({ method: 'POST', body, headers: { 'content-type': type } });

  test.each([
    ['the API', '/build-info', {}, 200],
    ['an unknown path of the API', '/nothing', {}, 404],
    ['an unknown path of another API', '/../v2/nothing', {}, 404],
    ['an unknown file', '/../../nothing.js', {}, 404],
    ['a wrong method on a path of the API', '/posts', { method: 'DELETE' }, 405],
    ['a wrong method on a page', '/../../sign-in', { method: 'POST' }, 404],
    ['a wrong method on the reference', '/docs', { method: 'POST' }, 405],
    ['a request of nobody', '/auth/me', {}, 401],
    ['a malformed address', '/posts/%E0%A4%A', {}, 400],
    ['a body that is too large', '/auth/login', post('x'.repeat(1_100_000), 'application/json'), 413],
    ['a body of another type', '/auth/login', post('x', 'text/css'), 415],
  ])('%s is sent with the closed policy', async (_, path, init, expected) => {
    const { status, headers } = await get(basePath + path, init);
    expect(status).toBe(expected);
    expectSafe(headers);
    expect(headers.get('content-security-policy')).toBe(closed);
  });

  test('503 and 429 have the headers', async () => {
    const rename = (from: string, to: string) =>
      sql`alter schema ${sql.id(from)} rename to ${sql.id(to)}`.execute(library.deps.db);
    await rename('graphile_worker', 'out_of_the_way');
    const unready = await get('/readyz');
    await rename('out_of_the_way', 'graphile_worker');
    const busy = await openLibrary({
      VITRINE_BASE_URL: 'https://library.example',
      VITRINE_RATE_LIMITS: 'on',
      VITRINE_SIGN_IN_LIMIT: '1',
    });
    const signIn = () =>
      busy.anonymous().send('/auth/login', { method: 'POST', body: { username: 'x', password: 'y' } });
    await signIn();
    const limited = await signIn();
    expect([unready.status, limited.status]).toEqual([503, 429]);
    for (const { headers } of [unready, limited]) expectSafe(headers);
  });

  test.each([
    ['a head that is too large', `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
    ['what is not HTTP', 'hello\r\n\r\n', 400],
  ])('%s is answered with the headers', async (_, text, expected) => {
    const wire = await openWire(library);
    void wire.send(text);
    const { status, headers } = await wire.ended;
    expect(status).toBe(expected);
    expectSafe(headers);
    expect(headers.get('content-security-policy')).toBe(closed);
  });

  // FILE-2
  test('uploaded bytes are sandboxed in 200, 206 and 304 responses', async () => {
    const path = `${basePath}/assets/${asset}/file`;
    const whole = await raw(library, root, path);
    const etag = whole.headers.get('etag') ?? '';
    for (const [headers, expected] of [
      [{}, 200],
      [{ range: 'bytes=0-1' }, 206],
      [{ 'if-none-match': etag }, 304],
    ] as const) {
      const answer = await raw(library, root, path, { headers });
      expect(answer.status).toBe(expected);
      expectSafe(answer.headers);
      expect(answer.headers.get('content-security-policy')).toBe(`${closed}; sandbox`);
    }
  });
});

// HTTP-24
test('every listening socket sends the headers', async () => {
  const server = await openServer({
    logLevel: 'silent',
    secrets: [],
    strictTransport: true,
    maxFileBytes: 1,
    trustedProxies: [],
    connectionsPerAddress: 100,
    timeouts: usualTimeouts,
    stop: { announced: false },
    tracing: null,
    stopWithinMs: 1000,
  });
  await server.listen({ host: 'localhost', port: 0 });
  for (const bound of server.addresses()) {
    if (typeof bound === 'string') throw new Error(`${bound} is no network address`);
    const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
    expectSafe((await fetch(`http://${host}:${bound.port}/nothing`)).headers);
  }
  await server.close();
});

// HTTP-24
test('a site without an HTTPS address sends no HSTS', async () => {
  const plain = await openLibrary();
  expect((await fetch(`${plain.address}/`)).headers.get('strict-transport-security')).toBeNull();
});
