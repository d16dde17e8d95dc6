import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { wire } from '../extraction/files.ts';
import { change } from '../fields/define.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { planOf } from '../support/plans.ts';
import { statementLike, watchStatements } from '../support/statements.ts';

/** The access matrix covers whose assets are counted. */

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [mara, tom] = await library.joinAll('mara', 'tom');
const taken = await wire(library, root, 'datetime', { source: 'capture_datetime' });
const place = await wire(library, root, 'text', { source: 'gps_coordinates' });

const put = (who: Visitor, id: string, field_id: string, body: object) =>
  who.ok('setAssetFieldValue', { params: { id, field_id }, body });

interface Described {
  at?: string;
  where?: string;
  sensitivity?: string;
}

/** Uploads a file with these values, and returns its id. */
async function add(title: string, { at, where, sensitivity = 'org' }: Described, owner: Account = mara) {
  const { id } = await upload(owner, plainFile(title), { title, sensitivity });
  if (at !== undefined) await put(owner, id, taken, { value_date: at });
  if (where !== undefined) await put(owner, id, place, { value_text: where });
  return id;
}

const monthsOf = async (who: Visitor, of?: string) =>
  (await who.ok('getTimeline', { query: of === undefined ? {} : { of } })).months.map(({ month, count }) => [
    month,
    count,
  ]);
const clustersOf = async (who: Visitor, bbox: string, zoom: number) =>
  (await who.ok('listPlaces', { query: { bbox, zoom } })).clusters;
const titlesOf = async (who: Visitor, query: object) =>
  (await pagesOf((from) => who.ok('listAssets', { query: { sort: 'taken', limit: 1, ...query, ...from } })))
    .flat()
    .map((asset) => (asset.restricted ? 'withheld' : asset.title));

const WORLD = '-180,-90,180,90';
const MUNICH = '48.137154, 11.576124';

beforeAll(async () => {
  await add('evening', { at: '2019-12-24T20:00:00Z', where: MUNICH });
  await add('morning', { at: '2019-12-24T08:00:00Z', where: '48.140000, 11.580000' });
  // On the clock there, the new year had begun; in UTC it had not.
  await add('new year', { at: '2020-01-01T00:30:00+09:00', where: '35.658581, 139.745433' });
  await add('first year', { at: '0001-01-01T00:00:00Z', where: '-89.9, -179.9' });
  await add('last year', { at: '9999-12-31T23:59:59Z', where: '90, 180' });
  await add('undated', { where: 'at home' });
  await add('own', { at: '2019-12-01T00:00:00Z', where: MUNICH, sensitivity: 'restricted' }, tom);
});

describe('the timeline', () => {
  // BROWSE-1, BROWSE-2
  test('counts files by the month on the clock where they were taken, the newest first', async () => {
    const all = [
      ['9999-12', 1],
      ['2020-01', 1],
      ['2019-12', 2],
      ['0001-01', 1],
      [null, 1],
    ];
    expect(await monthsOf(mara)).toEqual(all);
    expect(await monthsOf(tom)).toEqual(all.map(([month, n]) => [month, month === '2019-12' ? 3 : n]));
    expect(await monthsOf(tom, 'me')).toEqual([['2019-12', 1]]);
    expect(await monthsOf(mara, String(tom.ref))).toEqual([]);
    expect((await mara.send('/assets/timeline?of=everyone')).status).toBe(400);
    expect((await library.anonymous().send('/assets/timeline')).status).toBe(401);
  });

  // BROWSE-3
  test('lists the files of a month, of a day in all years, and of unknown time', async () => {
    expect(await titlesOf(mara, { taken_month: '2019-12' })).toEqual(['evening', 'morning']);
    expect(await titlesOf(mara, { taken_month: '2020-01' })).toEqual(['new year']);
    expect(await titlesOf(mara, { taken_month: '0001-01' })).toEqual(['first year']);
    expect(await titlesOf(mara, { taken_month: '9999-12' })).toEqual(['last year']);
    expect(await titlesOf(mara, { taken_month: 'unknown' })).toEqual(['undated']);
    expect(await titlesOf(mara, { taken_day: '12-24' })).toEqual(['evening', 'morning']);
    for (const query of ['taken_month=2019-13', 'taken_month=0000-01', 'taken_day=02-32', 'taken_month=x'])
      expect((await mara.send(`/assets?${query}`)).status).toBe(400);
  });

  // BROWSE-4
  test('leaves out values that were removed, and those of fields that not everyone may read', async () => {
    const id = await add('brief', { at: '2001-02-03T00:00:00Z', where: '10, 10' });
    expect(await monthsOf(mara)).toContainEqual(['2001-02', 1]);
    await mara.ok('clearAssetFieldValue', { params: { id, field_id: taken } });
    await mara.ok('clearAssetFieldValue', { params: { id, field_id: place } });
    expect(await monthsOf(mara)).toContainEqual([null, 2]);
    expect(await clustersOf(mara, '9,9,11,11', 10)).toEqual([]);
    await mara.ok('deleteAsset', { params: { id }, body: undefined });
    for (const field of [taken, place]) await change(root, field, { read_capability: 'system.admin' });
    expect([await monthsOf(mara), await clustersOf(mara, WORLD, 3)]).toEqual([[[null, 6]], []]);
    for (const field of [taken, place]) await change(root, field, { clear_read_capability: true });
    expect(await monthsOf(mara)).toHaveLength(5);
    expect(await clustersOf(mara, WORLD, 0)).not.toEqual([]);
  });
});

// BROWSE-1
test('the timeline and the map leave out pictures of profiles that are in no post, and the timeline of an account has them', async () => {
  const face = await add('face', { at: '2018-05-06T00:00:00Z', where: '60, 60' }, tom);
  const set = (avatar_asset_id: string | null) =>
    db.updateTable('users').set({ avatar_asset_id }).where('ref', '=', tom.ref).execute();
  const seen = async (who: Visitor, of?: string) =>
    (await monthsOf(who, of)).some(([month]) => month === '2018-05');
  expect([await seen(mara), (await clustersOf(mara, '59,59,61,61', 9)).length]).toEqual([true, 1]);
  await set(face);
  expect([await seen(mara), await clustersOf(mara, '59,59,61,61', 9)]).toEqual([false, []]);
  expect(await seen(tom, 'me')).toBe(true);
  await set(null);
  await tom.ok('deleteAsset', { params: { id: face }, body: undefined });
});

// BROWSE-1, FED-33, VERSION-6
test('the timeline and the map count files of peers until their last share ends, and files while a new version is prepared', async () => {
  await library.setPublicMode(true);
  const id = await add('guest', { at: '2017-03-04T00:00:00Z', where: '70, 70', sensitivity: 'public' });
  const set = (
    visible_until: string | null,
    processing_status: 'ready' | 'pending',
    interim: 'shown' | 'none',
  ) =>
    db
      .updateTable('assets')
      .set({ visible_until, processing_status, interim_hash: interim === 'shown' ? sql`file_hash` : null })
      .where('id', '=', id)
      .execute();
  const seen = async (who: Visitor) => [
    (await monthsOf(who)).some(([month]) => month === '2017-03'),
    (await clustersOf(who, '69,69,71,71', 9)).length,
  ];
  const both = async () => [await seen(library.anonymous()), await seen(tom)];
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const [shown, hidden] = [
    [true, 1],
    [false, 0],
  ];
  await set(null, 'pending', 'none');
  expect(await both()).toEqual([hidden, shown]);
  await set(inHours(1), 'ready', 'none');
  expect(await both()).toEqual([shown, shown]);
  await set(inHours(-1), 'ready', 'none');
  expect(await both()).toEqual([hidden, hidden]);
  await set(null, 'pending', 'shown');
  expect(await both()).toEqual([shown, shown]);
  await mara.ok('deleteAsset', { params: { id }, body: undefined });
  await library.setPublicMode(false);
});

describe('the map', () => {
  // BROWSE-5
  test('splits clusters as the zoom increases, down to single files', async () => {
    const far = await clustersOf(mara, WORLD, 1);
    expect(far.map(({ count }) => count).sort()).toEqual([1, 1, 1, 2]);
    expect(far[0]).toEqual({ lat: 48.138577, lon: 11.578062, count: 2 });
    const near = await clustersOf(mara, '11.57,48.13,11.59,48.15', 16);
    expect(near.map(({ lat, lon }) => [lat, lon]).sort()).toEqual([
      [48.137154, 11.576124],
      [48.14, 11.58],
    ]);
    const shown = near.map(({ asset_id = '' }) => mara.ok('getAsset', { params: { id: asset_id } }));
    expect((await Promise.all(shown)).every(({ restricted }) => !restricted)).toBe(true);
    expect(await clustersOf(mara, '11.577,48.138,11.59,48.15', 16)).toHaveLength(1);
    // A whole world of small cells is counted in larger ones.
    expect(await clustersOf(mara, WORLD, 22)).toHaveLength(4);
  });

  // BROWSE-6
  test.each([
    '12,47,10,49',
    '10,49,12,47',
    '170,-10,190,10',
    '0,0,0,91',
    'NaN,0,1,1',
    '0,0,1',
    '1e1,0,1,1',
    '',
  ])('refuses the box %j', async (bbox) => {
    expect((await mara.send(`/assets/places?zoom=3&bbox=${bbox}`)).status).toBe(400);
    expect((await mara.send(`/assets?bbox=${bbox}`)).status).toBe(400);
  });

  // BROWSE-6
  test('refuses a zoom that is not a whole number from 0 to 22', async () => {
    for (const zoom of ['99', '-1', '1.5', 'x', ''])
      expect((await mara.send(`/assets/places?bbox=${WORLD}&zoom=${zoom}`)).status).toBe(400);
    expect((await mara.send(`/assets/places?bbox=${WORLD}`)).status).toBe(400);
    expect((await mara.send('/assets/places?zoom=3')).status).toBe(400);
  });

  // BROWSE-7
  test('lists the files inside a box and on its edges', async () => {
    expect(await titlesOf(mara, { bbox: '11,48,12,49' })).toEqual(['evening', 'morning']);
    expect(await titlesOf(mara, { bbox: '11.576124,48.137154,11.576124,48.137154' })).toEqual(['evening']);
    expect(await titlesOf(mara, { bbox: '-180,-90,180,90', taken_month: '2020-01' })).toEqual(['new year']);
  });

  // BROWSE-5
  test('shows thousands of files at one point as one cluster at every zoom, from an index', async () => {
    await sql`insert into assets (owner_user_ref, title, file_name, file_hash, asset_type, sensitivity, processing_status,
        taken_at, taken_on, latitude, longitude)
      select ${tom.ref}, 'x', 'x', file_hash, 1, 'org', 'ready', '1970-01-01T00:00Z', '1970-01-01', -45, 170
      from generate_series(1, 4000), (select file_hash from assets limit 1) f`.execute(db);
    await sql`vacuum analyze assets`.execute(db);
    for (const zoom of [0, 22])
      expect(await clustersOf(mara, '169,-46,171,-44', zoom)).toEqual([{ lat: -45, lon: 170, count: 4000 }]);
    const [, statements] = await watchStatements(library, async () => {
      await clustersOf(mara, '169,-46,171,-44', 8);
      await mara.ok('listAssets', { query: { bbox: '11,48,12,49' } });
      await mara.ok('listAssets', { query: { taken_day: '12-24' } });
      await mara.ok('listAssets', { query: { taken_month: 'unknown', sort: 'taken' } });
    });
    const indexesOf = async (pattern: RegExp) =>
      (await planOf(library, statementLike(statements, pattern))).map((node) => node['Index Name']);
    expect(await indexesOf(/a\.place_cell >= cell\.low/)).toContain('assets_by_place');
    expect(await indexesOf(/a\.place_cell\s+between/)).toContain('assets_by_place');
    expect(await indexesOf(/extract\(month/)).toContain('assets_by_day_of_year');
    expect(await indexesOf(/a\.taken_on is null/)).toContain('assets_untaken');
  });
});

// BROWSE-8
test('a file has no similar files before it is compared, and returns 404 if the caller is not shown it', async () => {
  const [own, hidden] = [await add('own text', {}), await add('hidden', { sensitivity: 'restricted' })];
  const similar = await mara.ok('listSimilarAssets', { params: { id: own } });
  expect(similar).toEqual({ items: [], next_cursor: null });
  for (const id of [hidden, nowhere])
    expect((await tom.refused('listSimilarAssets', { params: { id } })).status).toBe(404);
  expect((await mara.send('/assets/none/similar')).status).toBe(400);
});

/** Gives a file bytes of its own, with this print. */
async function addPrinted(print: string, sensitivity: string, owner = mara, mature = false): Promise<string> {
  const id = await add(`printed ${print} ${sensitivity} ${mature}`, { sensitivity }, owner);
  await sql`insert into picture_prints (file_hash, print, pieces)
    select a.file_hash, ${print}::bit(128),
      array(select k * 65536 + substring(${print}::bit(128) from k * 16 + 1 for 16)::integer from generate_series(0, 3) k)
    from assets a where a.id = ${id}`.execute(db);
  if (mature) await sql`update assets set mature = true where id = ${id}`.execute(db);
  return id;
}

// BROWSE-8
test('similar files are ordered by distance, without those whose bytes the caller does not get', async () => {
  const print = '10'.repeat(64);
  const changed = (bits: number) => `${print.slice(0, 128 - bits)}${'0'.repeat(bits)}`;
  const first = await addPrinted(print, 'org');
  const near = await addPrinted(changed(8), 'org');
  await addPrinted(changed(6), 'restricted', tom);
  await addPrinted(changed(4), 'org', tom, true);
  const far = await addPrinted(changed(32), 'org');
  await addPrinted(changed(80), 'org');
  const { items } = await mara.ok('listSimilarAssets', { params: { id: first } });
  expect(items.map(({ asset, distance }) => [asset.id, distance])).toEqual([
    [near, 4 / 128],
    [far, 16 / 128],
  ]);
});

describe('the directory of people', () => {
  const namesOf = async (who: Visitor, query: object = {}) =>
    (await pagesOf((from) => who.ok('listPeople', { query: { limit: 2, ...query, ...from } })))
      .flat()
      .map(({ display_name }) => display_name);

  beforeAll(async () => {
    const people = [
      ['ada', 'Ada 10', 'active', false],
      ['bea', 'Ada 9', 'active', true],
      ['cleo', 'Cleo', 'disabled', false],
    ] as const;
    for (const [name, display_name, status, hide_from_anonymous] of people) {
      const { ref } = await library.join(name);
      const set = { display_name, status, hide_from_anonymous, fullname: `${name} 100% Lind` };
      await db.updateTable('users').set(set).where('ref', '=', ref).execute();
    }
  });

  // USER-23
  test('lists active accounts by name, page by page, and finds them by the names that the caller sees', async () => {
    expect(await namesOf(mara)).toEqual(['Ada 9', 'Ada 10', 'mara', 'root', 'tom']);
    expect(await namesOf(mara, { q: 'LIND' })).toEqual(['Ada 9', 'Ada 10']);
    expect(await namesOf(mara, { q: '100%' })).toEqual(['Ada 9', 'Ada 10']);
    expect(await namesOf(mara, { q: 'BEA' })).toEqual(['Ada 9']);
    expect(await namesOf(mara, { q: '_' })).toEqual([]);
    expect((await mara.send('/users?cursor=x')).status).toBe(400);
  });

  // USER-23
  test('shows visitors no account that hides from them, and no full name', async () => {
    expect((await library.anonymous().send('/users')).status).toBe(401);
    await library.setPublicMode(true);
    const visitor = library.anonymous();
    expect(await namesOf(visitor)).toEqual(['Ada 10', 'mara', 'root', 'tom']);
    expect(await namesOf(visitor, { q: 'Lind' })).toEqual([]);
    expect(JSON.stringify(await visitor.ok('listPeople', {}))).not.toContain('Lind');
    await library.setPublicMode(false);
  });
});

// BROWSE-9
test('the base map is the file of the data directory, entirely or in parts, and follows its replacement', async () => {
  const file = join(library.config.dataDir, 'map.pmtiles');
  const read = (headers: Record<string, string> = {}) =>
    fetch(`${library.address}/api/v1/base-map`, { headers: { cookie: `user=${mara.cookie()}`, ...headers } });
  expect((await read()).status).toBe(204);
  await mkdir(file);
  expect((await read()).status).toBe(204);
  await rm(file, { recursive: true });
  await writeFile(file, 'the first map');
  const whole = await read();
  expect([whole.status, await whole.text()]).toEqual([200, 'the first map']);
  const etag = whole.headers.get('etag') ?? '';
  expect((await read({ 'if-none-match': etag })).status).toBe(304);
  const part = await read({ range: 'bytes=4-8' });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 4-8/13',
    'first',
  ]);
  expect((await read({ range: 'bytes=13-' })).status).toBe(416);
  await writeFile(file, 'another map');
  const next = await read({ 'if-none-match': etag, 'if-range': etag, range: 'bytes=0-2' });
  expect([next.status, await next.text()]).toEqual([200, 'another map']);
  await rm(file);
  expect((await read()).status).toBe(204);
  expect((await fetch(`${library.address}/api/v1/base-map`)).status).toBe(401);
});
