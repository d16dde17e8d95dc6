import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DOMParser, type Element } from '@xmldom/xmldom';
import Fastify from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { servePublicFiles } from '../../src/content/public/serve.ts';
import { ENTRIES, openSitemaps } from '../../src/content/public/sitemap.ts';
import { openBudgets } from '../../src/core/budgets.ts';
import { unlimited } from '../../src/platform/http/rate-limit.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { watchStatements } from '../support/statements.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const base = 'https://library.example/sub';
const odd = `Fish & <chips> "salt" 'n' 🍟 $& \u0001`;
const secret = 'Nobody may know';

const posts: Record<string, string> = {};
const collections: Record<string, string> = {};

const webDir = await temporaryDirectory();
// The template of the built page, with the same title and robots tags.
await copyFile(join(import.meta.dirname, '../../../web/src/app.html'), join(webDir, 'index.html'));
const library = await openLibrary({ VITRINE_BASE_URL: base }, { webDir });
const root = await library.join('root', 'admin');
const [ines, hidden] = await library.joinAll('ines', 'hidden');
const named = library.database.db.updateTable('users').set({ display_name: odd });
await named.where('ref', '=', ines.ref).execute();
const person = { hide_from_anonymous: true, display_name: `${secret} person` };
await hidden.ok('updateUser', { params: { ref: hidden.ref }, body: person });
await root.ok('updateSite', { body: { site_name: 'Glass & <house>' } });
const team = (await root.ok('createTeam', { body: { name: `${secret} team`, slug: 'crew' } })).id;
await root.ok('addTeamMember', { params: { id: team, user_ref: ines.ref } });
const shown = await upload(ines, await jpeg(60, 40), { sensitivity: 'posts' });
const picture = shown.id;
const mature = await upload(ines, await jpeg(41, 40), { mature: 'true' });
const other = await upload(hidden, await jpeg(42, 40));
const add = async (name: string, author: Account, member: { id: string }, body: object) => {
  posts[name] = (await publish(author, [member], { title: secret, ...body })).id;
};
await add('odd', ines, shown, {
  title: odd,
  description: `${odd}\n\nmore`,
  tags: ['a&b', 'Öl/1'],
  visibility: 'public',
  team_id: team,
});
await add('mature', ines, mature, { title: 'Mature', tags: ['rated'], visibility: 'public' });
await add('of hidden', hidden, other, { title: 'Of nobody', visibility: 'public' });
await add('draft', ines, shown, { tags: ['secret'], visibility: 'public', draft: true });
await add('here', ines, shown, { tags: ['secret'], visibility: 'org-only' });
await add('private', ines, shown, { tags: ['secret'], visibility: 'private', team_id: team });
const gather = async (name: string, body: { name: string; visibility: 'public' | 'org-only' }) => {
  const { id } = await ines.ok('createCollection', { body });
  collections[name] = id;
  for (const post of ['here', 'odd'])
    await ines.ok('addToCollection', { params: { id, post_id: posts[post] ?? '' } });
};
await gather('open', { name: 'Open & <odd>', visibility: 'public' });
await gather('closed', { name: secret, visibility: 'org-only' });
await library.runJobs();

beforeEach(async () => {
  await library.setPublicMode(true);
  await root.ok('updateSite', { body: { indexing: true } });
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(library.address + path, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const readEntities = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[String(name)] ?? "'",
  );

/** Returns the entries of the head by `property`, `name`, or `rel` and type. */
async function headOf(path: string, asked: Record<string, string> = {}) {
  const { headers, text } = await get(path, asked);
  const said: Record<string, string> = {};
  for (const [, name = '', content = ''] of text.matchAll(
    /<meta (?:property|name)="([^"]*)" content="([^"]*)"/g,
  ))
    said[name] = readEntities(content);
  for (const [, rel = '', type = '', href = ''] of text.matchAll(
    /<link rel="(alternate|canonical)"(?: type="([^"]*)")? href="([^"]*)"/g,
  ))
    said[`${rel} ${type}`.trim()] = readEntities(href);
  const title = readEntities(/<title>([^<]*)<\/title>/.exec(text)?.[1] ?? '');
  return { title, said, text, robots: headers.get('x-robots-tag') };
}

/** Parses an XML document, which must be well formed. */
function parse(text: string): Element {
  const parser = new DOMParser({
    onError: (level, message) => {
      throw new Error(`${level}: ${message}`);
    },
  });
  const root = parser.parseFromString(text, 'application/xml').documentElement;
  if (root === null) throw new Error('an empty document');
  return root;
}

const texts = (from: Element, name: string) =>
  [...from.getElementsByTagName(name)].map((element) => element.textContent);

const idsIn = (xml: string) => texts(parse(xml), 'id').map((id) => id?.replace('urn:uuid:', ''));

/** Expects the page for everything that visitors may not see. */
const plain = { title: 'Vitrine', robots: 'noindex' };

// PUBLIC-4
describe('the head of a page', () => {
  test('describes a public post, with all text escaped', async () => {
    const { title, said, text, robots } = await headOf(`/posts/${posts.odd}`);
    expect(title).toBe(`${odd} · Glass & <house>`);
    expect(robots).toBeNull();
    expect(said).not.toHaveProperty('robots');
    expect(said).toMatchObject({
      'og:title': odd,
      'og:type': 'article',
      'og:site_name': 'Glass & <house>',
      'og:url': `${base}/posts/${posts.odd}`,
      'og:image': `${base}/api/v1/assets/${picture}/variants/preview`,
      'og:image:width': '60',
      'og:image:height': '40',
      canonical: `${base}/posts/${posts.odd}`,
      'alternate application/json+oembed': `${base}/oembed?url=${encodeURIComponent(`${base}/posts/${posts.odd}`)}`,
      'alternate application/atom+xml': `${base}/feeds/users/ines.atom`,
    });
    expect(said.description).toMatch(/^Fish & <chips>.* more$/);
    expect(text).not.toContain('<chips>');
    expect((await get(`/api/v1/assets/${picture}/variants/preview`)).status).toBe(200);
  });

  test('describes the library, a person, a tag and a collection', async () => {
    expect((await headOf('/')).title).toBe('Glass & <house>');
    const person = await headOf('/users/INES');
    expect(person.title).toBe(`${odd} · Glass & <house>`);
    expect(person.said['og:url']).toBe(`${base}/users/ines`);
    expect((await headOf(`/tags/${encodeURIComponent('Öl/1')}`)).title).toBe('Öl/1 · Glass & <house>');
    const collection = await headOf(`/collections/${collections.open}`);
    expect(collection.title).toBe('Open & <odd> · Glass & <house>');
    expect(collection.said['og:image']).toContain(picture);
  });

  // LANGUAGE-4
  test('names a post without a title in the language of the browser', async () => {
    const { id } = await publish(ines, [shown], { visibility: 'public' });
    const german = await get(`/posts/${id}`, { 'accept-language': 'de-AT' });
    expect(german.text).toContain('<title>Ohne Titel · ');
    const feed = await get('/feeds/library.atom', { 'accept-language': 'de-AT' });
    expect(feed.text).toContain('<title>Ohne Titel</title>');
    const address = `/oembed?url=${encodeURIComponent(`${base}/posts/${id}`)}`;
    const embedded = await get(address, { 'accept-language': 'de-AT' });
    expect(JSON.parse(embedded.text)).toMatchObject({ title: 'Ohne Titel' });
    expect(feed.headers.get('vary')).toContain('Accept-Language');
    await ines.ok('deletePost', { params: { id } });
  });

  // PUBLIC-10
  test('has a description in the language of the browser where nobody has written one', async () => {
    const described = async (path: string) =>
      (await headOf(path, { 'accept-language': 'de' })).said.description;
    const site = 'Glass & <house>';
    expect(await described('/')).toBe(`Bilder und andere Dateien, die ${site} allen zeigt.`);
    expect(await described(`/posts/${posts.mature}`)).toBe(`Ein Beitrag von ${odd} auf ${site}.`);
    expect(await described(`/posts/${posts['of hidden']}`)).toBe(`Ein Beitrag auf ${site}.`);
    expect(await described(`/collections/${collections.open}`)).toBe(`Eine Sammlung von ${odd} auf ${site}.`);
    expect(await described('/users/ines')).toBe(`Beiträge von ${odd} auf ${site}.`);
    expect(await described('/tags/rated')).toBe(`Beiträge mit dem Schlagwort rated auf ${site}.`);
    expect(await described(`/posts/${posts.private}`)).toBeUndefined();
  });

  // PUBLIC-10
  test('is the same for every link, and says nothing about it', async () => {
    const params = { id: posts.private ?? '' };
    const { url } = await ines.ok('createPostLink', { params, body: {} });
    const locked = await ines.ok('createPostLink', { params, body: { password: 'harbour view' } });
    const none = await headOf('/s/none');
    expect(none).toMatchObject({
      title: 'Glass & <house>',
      said: { description: 'Files that were shared on Glass & <house>.' },
      robots: 'noindex',
    });
    const tokenOf = (address: string) => new URL(address).pathname.split('/').at(-1) ?? '';
    for (const link of [url, locked.url]) expect(await headOf(`/s/${tokenOf(link)}`)).toEqual(none);
    await library.setPublicMode(false);
    expect(await headOf('/s/none')).toEqual(none);
  });

  // IDENTITY-6
  test('shows no picture that visitors may not see, and names no hidden person', async () => {
    const mature = await headOf(`/posts/${posts.mature}`);
    expect(mature.title).toBe('Mature · Glass & <house>');
    expect(mature.said).not.toHaveProperty('og:image');
    const nobody = await headOf(`/posts/${posts['of hidden']}`);
    expect(nobody.title).toBe('Of nobody · Glass & <house>');
    expect(nobody.text).not.toContain(secret);
    expect(nobody.text).not.toContain('hidden');
  });

  // PUBLIC-6
  test('is the same for unreadable and missing pages', async () => {
    const missing = await headOf('/posts/00000000-0000-4000-8000-00000000dead');
    expect(missing).toMatchObject(plain);
    const paths = [
      ...['draft', 'here', 'private'].map((name) => `/posts/${posts[name]}`),
      `/collections/${collections.closed}`,
      '/users/hidden',
      '/users/nobody-here',
      '/tags/secret',
      '/tags/%00',
      '/posts/no-uuid',
      `/teams/${team}`,
      `/assets/${picture}`,
      '/admin/site',
      '/sign-in',
    ];
    for (const path of paths) expect([path, await headOf(path)]).toEqual([path, missing]);
  });

  // PUBLIC-6
  test('is that of a 404 for visitors, and says nothing to others', async () => {
    const statusOf = async (path: string, cookie = {}) => (await get(path, cookie)).status;
    for (const path of [
      `/posts/${posts.private}`,
      '/posts/none',
      '/users/hidden',
      `/collections/${collections.closed}`,
    ])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    for (const path of [`/posts/${posts.odd}`, '/users/ines', '/sign-in', '/admin/site'])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    // The page of a signed-in caller says so itself.
    expect(await statusOf(`/posts/${posts.private}`, { cookie: `user=${root.cookie()}` })).toBe(200);
    await library.setPublicMode(false);
    expect(await statusOf(`/posts/${posts.private}`)).toBe(200);
  });
});

// PUBLIC-4
describe('feeds', () => {
  test('contain the newest posts that visitors may see, as well-formed XML', async () => {
    const { status, headers, text } = await get('/feeds/library.atom');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    expect(idsIn(text).slice(1)).toEqual([posts['of hidden'], posts.mature, posts.odd]);
    expect(text).not.toContain(secret);
    expect(texts(parse(text), 'title')).toContain(odd.replace('\u0001', ''));
    const terms = [...parse(text).getElementsByTagName('category')].map((one) => one.getAttribute('term'));
    expect(terms).toEqual(expect.arrayContaining(['a&b', 'Öl/1', 'rated']));
    expect(texts(parse(text), 'name')).not.toContain(null);
  });

  test('exist for people, tags and teams', async () => {
    expect(idsIn((await get('/feeds/users/Ines.atom')).text).slice(1)).toEqual([posts.mature, posts.odd]);
    for (const path of ['tags/a%26b', 'tags/%C3%96l%2F1', `teams/${team}`]) {
      const { status, text } = await get(`/feeds/${path}.atom`);
      expect([path, status, idsIn(text).slice(1)]).toEqual([path, 200, [posts.odd]]);
      expect(text).not.toContain(secret);
    }
  });

  // PUBLIC-6
  test('return 404 for what visitors may not see', async () => {
    const other = (await root.ok('createTeam', { body: { name: 'Other', slug: 'other' } })).id;
    const hiding = ['users/hidden', 'users/none', 'tags/secret', 'tags/none', 'tags/%00', 'other'];
    for (const path of [...hiding, `teams/${other}`, 'teams/x'])
      expect([path, (await get(`/feeds/${path}.atom`)).status]).toEqual([path, 404]);
  });

  test('return 304 while they are unchanged', async () => {
    const first = await get('/feeds/library.atom');
    const etag = first.headers.get('etag') ?? '';
    // Weak, because the client may have received it compressed.
    expect(etag).toMatch(/^W\/"/);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const again = await get('/feeds/library.atom', { 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('the sitemap', () => {
  const all = () => ['odd', 'mature', 'of hidden'].map((name) => `${base}/posts/${posts[name]}`);

  test('contains the public posts', async () => {
    const { status, text } = await get('/sitemap.xml');
    expect([status, texts(parse(text), 'loc')]).toEqual([200, all()]);
    expect((await get('/robots.txt')).text).toBe(`User-agent: *\nAllow: /\nSitemap: ${base}/sitemap.xml\n`);
  });

  test('is split into parts with an index if there are too many posts', async () => {
    const server = Fastify();
    servePublicFiles(server, library.deps, openBudgets(unlimited, library.config.limits), 2);
    const index = parse((await server.inject('/sitemap.xml')).body);
    expect(index.nodeName).toBe('sitemapindex');
    const found: (string | null)[][] = [];
    for (const part of texts(index, 'loc'))
      found.push(texts(parse((await server.inject(part?.replace(base, '') ?? '')).body), 'loc'));
    expect(found).toEqual([all().slice(0, 2), all().slice(2)]);
    await server.close();
    for (const [part, status] of [
      ['nonsense', 400],
      ['0', 400],
      ['1', 200],
      ['2', 404],
    ])
      expect([part, (await get(`/sitemap.xml?part=${part}`)).status]).toEqual([part, status]);
  });

  // PUBLIC-9
  test('repeats the host of a request only if it is this machine', async () => {
    const server = Fastify();
    const config = { ...library.config, baseUrl: null };
    servePublicFiles(server, { ...library.deps, config }, openBudgets(unlimited, library.config.limits));
    const ask = (host: string) => async (url: string) =>
      (await server.inject({ url, headers: { host } })).body;
    const [here, elsewhere] = [ask('127.0.0.1:8420'), ask('evil.example')];
    expect(await here('/sitemap.xml')).toContain('<loc>http://127.0.0.1:8420/');
    expect(await here('/robots.txt')).toContain('Sitemap: http://127.0.0.1:8420/sitemap.xml');
    for (const url of ['/sitemap.xml', '/robots.txt', '/feeds/library.atom'])
      expect(await elsewhere(url)).not.toMatch(/evil|Sitemap/);
    await server.close();
  });

  // PUBLIC-8
  test('is checked once for concurrent requests, written once while nothing changes, and always current', {
    tags: ['one-process'],
  }, async () => {
    const sitemaps = openSitemaps(library.deps.db, ENTRIES);
    const read = async (count: number) => {
      const asked = () =>
        Promise.all(
          Array.from({ length: count }, (_, n) => sitemaps.read(`https://host${n}.example`, undefined)),
        );
      const [answers, statements] = await watchStatements(library, asked);
      const found = answers.map((text) => texts(parse(text), 'loc').length);
      return { found: [...new Set(found)], statements: statements.length };
    };
    expect(await read(50)).toEqual({ found: [3], statements: 3 });
    expect(await read(50)).toEqual({ found: [3], statements: 1 });
    const params = { id: posts.odd ?? '' };
    await ines.ok('updatePost', { params, body: { visibility: 'private' } });
    expect(await read(1)).toEqual({ found: [2], statements: 2 });
    await ines.ok('updatePost', { params, body: { visibility: 'public' } });
    expect(await read(1)).toEqual({ found: [3], statements: 2 });
    const text = await sitemaps.read('https://a&$&.example', undefined);
    expect(texts(parse(text), 'loc')[0]).toBe(`https://a&$&.example/posts/${posts.odd}`);
  });

  // PUBLIC-5
  test('is missing while indexing is off, and pages ask search engines not to index them', async () => {
    await root.ok('updateSite', { body: { indexing: false } });
    const { title, said, robots } = await headOf(`/posts/${posts.odd}`);
    expect([title, robots, said.robots]).toEqual([`${odd} · Glass & <house>`, 'noindex', 'noindex']);
    expect((await get('/sitemap.xml')).status).toBe(404);
    expect((await get('/robots.txt')).text).toBe('User-agent: *\nAllow: /\n');
    expect((await get('/feeds/library.atom')).status).toBe(200);
  });
});

// PUBLIC-7
describe('oEmbed', () => {
  const embed = (url: string, more = '') => get(`/oembed?url=${encodeURIComponent(url)}${more}`);

  test('returns the picture of a post', async () => {
    const { status, headers, text } = await embed(`${base}/posts/${posts.odd}`);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(JSON.parse(text)).toEqual({
      type: 'photo',
      version: '1.0',
      title: odd,
      author_name: odd,
      author_url: `${base}/users/ines`,
      provider_name: 'Glass & <house>',
      provider_url: base,
      url: `${base}/api/v1/assets/${picture}/variants/preview`,
      width: 60,
      height: 40,
    });
    const image = await get(`/api/v1/assets/${picture}/variants/preview`);
    expect(image.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  test('returns a link if no picture fits or visitors may see none', async () => {
    const typeOf = async (answer: ReturnType<typeof get>) => JSON.parse((await answer).text).type;
    expect(await typeOf(embed(`${base}/posts/${posts.odd}`, '&maxwidth=50'))).toBe('link');
    expect(await typeOf(embed(`${base}/posts/${posts.odd}`, '&maxwidth=60&maxheight=40'))).toBe('photo');
    expect(await typeOf(embed(`${base}/posts/${posts.mature}`))).toBe('link');
    expect(await typeOf(embed(`${base}/collections/${collections.open}`))).toBe('link');
  });

  test('refuses unknown addresses and what visitors may not see', async () => {
    for (const url of [
      `${base}/posts/${posts.draft}`,
      `${base}/posts/${posts.here}`,
      `${base}/users/hidden`,
      `https://elsewhere.example/sub/posts/${posts.odd}`,
      `https://library.example/posts/${posts.odd}`,
      'nonsense',
    ])
      expect([url, (await embed(url)).status]).toEqual([url, 404]);
    expect((await get('/oembed')).status).toBe(400);
    expect((await embed(`${base}/posts/${posts.odd}`, '&format=xml')).status).toBe(501);
    expect((await embed(`${base}/posts/${posts.odd}`, '&maxwidth=x')).status).toBe(400);
  });
});

// PUBLIC-4
test('no public page answers while public mode is off', async () => {
  await library.setPublicMode(false);
  const paths = ['/sitemap.xml', '/feeds/library.atom', '/feeds/users/none.atom', `/oembed?url=${base}/`];
  for (const path of paths) {
    const { status, text } = await get(path, { cookie: `user=${root.cookie()}` });
    expect([path, status, text]).toEqual([path, 401, '{"error":"sign in first"}']);
  }
  for (const path of ['/', `/posts/${posts.odd}`, '/users/ines'])
    expect(await headOf(path)).toMatchObject({ ...plain, said: { robots: 'noindex' } });
  expect((await get('/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
});

test('a visitor over the rate limit is refused by feeds, and still gets pages', async () => {
  const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on', VITRINE_ANONYMOUS_LIMIT: '5' }, { webDir });
  await limited.setPublicMode(true);
  const statuses: number[] = [];
  for (let count = 0; count < 8; count += 1)
    statuses.push((await fetch(`${limited.address}/feeds/library.atom`)).status);
  expect(statuses).toContain(429);
  expect((await fetch(`${limited.address}/`)).status).toBe(200);
});
