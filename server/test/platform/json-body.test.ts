import { basePath } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import { openLibrary, password, upload } from '../support/library.ts';
import { nowhere as missing } from '../support/people.ts';
import { plainFile, plainText } from '../support/pictures.ts';
import { errorOf, raw } from './wire.ts';

// platform/contract-bounds.test.ts proves that every operation refuses values outside its schemas.

const library = await openLibrary();
const root = await library.join('root', 'admin');
const hash = (await upload(root, plainFile())).file_hash ?? '';

/** Returns the status and the message of a refusal. */
async function refusalOf(path: string, body: unknown, method = 'POST'): Promise<[number, string]> {
  const answer = await root.send(path, { method, body });
  return [answer.status, errorOf(answer)];
}

describe('a JSON body is accepted unchanged or refused', () => {
  // HTTP-11, HTTP-12
  test('with a message that names the wrong property', async () => {
    const one = { asset_id: missing };
    const posts: [body: object, message: string][] = [
      [{ members: [one], colour: 1 }, 'unknown property colour'],
      [{ members: [{ ...one, colour: 1 }] }, 'unknown property members.0.colour'],
      [{ members: [one], constructor: 1 }, 'unknown property constructor'],
      [{ members: [one], title: null }, 'title '],
      [{ members: [one], draft: 'true' }, 'draft '],
      [{ members: [one], cover_focal_x: '0.5' }, 'cover_focal_x '],
      [{ members: {} }, 'members '],
      [{ members: [{ ...one, sort_order: '1' }] }, 'members.0.sort_order '],
    ];
    for (const [body, message] of posts)
      expect(await refusalOf('/posts', body)).toEqual([400, expect.stringContaining(message)]);
    // Operations without a body refuse properties too.
    expect(await refusalOf(`/posts/${missing}/publish`, { state_id: missing })).toEqual([
      400,
      'unknown property state_id',
    ]);
  });

  test('with a message that says what is malformed', async () => {
    const malformed = ['{', '{"username":', "{'username':'a'}", '{"a":1,}', '{}{}', '\ufeff{', 'NaN'];
    for (const body of [...malformed, '{"username":"\u0001"}'])
      expect([body, ...(await refusalOf('/auth/login', body))]).toEqual([body, 400, 'malformed JSON']);
    for (const body of ['null', '[]', '"text"', '5', 'true', '[{"username":"a","password":"b"}]'])
      expect([body, (await refusalOf('/auth/login', body))[0]]).toEqual([body, 400]);
  });

  // HTTP-12
  test('if it is missing, with and without a content type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const sent = { method: 'POST', headers: { ...headers, 'content-length': '0' } };
      const answer = await raw(library, root, `${basePath}/auth/login`, sent);
      expect(answer.status).toBe(400);
      errorOf(answer);
    }
  });

  // HTTP-11
  test('accepts `{}` for an operation without a body', async () => {
    const path = `/tags/glass/follow`;
    expect([await root.status('PUT', path), await root.status('PUT', path, {})]).toEqual([204, 204]);
    expect(await refusalOf(path, { because: 'x' }, 'DELETE')).toEqual([400, 'unknown property because']);
    expect(await root.status('DELETE', path, [])).toBe(400);
    expect(await root.status('DELETE', path)).toBe(204);
  });

  test('if it reaches for a prototype, in metadata too', async () => {
    for (const body of [
      '{"username":"a","password":"b","__proto__":{"admin":true}}',
      '{"username":"a","password":"b","constructor":{"prototype":{"admin":true}}}',
      '{"username":"a","password":"b","\\u005f_proto__":1}',
    ])
      expect([body, (await refusalOf('/auth/login', body))[0]]).toEqual([body, 400]);
    const metadata = '{"a":{"__proto__":{"admin":true}}}';
    expect((await refusalOf('/assets', `{"file_hash":"${hash}","metadata":${metadata}}`))[0]).toBe(400);
    expect('admin' in {}).toBe(false);
  });

  // HTTP-12
  test('if it is deeply nested, in a form too', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    for (const deep of [
      nested(400_000),
      nested(20_000),
      `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    ]) {
      expect((await refusalOf('/auth/login', deep))[0]).toBe(400);
      const metadata = `{"file_hash":"${hash}","metadata":{"a":${deep}}}`;
      expect((await refusalOf('/assets', metadata))[0]).toBe(400);
    }
    const form = new FormData();
    form.append('metadata', `{"a":${nested(100_000)}}`);
    form.append('file', new Blob([plainFile('deep form')]), 'a.bin');
    expect((await refusalOf('/assets', form))[0]).toBe(400);
    const fine = `{"file_hash":"${hash}","metadata":{"a":${nested(20)}}}`;
    expect((await root.send('/assets', { method: 'POST', body: fine })).status).toBe(201);
  });

  // HTTP-15
  test('if it has more than 1 MiB, with a length or chunked', async () => {
    const limit = 1024 * 1024;
    const frame = '{"username":"a","password":""}';
    const sized = (bytes: number) => frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
    expect((await refusalOf('/auth/login', sized(limit)))[0]).toBe(400);
    const text = sized(limit + 1);
    expect(await refusalOf('/auth/login', text)).toEqual([413, 'body too large']);
    const chunks = Array.from({ length: 5 }, (_, i) => text.slice(i * 250_000, (i + 1) * 250_000));
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const inPieces = await raw(library, root, `${basePath}/auth/login`, { method: 'POST', headers, chunks });
    expect([inPieces.status, errorOf(inPieces)]).toEqual([413, 'body too large']);
  });

  // HTTP-15
  test.each([
    ['POST', '/auth/login', 'text/plain'],
    ['POST', '/auth/login', 'application/merge-patch+json'],
    ['POST', '/posts', 'multipart/form-data; boundary=x'],
    ['PATCH', `/assets/${missing}`, 'text/plain'],
    ['POST', '/assets', 'image/jpeg'],
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

// HTTP-13
test('NUL is refused in names of properties, in metadata, lists, forms and addresses', async () => {
  const file_hash = 'a'.repeat(64);
  const bodies: [string, unknown][] = [
    ['/posts', JSON.stringify({ members: [{ asset_id: missing }] }).replace('{', '{"a\\u0000b":1,')],
    ['/posts', { members: [{ asset_id: missing }], tags: ['fine', '\0'] }],
    ['/assets', { file_hash, metadata: { deep: [{ 'k\0': 1 }] } }],
    ['/assets', { file_hash, metadata: { deep: [{ k: '\0' }] } }],
  ];
  for (const name of ['title', 'description', 'tags']) {
    const form = new FormData();
    form.append(name, 'a\0b');
    form.append('file', new Blob([plainText()]), 'a.txt');
    bodies.push(['/assets', form]);
  }
  for (const [path, body] of bodies)
    expect([path, body, (await refusalOf(path, body))[0]]).toEqual([path, body, 400]);
  for (const path of ['/posts?tag=a&tag=b%00', '/posts?cursor=%00', `/assets/${missing}/variants/col%00`])
    expect([path, await root.status('GET', path)]).toEqual([path, 400]);
});

// HTTP-12
test('refuses numbers that JSON cannot represent', async () => {
  for (const number of ['1e400', '-1e400', '9'.repeat(400)]) {
    const body = `{"code":"endless","label":"x","type":"text","options":{"note":{"deep":[${number}]}}}`;
    expect(await refusalOf('/fields', body)).toEqual([400, 'body contains a number that is too large']);
  }
});
