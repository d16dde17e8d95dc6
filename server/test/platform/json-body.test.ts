import { basePath } from '@vitrine/contract/operations';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Answered } from '../support/client.ts';
import { type Account, type Library, openLibrary, password, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';
import { errorOf, raw } from './wire.ts';

const missing = '00000000-0000-4000-8000-00000000dead';

let library: Library;
let root: Account;
let asset: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  asset = (await upload(root, plainText('for posts'))).id;
});

async function post(path: string, body: unknown): Promise<Answered> {
  return root.send(path, { method: 'POST', body });
}

describe('a JSON body is accepted unchanged or refused', () => {
  // HTTP-11
  test.each([
    ['PUT', '/system/public-mode', { enabled: true, colour: 'red' }, 'colour'],
    ['POST', '/auth/login', { username: 'a', password: 'b', 'remember me': true }, 'remember me'],
    ['POST', '/posts', { members: [{ asset_id: missing, colour: 1 }] }, 'members.0.colour'],
    ['POST', '/posts', { members: [{ asset_id: missing }], colour: 1 }, 'colour'],
    ['POST', '/posts', { members: [{ asset_id: missing }], constructor: 1 }, 'constructor'],
    // Operations without a body also refuse such a property.
    ['POST', `/posts/${missing}/publish`, { state_id: missing }, 'state_id'],
    ['DELETE', `/posts/${missing}/like`, { colour: 1 }, 'colour'],
  ])('%s %s with an unknown property is 400 and names it', async (method, path, body, named) => {
    const answer = await root.send(path, { method, body });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(`unknown property ${named}`);
  });

  // HTTP-12
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

  // HTTP-12
  test('refuses a missing body, with and without a content type', async () => {
    const path = `${basePath}/auth/login`;
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await raw(library, root, path, {
        method: 'POST',
        headers: { ...headers, 'content-length': '0' },
      });
      expect(answer.status).toBe(400);
      errorOf(answer);
    }
  });

  // HTTP-11
  test('accepts `{}` for an operation without a body and refuses properties by name', async () => {
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

  test('does not let metadata reach a prototype', async () => {
    const { file_hash } = await upload(root, plainText('bytes with metadata'));
    const body = `{"file_hash":"${file_hash}","metadata":{"a":{"__proto__":{"admin":true}}}}`;
    expect((await post('/assets', body)).status).toBe(400);
    expect('admin' in {}).toBe(false);
  });

  // HTTP-12
  test('refuses deeply nested JSON anywhere', async () => {
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

  // HTTP-15
  test('refuses more than 1 MiB with 413, with a length or chunked', async () => {
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
    const inPieces = await raw(library, root, `${basePath}/auth/login`, { method: 'POST', headers, chunks });
    expect(inPieces.status).toBe(413);
    errorOf(inPieces);
  });

  // HTTP-15
  test.each([
    ['POST', '/auth/login', 'text/plain'],
    ['POST', '/auth/login', 'application/x-www-form-urlencoded'],
    ['POST', '/auth/login', 'application/xml'],
    ['POST', '/auth/login', 'application/jsonp'],
    ['POST', '/auth/login', 'application/merge-patch+json'],
    ['POST', '/auth/login', 'multipart/form-data; boundary=x'],
    ['POST', '/posts', 'multipart/form-data; boundary=x'],
    ['PUT', '/system/public-mode', 'multipart/form-data; boundary=x'],
    ['PATCH', '/assets/00000000-0000-4000-8000-0000000000ff', 'text/plain'],
    ['POST', '/assets', 'image/jpeg'],
    ['POST', '/assets', 'application/octet-stream'],
  ])('%s %s as %s is 415', async (method, path, type) => {
    const body = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n';
    const answer = await root.send(path, { method, body, headers: { 'content-type': type } });
    expect(answer.status).toBe(415);
    errorOf(answer);
  });

  test('accepts a charset beside application/json', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const body = { username: 'root', password };
    const answer = await library.anonymous().send('/auth/login', { method: 'POST', body, headers });
    expect(answer.status).toBe(200);
  });
});

describe('NUL is refused everywhere', () => {
  // HTTP-13
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
