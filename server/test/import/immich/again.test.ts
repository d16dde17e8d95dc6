import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { openLibrary, upload } from '../../support/library.ts';
import { jpeg } from '../../support/pictures.ts';
import { openFakeImmich } from './immich-server.ts';
import { importAndReport, importedAsset, importedId, runImport } from './run.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = library.anonymous();
await root.ok('completeSetup', { body: { username: 'root', password: 'correct horse battery' } });
const bo = await library.join('bo');
await sql`update users set email = 'bo@example.org', email_key = 'bo@example.org', email_confirmed_at = now()
  where ref = ${bo.ref}`.execute(db);
const immich = await openFakeImmich();
let seed = 0;
const picture = async () => {
  seed += 1;
  return Buffer.from(await jpeg(40, 30, { seed }));
};

beforeEach(() => {
  immich.state.interfere = null;
});

const idOf = (old: string, kind?: string) => importedId(library, old, kind);
const shown = (old: string) => importedAsset(library, root, old);
const countAssets = async () =>
  (await sql<{ n: number }>`select count(*) as n from assets`.execute(db)).rows[0]?.n;

// IMPORT-2, IMPORT-9, IMPORT-10, IMPORT-14
test('adds what is new, writes what has changed, and deletes nothing', async () => {
  const [kept, edited, gone, replaced] = [
    immich.addAsset(await picture(), { exif: { description: 'before' } }),
    immich.addAsset(await picture(), { exif: { description: 'before' } }),
    immich.addAsset(await picture()),
    immich.addAsset(await picture()),
  ];
  immich.addTag('Old', kept);
  const member = { role: 'viewer' as const, user: { id: randomUUID(), name: 'bo', email: 'bo@example.org' } };
  const album = immich.addAlbum('Summer', [kept, gone], { members: [member] });
  await importAndReport(library, immich.url);
  await library.runJobs();
  const { report: same } = await importAndReport(library, immich.url);
  expect(same.counts).toEqual({ resources: 4, collections_already_here: 1 });
  expect(immich.requests.filter((request) => request.endsWith('/original'))).toHaveLength(4);
  const count = await countAssets();

  const keptId = await idOf(kept.id);
  const editedId = await idOf(edited.id);
  await root.ok('updateAsset', { params: { id: editedId }, body: { description: 'by hand' } });
  await root.ok('updateAsset', { params: { id: keptId }, body: { tags: [] } });
  expect(await bo.status('GET', `/assets/${keptId}`)).toBe(200);
  kept.exif = { description: 'after' };
  edited.exif = { description: 'after' };
  kept.isFavorite = true;
  replaced.bytes = await picture();
  album.members = [];
  album.name = 'Autumn';
  immich.assets.splice(immich.assets.indexOf(gone), 1);
  const added = immich.addAsset(await picture());
  album.items.push(added.id);
  const { code, report } = await importAndReport(library, immich.url);
  await library.runJobs();
  expect(code).toBe(0);
  expect(report.counts).toMatchObject({ assets_created: 1, versions_added: 1, collections_changed: 1 });
  expect(report.vanished).toEqual([
    { kind: 'resource', id: gone.id, reason: 'is no longer in Immich; its asset stays' },
  ]);
  expect(await countAssets()).toBe(Number(count) + 1);
  expect(await shown(kept.id)).toMatchObject({ description: 'after', tags: ['favourite'] });
  expect((await shown(edited.id)).description).toBe('by hand');
  expect(await bo.status('GET', `/assets/${keptId}`)).toBe(404);
  const collection = { id: await idOf(album.id, 'collection') };
  expect(await bo.status('GET', `/collections/${collection.id}`)).toBe(404);
  const { items } = await root.ok('listCollectionItems', { params: collection, query: {} });
  expect((await root.ok('getCollection', { params: collection })).name).toBe('Autumn');
  expect(items.map(({ asset }) => asset?.id)).toEqual(
    await Promise.all([kept, gone, added].map(({ id }) => idOf(id))),
  );
  // What was made private here stays private if somebody joins the album.
  await root.ok('updateCollection', { params: collection, body: { visibility: 'private' } });
  album.members = [member];
  await importAndReport(library, immich.url);
  expect((await root.ok('getCollection', { params: collection })).visibility).toBe('private');
  expect(await bo.status('GET', `/collections/${collection.id}`)).toBe(404);
});

// IMPORT-12
test('uses the asset of the owner that has the same bytes', async () => {
  const bytes = await picture();
  const mine = await upload(root, new Uint8Array(bytes), {}, 'mine.jpg');
  const asset = immich.addAsset(bytes, { isFavorite: true, isTrashed: true });
  const { report } = await importAndReport(library, immich.url);
  expect(report.counts).toMatchObject({ assets_already_here: 1 });
  expect(await idOf(asset.id)).toBe(mine.id);
  expect(await shown(asset.id)).toMatchObject({ title: 'mine', tags: ['favourite'] });
});

// IMPORT-2
test('continues a run that lost the connection to the server', async () => {
  const assets = [
    immich.addAsset(await picture()),
    immich.addAsset(await picture()),
    immich.addAsset(await picture()),
  ];
  let files = 0;
  immich.state.interfere = (request) => {
    if (request.url?.endsWith('/original') !== true) return false;
    files += 1;
    if (files === 1) return false;
    request.socket.destroy();
    return true;
  };
  const { code, out } = await runImport(library, [immich.url]);
  expect(code).toBe(1);
  expect(out).toContain('cannot be reached');
  const [run] = (await root.ok('listImports')).items;
  expect(run).toMatchObject({ system: 'immich', state: 'failed' });
  immich.state.interfere = null;
  const { code: second, report } = await importAndReport(library, immich.url);
  expect(second).toBe(0);
  expect(report.counts.assets_created).toBe(2);
  for (const { id } of assets) expect((await shown(id)).legacy).toEqual({ system: 'immich', id });
});

// IMPORT-13
test('reports a file that differs from its checksum, and one that cannot be read', async () => {
  const damaged = immich.addAsset(await picture(), { checksum: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' });
  const missing = immich.addAsset(await picture());
  const silent = immich.addAsset(await picture());
  const short = immich.addAsset(await picture());
  immich.state.interfere = (request, response) => {
    if (request.url?.includes(missing.id) === true) {
      response.writeHead(404).end();
      return true;
    }
    if (request.url?.includes(silent.id) === true) {
      response.writeHead(200, { 'content-length': 10_000 }).write('the rest never comes');
      return true;
    }
    if (request.url?.includes(short.id) === true) {
      response.writeHead(200, { 'content-length': 10_000 }).write('half', () => response.destroy());
      return true;
    }
    return false;
  };
  const { code, report } = await importAndReport(library, immich.url);
  expect(code).toBe(3);
  expect(report.hashes.different).toEqual([damaged.id]);
  const reasonFor = (id: string) => report.left_out.find((entry: { id: string }) => entry.id === id)?.reason;
  expect(reasonFor(damaged.id)).toContain('imported as they are');
  expect(reasonFor(missing.id)).toBe('Immich answers with status 404');
  expect(reasonFor(silent.id)).toContain('broke off');
  expect(reasonFor(short.id)).toContain('broke off');
  expect((await shown(damaged.id)).legacy?.id).toBe(damaged.id);
  immich.state.interfere = null;
  const again = await importAndReport(library, immich.url);
  expect(again.report.counts.assets_created).toBe(3);
  expect(await readdir(library.deps.storage.incomingDir)).toEqual([]);
});

// IMPORT-12
test.each([
  ['an unknown key', {}, 'Immich does not know this API key', 'wrong'],
  ['an old version', { version: { major: 1, minor: 120, patch: 0 } }, 'is too old', undefined],
])('refuses %s before anything is written', async (_, state, message, apiKey) => {
  const { version } = immich.state;
  Object.assign(immich.state, state);
  const runs = (await root.ok('listImports')).items.length;
  const { code, out } = await runImport(library, [immich.url], apiKey);
  immich.state.version = version;
  expect(code).toBe(1);
  expect(out).toContain(message);
  expect((await root.ok('listImports')).items).toHaveLength(runs);
});

// IMPORT-12
test.each([
  [
    'redirects',
    302,
    { location: 'https://elsewhere.example/' },
    '',
    'redirects to https://elsewhere.example/',
  ],
  ['lacks a permission', 403, {}, '{}', 'lacks the permission for /api/users/me'],
  ['is not Immich', 200, {}, '<html>', 'does not answer with JSON'],
  ['answers differently', 200, {}, '{"id":1}', 'users/me does not answer as Immich does'],
  ['fails', 500, {}, '', 'answers with status 500'],
])('says that a server %s', async (_, status, headers, body, message) => {
  immich.state.interfere = (request, response) => {
    if (request.url !== '/api/users/me') return false;
    response.writeHead(status, headers).end(body);
    return true;
  };
  const { code, out } = await runImport(library, [`${immich.url}/api/`]);
  expect(code).toBe(1);
  expect(out).toContain(message);
});

// IMPORT-12
test.each([
  [[]],
  [['not an address']],
  [['ftp://immich.example']],
  [['https://user:secret@immich.example']],
  [['https://immich.example', '--user', 'nobody']],
  [['https://immich.example', '--unknown']],
])('refuses the arguments %j', async (args) => {
  expect((await runImport(library, args)).code).toBe(1);
});

// IMPORT-12
test('understands servers from before version 3', async () => {
  immich.state.isThird = false;
  immich.state.version = { major: 1, minor: 140, patch: 0 };
  const asset = immich.addAsset(await picture());
  const album = immich.addAlbum('Of version 2', [asset]);
  expect((await runImport(library, [immich.url])).code).not.toBe(1);
  const { items } = await root.ok('listCollectionItems', {
    params: { id: await idOf(album.id, 'collection') },
    query: {},
  });
  expect(items.map((item) => item.asset?.id)).toEqual([await idOf(asset.id)]);
});
