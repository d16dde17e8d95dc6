import SwaggerParser from '@apidevtools/swagger-parser';
import { apiVersion, basePath, operations } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import { openLibrary } from '../support/library.ts';

const all = Object.values(operations);

const library = await openLibrary();
const answer = await library.anonymous().send('/openapi.json');
expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
/** The document as a client receives it. */
const { text } = answer;
/** The document with all references resolved. */
const resolved: Json = JSON.parse(JSON.stringify(await SwaggerParser.dereference(JSON.parse(text))));

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Returns every object of a document with its path. */
function* objectsOf(value: Json, path = '#'): Iterable<[string, { [key: string]: Json }]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [key, inner] of Object.entries(value)) yield* objectsOf(inner, `${path}/${key}`);
}

describe('GET /openapi.json', () => {
  // HTTP-32
  test('is a valid document of OpenAPI 3.0.3', async () => {
    await SwaggerParser.validate(JSON.parse(text));
    expect(JSON.parse(text)).toMatchObject({
      openapi: '3.0.3',
      info: { title: 'Vitrine', version: apiVersion },
      servers: [{ url: basePath }],
    });
  });

  test('describes references, counts and sizes as int64', async () => {
    const inner = [...objectsOf(JSON.parse(text))]
      .filter(([path]) => /\/(author_user_ref|like_count|file_size_bytes)$/.test(path))
      .map(([, { format }]) => format);
    expect(inner.length).toBeGreaterThan(3);
    expect(new Set(inner)).toEqual(new Set(['int64']));
  });

  // HTTP-32
  test('has every operation with a unique operationId', async () => {
    const { paths }: { paths: Record<string, Record<string, { operationId?: string }>> } = JSON.parse(text);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [method.toUpperCase(), path, operationId]),
    );
    const expected = all.map(({ method, path, id }) => [method, path, id]);
    expect(described.sort()).toEqual(expected.sort());
    expect(new Set(described.map(([, , id]) => id)).size).toBe(all.length);
  });

  // HTTP-7
  test('describes the same limit for every list: 1 to 200, 50 by default', async () => {
    const limits = new Map<string, Json>();
    for (const [path, { parameters }] of objectsOf(resolved)) {
      if (!Array.isArray(parameters)) continue;
      const named = new Map(parameters.flatMap((one) => [...objectsOf(one)].map(([, it]) => [it.name, it])));
      if (named.has('cursor')) limits.set(path, named.get('limit')?.schema ?? null);
    }
    expect(limits.size).toBeGreaterThan(20);
    const asked = { type: 'integer', minimum: 1, maximum: 200, default: 50 };
    expect([...limits].filter(([, schema]) => JSON.stringify(schema) !== JSON.stringify(asked))).toEqual([]);
  });

  // HTTP-32
  test('describes every status and its headers', async () => {
    type Responses = Record<string, { description: string; headers?: Record<string, unknown> }>;
    const { paths }: { paths: Record<string, Record<string, { responses: Responses }>> } = JSON.parse(
      JSON.stringify(resolved),
    );
    const conditional: string[] = [];
    for (const { id, method, path } of all) {
      const responses = paths[path]?.[method.toLowerCase()]?.responses ?? {};
      const due = [400, 401, 405, 429, 431, 500, 503, ...(method === 'GET' ? [] : [413, 415, 507])];
      for (const status of due) expect(responses[status]?.description, `${id} ${status}`).toMatch(/\w/);
      expect(responses[405]?.headers).toHaveProperty('Allow');
      for (const status of [429, 503]) expect(responses[status]?.headers).toHaveProperty('Retry-After');
      if ('304' in responses) conditional.push(id);
    }
    expect(conditional.sort()).toEqual([
      'downloadAccountExport',
      'getAssetFile',
      'getAssetStream',
      'getAssetTile',
      'getAssetVariant',
      'getBaseMap',
      'getLinkFile',
      'getLinkStream',
      'getLinkSubtitles',
      'getLinkTile',
      'getLinkVariant',
      'getLogo',
      'getSubtitles',
    ]);
  });

  // HTTP-32
  test('gives every schema that is used twice a name', async () => {
    const document: { components: { schemas: Record<string, Json> } } = JSON.parse(text);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'Asset',
        'Collection',
        'Comment',
        'Error',
        'FieldDefinition',
        'Post',
        'PostPage',
      ]),
    );
    const seen = new Map<string, string[]>();
    for (const [path, object] of objectsOf(document)) {
      if (!('properties' in object) || /\/(examples|properties)$/.test(path)) continue;
      const schema = JSON.stringify(object);
      seen.set(schema, [...(seen.get(schema) ?? []), path]);
    }
    expect([...seen.values()].filter((paths) => paths.length > 1)).toEqual([]);
  });

  // HTTP-32
  test('names no schema after one of several operations that use it', async () => {
    const { components, paths } = JSON.parse(text);
    const described = Object.values<object>(paths).flatMap((methods) =>
      Object.values(methods).map((it) => JSON.stringify(it)),
    );
    const ofOperations = all
      .flatMap(({ id }) => [`${id}Request`, `${id}Result`])
      .map((name) => name.charAt(0).toUpperCase() + name.slice(1))
      .filter((name) => name in components.schemas);
    expect(ofOperations.length).toBeGreaterThan(20);
    // Responses have the names of their schemas.
    const uses = (name: string) =>
      described.filter((it) => new RegExp(`/${name}(Created|Accepted)?"`).test(it));
    expect(ofOperations.filter((name) => uses(name).length > 1)).toEqual([]);
  });

  test('writes nullables as 3.0 does: no type null, no list of types, no constants', async () => {
    const wrong: string[] = [];
    let nullables = 0;
    for (const [path, object] of objectsOf(JSON.parse(text))) {
      if (path.endsWith('/properties')) continue;
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

// HTTP-32
test('GET /docs is a page to read the reference on', async () => {
  const answer = await library.anonymous().send('/docs');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
  expect(answer.text).toMatch(/<html|<!doctype html/i);
  expect(answer.text).toContain('openapi.json');
});

test('the API reference offers nothing that sends it to another service', async () => {
  const { text } = await library.anonymous().send('/docs/');
  expect(text).toContain('<title>API reference · Vitrine</title>');
  const given: unknown = JSON.parse(
    /createApiReference\([^,]*,\s*(\{[\s\S]*?\})\s*\)/.exec(text)?.[1] ?? '{}',
  );
  expect(given).toMatchObject({
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
  });
});

// HTTP-42
test.each(['/docs/', '/docs/js/scalar.js', '/openapi.json'])('GET %s can be cached', async (path) => {
  const visitor = library.anonymous();
  const plain = await visitor.send(path, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('cache-control')).toBe('public, no-cache');
  expect(plain.headers.get('vary')).toBe('Accept-Encoding');
  const etag = plain.headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\/"/);
  const again = await visitor.send(path, { headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  for (const encoding of ['br', 'zstd', 'gzip']) {
    const sent = await visitor.send(path, { headers: { 'accept-encoding': encoding } });
    expect(sent.headers.get('content-encoding')).toBe(plain.text.length > 0 ? encoding : null);
    expect(sent.text).toBe(plain.text);
  }
});
