import type { Asset, AssetQuery } from '@vitrine/contract/assets';
import type { Insertable } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Tables } from '../../src/platform/database/tables.ts';
import { change, define } from '../fields/define.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { bearer, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { watchStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';

/** The access matrix covers which assets each kind of caller is given, in lists, by filters and alone. */

type Fields = Partial<Insertable<Tables['assets']>>;

async function add(fields: Fields, tags: readonly string[] = []): Promise<string> {
  const { db } = library.deps;
  const file = { file_hash: hash, file_name: 'a.jpg', processing_status: 'ready' } as const;
  const { id } = await db
    .insertInto('assets')
    .values({ owner_user_ref: owner.ref, asset_type: 1, ...file, ...fields })
    .returning('id')
    .executeTakeFirstOrThrow();
  const rows = tags.map((value, position) => ({ asset_id: id, value, position, source: 'manual' as const }));
  if (rows.length > 0) await db.insertInto('asset_tags').values(rows).execute();
  return id;
}

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [owner, stranger, keeper] = await library.joinAll('owner', 'stranger', 'keeper');
const studio = await addTeam(library, 'studio');
await grant(library, keeper, 'assets.admin');
const hash = (await upload(owner, plainFile())).file_hash ?? '';
await library.deps.db.deleteFrom('assets').execute();
const restricted = { sensitivity: 'restricted', team_id: studio } as const;
const town: [string, Fields, string[]][] = [
  ['open', {}, ['sea', 'blue']],
  ['document', { asset_type: 2 }, ['sea']],
  ['draft', { status: 'draft' }, ['sea']],
  ['restricted', restricted, ['sea', 'secret']],
  ['unowned', { ...restricted, owner_user_ref: null }, []],
  ['deleted', { deleted_at: '2026-02-03T04:05:06Z', deleted_reason: 'twice there' }, ['sea']],
  ['deleted in silence', { deleted_at: '2026-02-03T04:05:06Z', sensitivity: 'restricted' }, []],
];
for (const [at, [title, fields, tags]] of town.entries())
  await add({ title, created_at: `2026-01-01T00:00:0${at}Z`, ...fields }, tags);

/** Returns the assets of all pages of a list in order. */
const listed = async (visitor: Visitor, query: AssetQuery = {}): Promise<Asset[]> =>
  (await pagesOf((from) => visitor.ok('listAssets', { query: { limit: 3, ...query, ...from } }))).flat();

const natural = new Intl.Collator('und', { numeric: true }).compare;
const nameOf = (asset: Asset) => (asset.restricted ? 'withheld' : asset.title);
const names = async (visitor: Visitor, query?: AssetQuery) => (await listed(visitor, query)).map(nameOf);

describe('GET /assets', () => {
  // ASSET-1, ASSET-4, ASSET-5, HTTP-6, POST-21
  test('lists placeholders with only `id`, `restricted` and the name of the owner, if any', async () => {
    expect(await names(stranger)).toEqual(['withheld', 'withheld', 'document', 'open']);
    const [unowned, restricted] = await listed(stranger);
    expect(unowned).toEqual({ id: unowned?.id, restricted: true });
    expect(restricted).toEqual({ id: restricted?.id, restricted: true, owner_display_name: 'owner' });
    const params = { id: restricted?.id ?? '' };
    expect(await stranger.ok('getAsset', { params })).toEqual(restricted);
  });

  // ASSET-12
  test('shows `sensitivity` only to the owner and administrators', async () => {
    const told = async (visitor: Visitor) =>
      (await listed(visitor)).filter((asset) => !asset.restricted && 'sensitivity' in asset).map(nameOf);
    const own = ['restricted', 'draft', 'document', 'open'];
    expect([await told(stranger), await told(owner)]).toEqual([[], own]);
    expect(await told(keeper)).toEqual(['unowned', ...own]);
  });

  // ASSET-22
  test('filters by columns that the caller is shown, in full pages', async () => {
    const cases: [AssetQuery, keeper: string[], stranger: string[]][] = [
      [{ tag: ['sea'] }, ['restricted', 'draft', 'document', 'open'], ['document', 'open']],
      [{ tag: ['sea', 'blue'] }, ['open'], ['open']],
      [{ tag: ['sea', 'secret'] }, ['restricted'], []],
      [{ team_id: studio }, ['unowned', 'restricted'], []],
      [{ owner_ref: owner.ref, status: 'draft' }, ['draft'], []],
      [{ tag: ['sea'], sort: 'oldest', asset_type: 1 }, ['open', 'draft', 'restricted'], ['open']],
    ];
    for (const [query, found, shown] of cases) {
      const asked = { ...query, limit: 2 };
      expect([query, await names(keeper, asked)]).toEqual([query, found]);
      expect([query, await names(stranger, asked)]).toEqual([query, shown]);
      const page = await keeper.ok('listAssets', { query: asked });
      expect(page.items).toHaveLength(Math.min(2, found.length));
    }
  });

  test('matches tags exactly, including case and punctuation', async () => {
    const odd = ['50% %_', 'a,b', "l'été", 'Sea', '日本', '"q"', 'a&b=c'];
    const id = await add({ asset_type: 6 }, odd);
    const found = async (tag: string) =>
      (await listed(owner, { tag: [tag], asset_type: 6 })).map((asset) => asset.id);
    for (const tag of odd) expect([tag, await found(tag)]).toEqual([tag, [id]]);
    for (const tag of ['50', '%', 'sea', 'SEA', 'a']) expect([tag, await found(tag)]).toEqual([tag, []]);
  });
});

describe('orders by title and size', () => {
  // ASSET-34
  test('count numbers in titles as numbers and contain only assets whose columns are shown', async () => {
    const titles = ['IMG 10', 'img 9', 'IMG 2', 'Éclair 1', 'a'];
    for (const title of titles) await add({ title, asset_type: 3 });
    await add({ ...restricted, title: 'IMG 5', asset_type: 3 });
    const byTitle = ['a', 'Éclair 1', 'IMG 2', 'IMG 5', 'img 9', 'IMG 10'];
    for (const limit of [2, 5, 50])
      expect(await names(owner, { asset_type: 3, sort: 'title', limit })).toEqual(byTitle);
    expect(await names(owner, { asset_type: 3, sort: 'title_desc', limit: 2 })).toEqual(byTitle.toReversed());
    const shown = byTitle.filter((title) => title !== 'IMG 5');
    expect(await names(stranger, { sort: 'title' })).toEqual(
      [...shown, '', 'document', 'open'].toSorted(natural),
    );
  });

  test('order by the size of the file, also after it changed', async () => {
    const other = (await upload(owner, plainFile('longer than the other one'))).file_hash ?? '';
    const ids = [
      await add({ title: 'small', asset_type: 4 }),
      await add({ title: 'changed', asset_type: 4 }),
    ];
    await library.deps.db
      .updateTable('assets')
      .set({ file_hash: other })
      .where('id', '=', ids[1] ?? '')
      .execute();
    const query = { asset_type: 4, limit: 1 };
    expect(await names(owner, { ...query, sort: 'largest' })).toEqual(['changed', 'small']);
    expect(await names(owner, { ...query, sort: 'smallest' })).toEqual(['small', 'changed']);
  });

  test('order by the time taken as everyone may read it, otherwise by the time added', async () => {
    const times = { created_at: '2026-05-02T00:00:00.000Z' };
    const [first, second] = [
      await add({ ...times, title: 'first' }, ['dated']),
      await add({ ...times, title: 'second' }, ['dated']),
    ];
    await add({ ...times, title: 'undated' }, ['dated']);
    const taken = await define(root, { type: 'datetime' });
    await change(root, taken.id, { extraction_source: 'capture_datetime' });
    const set = (id: string, value_date: string) =>
      owner.ok('setAssetFieldValue', { params: { id, field_id: taken.id }, body: { value_date } });
    await set(first, '2026-01-01T00:00:00Z');
    await set(second, '2026-06-01T00:00:00Z');
    const inOrder = (sort: 'taken' | 'taken_oldest') => names(owner, { tag: ['dated'], limit: 1, sort });
    expect(await inOrder('taken')).toEqual(['second', 'undated', 'first']);
    await set(second, '2025-06-01T00:00:00Z');
    expect(await inOrder('taken_oldest')).toEqual(['second', 'first', 'undated']);
    await owner.ok('clearAssetFieldValue', { params: { id: first, field_id: taken.id }, body: undefined });
    expect((await inOrder('taken_oldest'))[0]).toBe('second');
    const { db } = library.deps;
    const stored = async () =>
      (await db.selectFrom('assets').select('taken_at').where('id', '=', second).executeTakeFirst())
        ?.taken_at;
    expect(await stored()).not.toBeNull();
    const body = { read_capability: 'fields.admin' as const };
    await root.ok('updateField', { params: { id: taken.id }, body });
    expect(await stored()).toBeNull();
  });

  test('refuse the cursor of another order', async () => {
    const { next_cursor } = await owner.ok('listAssets', { query: { limit: 1, sort: 'title' } });
    for (const sort of ['newest', 'largest'] as const) {
      const query = { sort, cursor: next_cursor ?? '' };
      expect(await owner.refused('listAssets', { query })).toMatchObject({ status: 400 });
    }
  });
});

// ASSET-35
test('GET /assets/count counts what the caller is shown', async () => {
  const counted = (visitor: Visitor, query: AssetQuery = {}) => visitor.ok('countAssets', { query });
  expect(await counted(owner, { tag: ['sea'] })).toEqual({ total: 4, capped: false });
  expect(await counted(stranger, { tag: ['sea'] })).toEqual({ total: 2, capped: false });
  expect(await counted(stranger, { tag: ['secret'] })).toEqual({ total: 0, capped: false });
});

describe('pages', () => {
  const idsOf = (assets: readonly { id: string }[]) => assets.map(({ id }) => id);

  test('have 50 assets by default, newest first by time and id, and the last one has no cursor', async () => {
    const walls: string[] = [];
    // Five assets share each time, so that the id decides.
    for (let at = 0; at < 55; at += 1) {
      const created_at = `2026-03-01T00:00:${String(Math.floor(at / 5)).padStart(2, '0')}.500Z`;
      walls.push(`${created_at} ${await add({ asset_type: 5, created_at })}`);
    }
    const ids = walls.toSorted().map((wall) => wall.slice(-36));
    const newest = ids.toReversed();
    const page = await owner.ok('listAssets', { query: { asset_type: 5 } });
    expect(page.items).toHaveLength(50);
    const exact = await owner.ok('listAssets', { query: { asset_type: 5, limit: 55 } });
    expect([idsOf(exact.items), exact.next_cursor]).toEqual([newest, null]);
    for (const limit of [7, 54, 200])
      expect([limit, idsOf(await listed(owner, { asset_type: 5, limit }))]).toEqual([limit, newest]);
    const oldest = await listed(owner, { asset_type: 5, limit: 50, sort: 'oldest' });
    expect(idsOf(oldest)).toEqual(ids);
  });

  test('have one of four statements with a constant limit, so that PostgreSQL keeps its plan', {
    tags: ['one-process'],
  }, async () => {
    const limitsOf = async (query: AssetQuery) => {
      const [, statements] = await watchStatements(library, () => stranger.ok('listAssets', { query }));
      const lists = statements.filter(({ text }) => text.includes('from assets a'));
      return lists.map(({ text }) => /limit (\S+)$/.exec(text)?.[1]);
    };
    for (const [limit, read] of [
      [1, '25'],
      [24, '25'],
      [50, '51'],
      [200, '201'],
    ] as const)
      expect(await limitsOf({ limit })).toEqual([read]);
    expect(await limitsOf({ limit: 24, asset_type: 5 })).toEqual([expect.stringMatching(/^\$\d+$/)]);
  });
});

describe('include_deleted', () => {
  const all: AssetQuery = { include_deleted: true, limit: 200 };

  // ASSET-23, HTTP-6
  test('adds deleted assets for system.admin, with time and reason, and no bytes', async () => {
    const items = await listed(root, all);
    const [silent, reasoned] = items.filter((asset) => 'deleted_at' in asset);
    expect(reasoned).toMatchObject({
      restricted: false,
      title: 'deleted',
      tags: ['sea'],
      deleted_at: '2026-02-03T04:05:06Z',
      deleted_reason: 'twice there',
      // Assets in the trash are served to nobody, and visitors do not see them.
      preview_available: false,
      ladder_available: false,
      anonymously_visible: false,
    });
    expect(silent).toMatchObject({ title: 'deleted in silence', deleted_reason: null });
    expect(items.filter((asset) => !('deleted_at' in asset))).toEqual(await listed(root, { limit: 200 }));
    for (const path of ['', '/file', '/variants/col'])
      expect([path, await root.status('GET', `/assets/${reasoned?.id}${path}`)]).toEqual([path, 404]);
  });

  // ASSET-23
  test('combines with filters, also for tokens to read, and is ignored for others', async () => {
    const script = await bearer(library, root, ['read']);
    const found = await names(script, { ...all, tag: ['sea'] });
    expect(found).toEqual(['deleted', 'restricted', 'draft', 'document', 'open']);
    for (const who of [owner, keeper])
      expect(await listed(who, all)).toEqual(await listed(who, { limit: 200 }));
  });
});
