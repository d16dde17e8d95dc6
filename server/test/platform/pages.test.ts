import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import cookie from '@fastify/cookie';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { servePages } from '../../src/platform/http/pages.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const server = Fastify();

const directory = await temporaryDirectory();
const root = join(directory, 'build');
await mkdir(join(root, '_app/immutable/chunks'), { recursive: true });
await writeFile(join(root, 'index.html'), 'the page');
await writeFile(join(root, '_app/immutable/chunks/old.js'), 'old');
await mkdir(join(root, '_app/immutable/chunks/nodes/1~nodes'), { recursive: true });
await writeFile(join(root, '_app/immutable/chunks/nodes/1~nodes/2.A-b_c.css'), 'style');
await mkdir(join(root, '_app/de.12345678/chunks'), { recursive: true });
await writeFile(join(root, 'index.de.html'), 'die Seite');
await writeFile(join(root, '_app/de.12345678/chunks/words.js'), 'Worte');
await server.register(cookie);
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
  await writeFile(join(directory, 'secret.js'), 'secret');
  await mkdir(join(root, '.git'));
  await writeFile(join(root, '.git/secret.js'), 'secret');
  const paths = [
    '/../secret.js',
    '/..%2Fsecret.js',
    '/_app/..%5C..%5Csecret.js',
    '/_app/immutable/chunks/../../../../secret.js',
    '/_app/immutable/chunks/..%2F..%2F..%2F..%2Fsecret.js',
    '/.git/secret.js',
    '/_app/immutable//chunks/old.js',
    `/${'long'.repeat(100)}.js`,
    '/no%00thing.js',
  ];
  for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 404]);
  // A folder is not a file.
  expect((await get('/_app/immutable')).text).toBe('the page');
  expect((await get('/posts/of/mine')).text).toBe('the page');
});

// LANGUAGE-1
test('serves the page in the language that the person chose, else in that of the browser, else in English', async () => {
  const pageFor = async (language: string, cookies: Record<string, string> = {}) =>
    (await server.inject({ url: '/', headers: { 'accept-language': language }, cookies })).body;
  expect(await pageFor('de-AT,de;q=0.9,en;q=0.8')).toBe('die Seite');
  expect(await pageFor('en-GB, de;q=0.5')).toBe('the page');
  expect(await pageFor('de;q=0, fr')).toBe('the page');
  expect(await pageFor('tlh, *;q=0.1')).toBe('the page');
  expect(await pageFor('fr', { language: 'de' })).toBe('die Seite');
  expect(await pageFor('de', { language: 'en' })).toBe('the page');
  expect(await pageFor('de', { language: '../../secret' })).toBe('die Seite');
  expect((await server.inject('/')).headers.vary).toContain('Cookie, Accept-Language');
});

// LANGUAGE-2
test('serves the scripts of a language, and the shared ones below the address of the language', async () => {
  const forGood = 'public, max-age=31536000, immutable';
  expect(await get('/_app/de.12345678/chunks/words.js')).toEqual({
    status: 200,
    text: 'Worte',
    cached: forGood,
  });
  expect(await get('/_app/de.12345678/chunks/old.js')).toEqual({ status: 200, text: 'old', cached: forGood });
  expect(await get('/_app/de.12345678/chunks/nodes/1~nodes/2.A-b_c.css')).toEqual({
    status: 200,
    text: 'style',
    cached: forGood,
  });
  expect((await get('/_app/de.12345678/chunks/none.js')).status).toBe(404);
});
