import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openLibrary } from '../../support/library.ts';
import { jpeg } from '../../support/pictures.ts';
import { key, openFakeImmich } from './immich-server.ts';
import { importAndReport, importedAsset, importedId, runImport } from './run.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = library.anonymous();
await root.ok('completeSetup', { body: { username: 'root', password: 'correct horse battery' } });
const [bo, cy, dan] = await library.joinAll('bo', 'cy', 'dan');
for (const { ref, username } of [bo, cy])
  await sql`update users set email = ${`${username}@example.org`}, email_key = ${`${username}@example.org`},
    email_confirmed_at = case when ${username} = 'bo' then now() end where ref = ${ref}`.execute(db);
const fields = (await root.ok('listFields', { query: { limit: 200 } })).items;

const immich = await openFakeImmich();
const picture = async (seed: number) => Buffer.from(await jpeg(40, 30, { seed }));
const harbour = immich.addAsset(await picture(1), {
  name: 'Hafen ☃.jpg',
  isFavorite: true,
  local: '2024-05-06T23:30:00.000Z',
  exif: {
    description: 'At the harbour',
    city: 'Bergen',
    country: 'Norway',
    dateTimeOriginal: '2024-05-06T21:30:00.000Z',
    timeZone: 'Europe/Oslo',
    latitude: 60.39,
    longitude: 5.32,
    rating: 4,
  },
  people: [{ name: 'Anna' }, { name: '' }, { name: 'Otto', isHidden: true }],
});
const early = immich.addAsset(await picture(2), { local: '2020-01-01T00:00:00.000Z' });
const archived = immich.addAsset(await picture(3), {
  visibility: 'archive',
  local: '2022-01-01T00:00:00.000Z',
});
const trashed = immich.addAsset(await picture(4), { isTrashed: true });
const linked = immich.addAsset(await picture(5));
const external = immich.addAsset(await picture(6), {
  path: '/mnt/photos/a.jpg',
  checksum: createHash('sha1').update('path:/mnt/photos/a.jpg').digest('base64'),
});
const foreign = immich.addAsset(await picture(7), { ownerId: randomUUID() });
immich.addTag('Family/Children', harbour);
immich.addTag('Family', early);
immich.stacks.push([harbour.id, early.id], [linked.id, archived.id]);
const members = ['bo', 'cy', 'zed'].map((name) => ({
  role: 'viewer' as const,
  user: { id: randomUUID(), name, email: `${name.toUpperCase()}@example.org` },
}));
const summer = immich.addAlbum('Summer', [early, harbour, archived, foreign], {
  description: 'By the sea',
  members,
  comments: 2,
});
const alone = immich.addAlbum('Alone', [early, harbour], { order: 'asc' });
immich.addAlbum('Of Zed', [foreign], {
  owner: { id: randomUUID(), name: 'zed', email: 'z@example.org' },
  members: [{ role: 'viewer', user: immich.me }],
});
immich.links.push(
  { key: 'album-key', album: summer.id, password: 'open sesame', allowUpload: true },
  { key: 'one-key', assets: [linked.id] },
  { key: 'two-key', assets: [linked.id, early.id], description: 'for Zed' },
  { key: 'old-key', assets: [linked.id], expiresAt: '2020-01-01T00:00:00.000Z' },
  { key: 'bare-key', assets: [linked.id], showMetadata: false },
);
immich.partners.push({ id: randomUUID(), name: 'Pat', email: 'pat@example.org' });

const dry = await runImport(library, [immich.url, '--dry-run']);
const { rows: written } = await sql`select (select count(*) from imported_ids) as ids,
  (select count(*) from assets) as assets, (select count(*) from import_runs) as runs`.execute(db);
const first = await importAndReport(library, immich.url);
await library.runJobs();

const idOf = (kind: string, old: string) => importedId(library, old, kind);
const shown = (old: string) => importedAsset(library, root, old);

// IMPORT-6
test('says in a dry run what would be imported, and imports nothing', async () => {
  const { code, out } = dry;
  expect(code).toBe(0);
  expect(out).toContain('6 files, 0 of them imported before');
  expect(out).toContain('Summer: 4 files, 3 members');
  expect(out).toContain('no account here has confirmed ZED@example.org');
  expect(out).toContain('old-key: it has expired');
  expect(out).not.toContain(key);
  expect(written).toEqual([{ ids: 0, assets: 0, runs: 0 }]);
});

// IMPORT-12, IMPORT-13
test('imports files with what Immich knows about them', async () => {
  const { code, report } = first;
  expect(code).toBe(3);
  expect(report.counts).toMatchObject({ assets_created: 5, assets_created_in_the_trash: 1, files: 6 });
  expect(report.hashes).toEqual({ compared: 5, equal: 5, different: [] });
  const asset = await shown(harbour.id);
  expect(asset).toMatchObject({
    title: 'Hafen ☃',
    description: 'At the harbour',
    status: 'active',
    legacy: { system: 'immich', id: harbour.id },
    stack: { assets: [await idOf('resource', harbour.id), await idOf('resource', early.id)] },
  });
  expect((await shown(archived.id)).stack?.assets).toEqual([
    await idOf('resource', linked.id),
    await idOf('resource', archived.id),
  ]);
  expect(asset.tags.toSorted()).toEqual(['Children', 'Family', 'favourite']);
  const { items } = await root.ok('listAssetFieldValues', { params: { id: asset.id } });
  const values = Object.fromEntries(
    items.map((item) => [
      fields.find(({ id }) => id === item.field_id)?.code,
      item.value_num ?? item.value_date ?? item.value_options ?? item.value_text,
    ]),
  );
  expect(values).toMatchObject({
    rating: 4,
    people: ['anna'],
    capture_datetime: '2024-05-06T23:30:00+02:00',
    gps_coordinates: '60.390000, 5.320000',
    city: 'Bergen',
    country: 'Norway',
  });
  expect((await shown(early.id)).tags).toEqual(['Family']);
  expect(
    await db.selectFrom('imported_ids').select('target').where('old_id', '=', foreign.id).execute(),
  ).toEqual([]);
});

// IMPORT-14
test('shows files and albums to no more people than before', async () => {
  expect((await shown(archived.id)).status).toBe('archived');
  const trash = await root.ok('listTrash', { query: {} });
  expect(trash.items.map(({ id }) => id)).toEqual([await idOf('resource', trashed.id)]);
  const ids = await Promise.all(
    [harbour, early, archived, linked, external, trashed].map(({ id }) => idOf('resource', id)),
  );
  const seenBy = (account: typeof bo) => Promise.all(ids.map((id) => account.status('GET', `/assets/${id}`)));
  expect(await seenBy(bo)).toEqual([200, 200, 200, 404, 404, 404]);
  for (const account of [cy, dan]) expect(await seenBy(account)).toEqual(ids.map(() => 404));
  const album = { id: await idOf('collection', summer.id) };
  expect(await bo.ok('getCollection', { params: album })).toMatchObject({
    name: 'Summer',
    description: 'By the sea',
  });
  for (const account of [cy, dan])
    expect((await account.refused('getCollection', { params: album })).status).toBe(404);
  expect(
    (await bo.refused('getCollection', { params: { id: await idOf('collection', alone.id) } })).status,
  ).toBe(404);
});

// IMPORT-12
test('keeps the order of albums', async () => {
  const orderOf = async (id: string) => {
    const { items } = await root.ok('listCollectionItems', {
      params: { id: await idOf('collection', id) },
      query: {},
    });
    return items.map((item) => ('asset' in item ? item.asset.id : ''));
  };
  const [one, two, three] = await Promise.all(
    [harbour, archived, early].map(({ id }) => idOf('resource', id)),
  );
  expect(await orderOf(summer.id)).toEqual([one, two, three]);
  expect(await orderOf(alone.id)).toEqual([three, one]);
});

// IMPORT-7, IMPORT-14
test('makes new links, and names what has no counterpart', async () => {
  const { report, out } = first;
  const links: { old_key: string; url: string; password?: string }[] = report.links;
  expect(links.map(({ old_key }) => old_key)).toEqual(['album-key', 'one-key', 'two-key']);
  expect(links[0]?.password).toMatch(/^[\w-]{16}$/);
  expect(JSON.stringify(report)).not.toContain('open sesame');
  expect(out).not.toContain(key);
  const tokenOf = (at: number) => links[at]?.url.slice(-32) ?? '';
  const visitor = library.anonymous();
  expect((await visitor.refused('openLink', { params: { link: tokenOf(0) } })).status).toBe(401);
  expect(JSON.stringify(await visitor.ok('openLink', { params: { link: tokenOf(1) } }))).toContain(
    await idOf('resource', linked.id),
  );
  expect((await visitor.ok('openLink', { params: { link: tokenOf(2) } })).target_kind).toBe('collection');
  const leftOut = report.left_out.map(
    ({ kind, reason }: { kind: string; reason: string }) => `${kind}: ${reason}`,
  );
  for (const expected of [
    'shared link: it has expired',
    'shared link: it hid names and descriptions, which links here show',
    'album: belongs to another account of Immich; import with its key',
    'item: belongs to another account of Immich',
    'member: no account here has confirmed the address of this member of the album',
    'album comments: collections have no comments',
    'partner: Pat sees the whole library there, and was given nothing here',
  ])
    expect(leftOut).toContain(expected);
});

// IMPORT-11
test('lists the run for administrators', async () => {
  const [run] = (await root.ok('listImports')).items;
  expect(run).toMatchObject({ system: 'immich', state: 'done', done: 6, total: 6 });
});
