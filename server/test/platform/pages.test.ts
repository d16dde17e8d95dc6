import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { servePages } from '../../src/platform/http/pages.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const server = Fastify();

const root = await temporaryDirectory();
await mkdir(join(root, '_app/immutable/chunks'), { recursive: true });
await writeFile(join(root, 'index.html'), 'the page');
await writeFile(join(root, '_app/immutable/chunks/old.js'), 'old');
await servePages(server, root);

afterAll(() => server.close());

async function get(url: string): Promise<{ status: number; text: string; cached: unknown }> {
  const { statusCode: status, body: text, headers } = await server.inject(url);
  return { status, text, cached: headers['cache-control'] };
}

test('serves a new build without a restart, and no other files', async () => {
  const forGood = 'public, max-age=31536000, immutable';
  expect(await get('/_app/immutable/chunks/old.js')).toEqual({ status: 200, text: 'old', cached: forGood });
  expect((await get('/_app/immutable/chunks/new.js')).status).toBe(404);
  await writeFile(join(root, '_app/immutable/chunks/new.js'), 'new');
  await writeFile(join(root, 'secret.js'), 'secret');
  expect(await get('/_app/immutable/chunks/new.js')).toEqual({ status: 200, text: 'new', cached: forGood });
  for (const path of [
    '/secret.js',
    '/_app/immutable/chunks/../../../secret.js',
    '/_app/immutable/chunks/..%2F..%2F..%2Fsecret.js',
  ])
    expect((await get(path)).text).not.toBe('secret');
  expect((await get('/posts/of/mine')).text).toBe('the page');
});
