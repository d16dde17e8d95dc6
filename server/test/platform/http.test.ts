import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SwaggerParser from '@apidevtools/swagger-parser';
import { apiVersion, basePath, operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Answered, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

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

function errorOf(answer: Answered): string {
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body: unknown = JSON.parse(answer.text);
  expect(body).toEqual({ error: expect.stringMatching(/\S/) });
  return String(JSON.parse(answer.text).error);
}

async function post(path: string, body: unknown): Promise<Answered> {
  return root.send(path, { method: 'POST', body });
}

/** A request as it stands on the wire, where fetch would tidy it up. */
function raw(
  path: string,
  init: { method?: string; headers?: Record<string, string>; chunks?: string[] } = {},
) {
  const { method = 'GET', headers = {}, chunks = [] } = init;
  return new Promise<Answered>((resolve, reject) => {
    const { hostname, port } = new URL(library.address);
    const sent = httpRequest({
      host: hostname,
      port,
      path,
      method,
      headers: { cookie: `user=${root.cookie()}`, ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const received = new Headers();
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
        resolve({
          status: response.statusCode ?? 0,
          headers: received,
          text: Buffer.concat(parts).toString(),
        });
      });
    });
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

describe('a JSON body is taken as it is or refused', () => {
  test.each([
    ['PUT', '/system/public-mode', { enabled: true, colour: 'red' }, 'colour'],
    ['POST', '/auth/login', { username: 'a', password: 'b', 'remember me': true }, 'remember me'],
    ['POST', '/posts', { members: [{ asset_id: missing, colour: 1 }] }, 'members.0.colour'],
    ['POST', '/posts', { members: [{ asset_id: missing }], colour: 1 }, 'colour'],
    ['POST', '/posts', { members: [{ asset_id: missing }], constructor: 1 }, 'constructor'],
    // Operations without a body of their own are no way in for a property either.
    ['POST', `/posts/${missing}/publish`, { state_id: missing }, 'state_id'],
    ['DELETE', `/posts/${missing}/like`, { colour: 1 }, 'colour'],
  ])('%s %s with an unknown property is 400 and names it', async (method, path, body, named) => {
    const answer = await root.send(path, { method, body });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(`unknown property ${named}`);
  });

  test.each([
    ['title', 5],
    ['title', null],
    ['title', ['x']],
    ['title', {}],
    ['description', true],
    ['draft', 'true'],
    ['draft', 1],
    ['draft', null],
    ['comments_enabled', 0],
    ['visibility', 'everybody'],
    ['visibility', null],
    ['tags', 'one'],
    ['tags', { 0: 'one' }],
    ['team_id', 'none'],
    ['cover_asset_id', 5],
    ['cover_focal_x', '0.5'],
    ['members', 'all'],
    ['members', null],
    ['members', {}],
  ])('a post with %s = %j is 400 and names it', async (name, value) => {
    const answer = await post('/posts', { members: [{ asset_id: asset }], [name]: value });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(new RegExp(`^${name}`));
  });

  test.each(['1', 1.5, null, -1, true])('a member with sort_order = %j is 400', async (sort_order) => {
    const answer = await post('/posts', { members: [{ asset_id: asset, sort_order }] });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(/^members\.0\.sort_order/);
  });

  test.each(['true', 1, null, 'false', []])('public mode enabled = %j is 400', async (enabled) => {
    const answer = await root.send('/system/public-mode', { method: 'PUT', body: { enabled } });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(/^enabled/);
    expect(await root.ok('getPublicMode')).toEqual({ enabled: false });
  });

  test.each([
    '{',
    '{"username":',
    "{'username':'a'}",
    '{"a":1,}',
    'undefined',
    '{}{}',
    '\ufeff{',
    '{"username":"\u0001"}',
    'NaN',
  ])('malformed JSON %j is 400', async (body) => {
    const answer = await post('/auth/login', body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe('malformed JSON');
  });

  test.each(['null', '[]', '"text"', '5', 'true', '[{"username":"a","password":"b"}]'])(
    'JSON that is no object, %s, is 400',
    async (body) => {
      const answer = await post('/auth/login', body);
      expect(answer.status).toBe(400);
      errorOf(answer);
    },
  );

  test('no body where one is needed is 400, with and without a content type', async () => {
    const path = `${basePath}/auth/login`;
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await raw(path, { method: 'POST', headers: { ...headers, 'content-length': '0' } });
      expect(answer.status).toBe(400);
      errorOf(answer);
    }
  });

  test('where none is asked for an empty object is fine, and anything in it is refused by name', async () => {
    const path = `/tags/glass/follow`;
    for (const body of [undefined, {}])
      expect((await root.send(path, { method: 'PUT', body })).status).toBe(204);
    for (const method of ['PUT', 'DELETE']) {
      const answer = await root.send(path, { method, body: { because: 'x' } });
      expect([answer.status, errorOf(answer)]).toEqual([400, 'unknown property because']);
    }
    expect((await root.send(path, { method: 'DELETE', body: [] })).status).toBe(400);
    expect((await root.ok('listFollowedTags')).map(({ tag }) => tag)).toEqual(['glass']);
    expect((await root.send(path, { method: 'DELETE' })).status).toBe(204);
  });

  test.each([
    '{"username":"a","password":"b","__proto__":{"admin":true}}',
    '{"username":"a","password":"b","constructor":{"prototype":{"admin":true}}}',
    '{"__proto__":{"username":"root","password":"x"}}',
    '{"username":"a","password":"b","\\u005f_proto__":1}',
  ])('%s is 400 and reaches no prototype', async (body) => {
    const answer = await post('/auth/login', body);
    expect(answer.status).toBe(400);
    errorOf(answer);
    expect('admin' in {}).toBe(false);
  });

  test('a prototype inside free metadata is refused or kept as plain data', async () => {
    const { file_hash } = await upload(root, plainText('bytes with metadata'));
    const body = `{"file_hash":"${file_hash}","metadata":{"a":{"__proto__":{"admin":true}}}}`;
    expect((await post('/assets', body)).status).toBe(400);
    expect('admin' in {}).toBe(false);
  });

  test('JSON nested beyond reason is 400 wherever it stands; some nesting is fine', async () => {
    const { file_hash } = await upload(root, plainText('bytes with deep metadata'));
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    for (const deep of [nested(400_000), nested(20_000), objects(100_000)]) {
      expect((await post('/auth/login', deep)).status).toBe(400);
      expect((await post('/auth/login', `{"username":"a","password":${deep}}`)).status).toBe(400);
      const answer = await post('/assets', `{"file_hash":"${file_hash}","metadata":{"a":${deep}}}`);
      expect(answer.status).toBe(400);
      errorOf(answer);
    }
    const form = new FormData();
    form.append('metadata', `{"a":${nested(100_000)}}`);
    form.append('file', new Blob([plainText('deep form')]), 'a.txt');
    expect((await root.send('/assets', { method: 'POST', body: form })).status).toBe(400);
    const fine = `{"file_hash":"${file_hash}","metadata":{"a":${nested(20)}}}`;
    expect((await post('/assets', fine)).status).toBe(201);
  });

  test('over 1 MiB is 413, announced or in pieces; 1 MiB itself is read', async () => {
    const limit = 1024 * 1024;
    const sized = (bytes: number) => {
      const frame = '{"username":"a","password":""}';
      return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
    };
    expect((await post('/auth/login', sized(limit))).status).toBe(400);
    const over = await post('/auth/login', sized(limit + 1));
    expect(over.status).toBe(413);
    expect(errorOf(over)).toBe('body too large');
    const text = sized(limit + 1);
    const chunks = Array.from({ length: 5 }, (_, i) => text.slice(i * 250_000, (i + 1) * 250_000));
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const inPieces = await raw(`${basePath}/auth/login`, { method: 'POST', headers, chunks });
    expect(inPieces.status).toBe(413);
    errorOf(inPieces);
  });

  test.each([
    ['POST', '/auth/login', 'text/plain'],
    ['POST', '/auth/login', 'application/x-www-form-urlencoded'],
    ['POST', '/auth/login', 'application/xml'],
    ['POST', '/auth/login', 'application/jsonp'],
    ['POST', '/auth/login', 'application/merge-patch+json'],
    ['POST', '/auth/login', 'multipart/form-data; boundary=x'],
    ['POST', '/posts', 'multipart/form-data; boundary=x'],
    ['PUT', '/system/public-mode', 'multipart/form-data; boundary=x'],
    ['POST', '/assets', 'image/jpeg'],
    ['POST', '/assets', 'application/octet-stream'],
  ])('%s %s as %s is 415', async (method, path, type) => {
    const body = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n';
    const answer = await root.send(path, { method, body, headers: { 'content-type': type } });
    expect(answer.status).toBe(415);
    errorOf(answer);
  });

  test('a charset beside application/json is fine', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const body = { username: 'root', password };
    const answer = await library.anonymous().send('/auth/login', { method: 'POST', body, headers });
    expect(answer.status).toBe(200);
  });
});

describe('NUL is refused wherever it stands', () => {
  test.each([
    ['POST', '/posts', { members: [{ asset_id: missing }], title: 'a\0b' }],
    ['POST', '/posts', { members: [{ asset_id: missing }], tags: ['fine', '\0'] }],
    ['POST', '/posts', JSON.stringify({ members: [{ asset_id: missing }] }).replace('{', '{"a\\u0000b":1,')],
    ['POST', '/assets', { file_hash: 'a'.repeat(64), metadata: { deep: [{ 'k\0': 1 }] } }],
    ['POST', '/assets', { file_hash: 'a'.repeat(64), metadata: { deep: [{ k: '\0' }] } }],
    ['POST', '/auth/login', { username: 'root', password: 'a\0' }],
    ['GET', '/posts?tag=%00', undefined],
    ['GET', '/posts?tag=a&tag=b%00', undefined],
    ['GET', '/posts?cursor=%00', undefined],
    ['GET', '/posts/%00', undefined],
    ['GET', `/assets/${missing}/variants/col%00`, undefined],
  ])('%s %s with %j is 400', async (method, path, body) => {
    const answer = await root.send(path, { method, body });
    expect(answer.status).toBe(400);
    errorOf(answer);
  });

  test.each(['title', 'description', 'tags'])('in the field %s of a form too', async (name) => {
    const form = new FormData();
    form.append(name, 'a\0b');
    form.append('file', new Blob([plainText()]), 'a.txt');
    const answer = await root.send('/assets', { method: 'POST', body: form });
    expect(answer.status).toBe(400);
    errorOf(answer);
  });
});

describe('the address', () => {
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

  test('with a UUID in capitals is as good as any', async () => {
    expect((await root.send(`/assets/${asset.toUpperCase()}`)).status).toBe(200);
  });

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

  test('with an int64 given twice is 400', async () => {
    expect((await root.send('/posts?author_ref=1&author_ref=2')).status).toBe(400);
  });

  test('with an unknown query parameter is the same without it', async () => {
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
    const answer = await raw(basePath + path);
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toBe('not found');
  });

  test('beside the interface is 404 in its own form, too', async () => {
    for (const path of ['/api/v2/posts', '/api/v1x', '/api/']) {
      const answer = await raw(path);
      expect([path, answer.status]).toEqual([path, 404]);
      errorOf(answer);
    }
  });

  test.each(['/posts/%E0%A4%A', '/posts/%', '/assets/%zz/file'])('%s is malformed: 400', async (path) => {
    const answer = await raw(basePath + path);
    expect(answer.status).toBe(400);
    errorOf(answer);
  });

  test('of endless length is malformed like any other', async () => {
    for (const length of [499, 600, 5000]) {
      const answer = await raw(`${basePath}/posts/${'a'.repeat(length)}`);
      expect([length, answer.status]).toEqual([length, 400]);
      errorOf(answer);
    }
  });
});

describe('what is made for one caller (spec 2.2 rule 9)', () => {
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

  test('is 405 and says which would do, whoever asks, on every path', async () => {
    for (const [path, its] of byPath) {
      const methods = its.map((operation): string => operation.method);
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
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

  test('is 405 without a look at the body', async () => {
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
    const answer = await raw(basePath + path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')?.split(', ').sort().join(', ')).toBe(allow);
  });

  test('HEAD goes wherever GET does', async () => {
    const answer = await raw(`${basePath}/build-info`, { method: 'HEAD' });
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

  test('hold 50 unless said otherwise, and 200 at most', async () => {
    const lengthOf = async (limit?: number) => {
      const query = { author_ref: mara.ref, ...(limit === undefined ? {} : { limit }) };
      return (await mara.ok('listPosts', { query })).items.length;
    };
    expect(await lengthOf()).toBe(50);
    expect(await lengthOf(1)).toBe(1);
    expect(await lengthOf(200)).toBe(200);
  });

  test.each(['0', '201', '-1', '1.5', 'many', '', '1e2', '0x10', 'true', '%2050', '99999999999999999999'])(
    'with limit=%s are 400',
    async (limit) => {
      const answer = await page(`limit=${limit}`);
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatch(/^limit/);
    },
  );

  test('go on where the cursor says, to the end, with nothing twice', async () => {
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

  test('with two cursors, or one cut short, are 400', async () => {
    const { next_cursor } = await mara.ok('listPosts', { query: { author_ref: mara.ref, limit: 1 } });
    const whole = String(next_cursor);
    expect((await page(`cursor=${whole}`)).status).toBe(200);
    expect((await page(`cursor=${whole.slice(0, -6)}`)).status).toBe(400);
    expect((await page(`cursor=${whole}&cursor=${whole}`)).status).toBe(400);
  });
});

describe('an anonymous request (spec part 5 rule 3)', () => {
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

  /** choices, last line: where anybody may come, public mode or not. */
  const isOpen = (name: string) =>
    /^\w+ \/(auth\/login|setup\/\w+|appearance|appearance\/logo|build-info)$/.test(name);

  test('with public mode off is 401 everywhere but where anybody may come', async () => {
    await library.setPublicMode(false);
    expect(refusedOf(await walk())).toEqual(names.filter((name) => !isOpen(name)));
    for (const path of ['/openapi.json', '/docs']) {
      expect((await library.anonymous().send(path)).status).toBe(200);
    }
  });

  test('with public mode on is let in to look, and to nothing else', async () => {
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
      // A question that is too long for an address.
      'POST /search/by-image',
    ];
    expect(refused.filter((name) => looks.includes(name))).toEqual([]);
    const changes = names.filter(
      (name) => !name.startsWith('GET ') && !isOpen(name) && !looks.includes(name),
    );
    const own = ['GET /auth/me', 'GET /me', 'GET /system/public-mode'];
    expect(refused).toEqual(expect.arrayContaining([...changes, ...own]));
  });

  test('who may not come in does not upload first: 401 before the body is looked at', async () => {
    for (const body of ['{', 'x'.repeat(2 * 1024 * 1024)]) {
      const answer = await library
        .anonymous()
        .send('/posts', { method: 'POST', body, headers: { 'content-type': 'a/b' } });
      expect(answer.status).toBe(401);
    }
  });
});

describe('every answer', () => {
  test('carries an id of its own in x-request-id, errors too, whatever the client claims', async () => {
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

  test('is not to be sniffed, and does not say what made it', async () => {
    const { headers } = await root.send('/auth/me');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
  });
});

describe('health', () => {
  test('GET /healthz and /readyz answer without a sign-in', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(library.address + path);
      expect([path, response.status]).toEqual([path, 200]);
      const wrong = await fetch(library.address + path, { method: 'POST' });
      expect([path, wrong.status, wrong.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
    }
  });

  test('GET /readyz is 503 while the jobs cannot be reached, and /healthz is not', async () => {
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

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Every object of a document with the path that leads to it. */
function* objectsOf(value: Json, path = '#'): Iterable<[string, { [key: string]: Json }]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [key, inner] of Object.entries(value)) yield* objectsOf(inner, `${path}/${key}`);
}

describe('GET /openapi.json', () => {
  async function read(): Promise<string> {
    const answer = await library.anonymous().send('/openapi.json');
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    return answer.text;
  }

  test('is a valid document of OpenAPI 3.0.3', async () => {
    const text = await read();
    await SwaggerParser.validate(JSON.parse(text));
    const document: Json = JSON.parse(text);
    expect(document).toMatchObject({
      openapi: '3.0.3',
      info: { title: 'Vitrine', version: apiVersion },
      servers: [{ url: basePath }],
    });
  });

  test('calls int64 what the specification does: references, counts, sizes', async () => {
    const inner = [...objectsOf(JSON.parse(await read()))]
      .filter(([path]) => /\/(author_user_ref|like_count|file_size_bytes)$/.test(path))
      .map(([, { format }]) => format);
    expect(inner.length).toBeGreaterThan(3);
    expect(new Set(inner)).toEqual(new Set(['int64']));
  });

  test('has every operation, each with an operationId of its own', async () => {
    const { paths }: { paths: Record<string, Record<string, { operationId?: string }>> } = JSON.parse(
      await read(),
    );
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [method.toUpperCase(), path, operationId]),
    );
    const expected = all.map(({ method, path, id }) => [method, path, id]);
    expect(described.sort()).toEqual(expected.sort());
    expect(new Set(described.map(([, , id]) => id)).size).toBe(all.length);
  });

  test('asks for every list alike: 1 to 200 of it, 50 unless said otherwise', async () => {
    const document: Json = JSON.parse(await read());
    const limits = new Map<string, Json>();
    for (const [path, { parameters }] of objectsOf(document)) {
      if (!Array.isArray(parameters)) continue;
      const named = new Map(parameters.flatMap((one) => [...objectsOf(one)].map(([, it]) => [it.name, it])));
      if (named.has('cursor')) limits.set(path, named.get('limit')?.schema ?? null);
    }
    expect(limits.size).toBeGreaterThan(20);
    const asked = { type: 'integer', minimum: 1, maximum: 200, default: 50 };
    expect([...limits].filter(([, schema]) => JSON.stringify(schema) !== JSON.stringify(asked))).toEqual([]);
  });

  test('writes nullables as 3.0 does: no type null, no list of types, no constants', async () => {
    const document: Json = JSON.parse(await read());
    const wrong: string[] = [];
    let nullables = 0;
    for (const [path, object] of objectsOf(document)) {
      const isProperties = path.endsWith('/properties');
      if (isProperties) continue;
      if (object.nullable === true) nullables += 1;
      if (object.type === 'null' || Array.isArray(object.type)) wrong.push(path);
      for (const key of ['const', 'patternProperties', '$schema', '$id', '~kind']) {
        if (key in object) wrong.push(`${path}/${key}`);
      }
      if (object.nullable === true && Array.isArray(object.enum) && !object.enum.includes(null))
        wrong.push(path);
    }
    expect(wrong).toEqual([]);
    expect(nullables).toBeGreaterThan(5);
  });
});

test('GET /docs is a page to read the reference on', async () => {
  const answer = await library.anonymous().send('/docs');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
  expect(answer.text).toMatch(/<html|<!doctype html/i);
  expect(answer.text).toContain('openapi.json');
});

describe('the log', () => {
  const server: pg.ClientConfig = JSON.parse(inject('server'));
  const database = `vitrine_log_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  let directory: string;
  let service: ServiceProcess;

  async function administer(statement: string): Promise<void> {
    const client = new pg.Client({ ...server, database: 'postgres' });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  function addressOfDatabase(): string {
    const { host, port, user, password: word } = server;
    const url = new URL(`postgres://localhost/${database}`);
    url.username = user ?? '';
    if (typeof word === 'string') url.password = word;
    url.searchParams.set('host', host ?? '');
    url.searchParams.set('port', String(port));
    return url.href;
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'vitrine-log-'));
    await chmod(directory, 0o755);
    await administer(`create database ${database} template ${inject('template')}`);
    service = await startProcess(directory, {
      DATABASE_URL: addressOfDatabase(),
      VITRINE_LOG_LEVEL: 'trace',
      VITRINE_ADMIN_USERNAME: 'root',
      VITRINE_ADMIN_PASSWORD: password,
      VITRINE_SCRAMBLE_KEY: 'secret-scramble-key',
    });
  });

  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await administer(`drop database if exists ${database} with (force)`);
    await rm(directory, { recursive: true, force: true });
  });

  test('tells of each request by its id, and of no secret', async () => {
    const visitor = visit(service.address);
    await visitor.ok('login', { body: { username: 'root', password } });
    const token = String(visitor.cookie());
    const body = { username: 'root', password: 'secret-wrong-word', totp_code: 'secret-totp-code' };
    await visitor.send('/auth/login', { method: 'POST', body });
    await visitor.send('/auth/login', { method: 'POST', body: '{"password":"secret-malformed' });
    await visitor.send('/auth/login', { method: 'POST', body: { ...body, 'secret-unknown': 1 } });
    const asked = await visitor.send('/posts?tag=secret-tag&token=secret-query');
    await visitor.send('/auth/me', { headers: { authorization: 'Bearer secret-bearer' } });
    await visitor.send('/nothing?key=secret-missing');
    await visitor.send('/posts?cursor=secret-cursor');
    await visitor.send('/posts/%E0%A4%A?key=secret-badly-encoded');
    await visitor.send('/posts?tag=x', { method: 'DELETE', headers: { 'x-api-key': 'secret-header' } });
    await visitor.ok('logout');

    const lines = service.output().split('\n');
    const entries = lines.filter((line) => line.startsWith('{')).map((line): object => JSON.parse(line));
    expect(entries).toContainEqual(
      expect.objectContaining({
        reqId: asked.headers.get('x-request-id'),
        req: expect.objectContaining({ method: 'GET', path: `${basePath}/posts` }),
      }),
    );
    const secrets = [token, password, encodeURIComponent(password)];
    expect(secrets.filter((secret) => service.output().includes(secret))).toEqual([]);
    expect(lines.filter((line) => line.includes('secret-'))).toEqual([]);
    // Only what was said at every level proves that it was left out on purpose.
    expect(entries.length).toBeGreaterThan(15);
  });
});
