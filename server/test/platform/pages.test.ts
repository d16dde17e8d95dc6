import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { servePages } from '../../src/platform/http/pages.ts';

const server = Fastify();

const root = await mkdtemp(join(tmpdir(), 'vitrine-pages-'));
await mkdir(join(root, '_app/immutable/chunks'), { recursive: true });
await writeFile(join(root, 'index.html'), 'the page');
await writeFile(join(root, '_app/immutable/chunks/old.js'), 'old');
await servePages(server, root);

afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

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
