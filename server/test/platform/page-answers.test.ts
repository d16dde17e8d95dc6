import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { FirstAnswers } from '@vitrine/contract/page-kinds';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const webDir = await temporaryDirectory();
await writeFile(join(webDir, 'index.html'), '<head><title>Vitrine</title></head><body><p>page</p></body>');
const preloads = {
  feed: ['_app/immutable/chunks/feed.js', '_app/immutable/assets/feed.css'],
  link: ['link.js'],
};
await writeFile(join(webDir, 'index.json'), JSON.stringify(preloads));
const library = await openLibrary({}, { webDir });
const [ines, otto] = await library.joinAll('ines', 'otto');
const { id: picture } = await upload(ines, await jpeg(60, 40), { sensitivity: 'posts' });
await library.runJobs();
const title = '</script><img src="x">';
const shared = await publish(ines, [{ id: picture }], { title, visibility: 'org-only' });
const closed = await publish(ines, [{ id: picture }], { title: 'Only mine', visibility: 'private' });

const visit = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' };

interface Page {
  html: string;
  headers: Record<string, string | string[] | undefined>;
  answers: FirstAnswers | null;
}

/** Opens a page with these headers, from this address of the machine. */
async function openPage(
  path: string,
  headers: Record<string, string>,
  { address } = library,
  localAddress = '127.0.0.1',
): Promise<Page> {
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  const sent = request(`${address}${path}`, { headers, localAddress }, (response) => {
    let html = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      html += part;
    });
    response.on('end', () => {
      const text = /id="first-answers">([^<]*)</.exec(html)?.[1];
      resolve({ html, headers: response.headers, answers: text === undefined ? null : JSON.parse(text) });
    });
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}

const as = (account: { cookie(): string | undefined }) => ({ ...visit, cookie: `user=${account.cookie()}` });
const feed = '/api/v1/posts?limit=50&sort=newest&feed=latest';

// APP-5
test('a visit brings the answers to what its page reads first, as its caller would get them', async () => {
  const { answers, headers, html } = await openPage('/', as(otto));
  expect(headers['cache-control']).toBe('private, no-store');
  expect(headers['vitrine-account']).toBe(String(otto.ref));
  expect(JSON.parse(answers?.['/api/v1/auth/me']?.[1] ?? '')).toMatchObject({ username: 'otto' });
  const { items } = JSON.parse(answers?.[feed]?.[1] ?? '');
  expect(items).toMatchObject([{ id: shared.id, title }]);
  expect(html).not.toContain('Only mine');
  expect(html).toContain(`/api/v1/assets/${picture}/variants/preview?v=`);
  const own = await openPage(`/posts/${closed.id}`, as(ines));
  expect(own.answers?.[`/api/v1/posts/${closed.id}`]?.[0]).toBe(200);
  const foreign = await openPage(`/posts/${closed.id}`, as(otto));
  expect(Object.keys(foreign.answers ?? {})).not.toContain(`/api/v1/posts/${closed.id}`);
  expect(foreign.html).not.toContain('Only mine');
});

// APP-5
test('a visitor of a private library is led to the sign-in page, which brings only what it needs', async () => {
  await library.join('mara', 'admin');
  const { html, headers: led } = await openPage('/tags?q=a', visit);
  expect([html, led.location]).toEqual(['', '/sign-in?next=%2Ftags%3Fq%3Da']);
  expect(led['cache-control']).toBe('private, no-store');
  const { answers, headers } = await openPage('/sign-in', visit);
  expect(Object.keys(answers ?? {}).sort()).toEqual([
    '/api/v1/appearance',
    '/api/v1/auth/me',
    '/api/v1/auth/providers',
    '/api/v1/setup/status',
  ]);
  expect(answers?.['/api/v1/auth/me']?.[0]).toBe(401);
  expect(headers['vitrine-account']).toBe('');
});

// APP-5
test('a visit renews the session as its requests would', async () => {
  await sql`update sessions set last_used_at = now() - interval '2 days' where user_ref = ${otto.ref}`.execute(
    library.deps.db,
  );
  const { headers } = await openPage('/', as(otto));
  expect(String(headers['set-cookie'])).toContain(`user=${otto.cookie()};`);
});

// APP-5
test('what a page brings counts towards the rate limit of the address that visits', async () => {
  const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on', VITRINE_ANONYMOUS_LIMIT: '10' }, { webDir });
  const broughtTo = async (from: string) =>
    Object.keys((await openPage('/sign-in', visit, limited, from)).answers ?? {}).length;
  await expect.poll(() => broughtTo('127.0.0.2')).toBeLessThan(4);
  expect(await broughtTo('127.0.0.1')).toBe(4);
});

// APP-5
test.each([
  ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
  ['a frame', { 'sec-fetch-dest': 'iframe' }],
  ['a link on another site', { 'sec-fetch-site': 'cross-site' }],
  ['a browser that reads ahead', { 'sec-purpose': 'prefetch' }],
  ['an older service worker', { 'service-worker-navigation-preload': 'true' }],
])('the page for %s brings no answers and may be kept', async (_, headers) => {
  const page = await openPage('/', { ...as(otto), ...headers });
  expect(page.answers).toBeNull();
  expect(page.html).toContain('page');
  expect(page.headers['cache-control']).toBe('no-cache');
});

// APP-5
test('the page names the files that its kind loads first, and what it reads unless it brings the answers', async () => {
  const files = '</_app/immutable/chunks/feed.js>; rel=modulepreload';
  const brought = (await openPage('/', as(otto))).headers.link;
  expect(brought).toContain(files);
  expect(brought).toContain('</_app/immutable/assets/feed.css>; rel=preload; as=style; crossorigin');
  expect(brought).not.toContain('/api/');
  const plain = (await openPage('/', { cookie: `user=${otto.cookie()}` })).headers.link;
  expect(plain).toContain(files);
  expect(plain).toContain(`<${feed}>; rel=preload; as=fetch; crossorigin`);
  expect((await openPage('/s/some-token', visit)).headers.link).toBe('</link.js>; rel=modulepreload');
});

// APP-5
test('the page of a post names its picture in all widths', async () => {
  const { html } = await openPage(`/posts/${shared.id}`, as(otto));
  expect(html).toMatch(
    new RegExp(`<link rel="preload" as="image" href="/api/v1/assets/${picture}/variants/preview`),
  );
  expect(html).toContain('fetchpriority="high"');
  expect((await openPage(`/posts/${closed.id}`, as(otto))).html).not.toContain(picture);
});

// APP-5
test('the page of a link names its pictures, unless it has a password, and does not count as an opening', async () => {
  const params = { id: shared.id };
  const open = await ines.ok('createPostLink', { params, body: {} });
  const { html } = await openPage(new URL(open.url).pathname, visit);
  const token = new URL(open.url).pathname.split('/').at(-1);
  expect(html).toContain(`href="/api/v1/links/${token}/assets/${picture}/variants/preview"`);
  const locked = await ines.ok('createPostLink', { params, body: { password: 'a long password' } });
  expect((await openPage(new URL(locked.url).pathname, visit)).html).not.toContain(picture);
  const { items } = await ines.ok('listPostLinks', { params });
  expect(items.map(({ opened_count }) => opened_count)).toEqual([0, 0]);
});
