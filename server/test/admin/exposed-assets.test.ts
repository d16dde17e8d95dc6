import type { Sensitivity } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const curator = await library.join('curator');
await grant(library, curator, 'assets.admin');
const [owner, stranger] = await library.joinAll('owner', 'stranger');

beforeEach(async () => {
  await db.updateTable('assets').set({ sensitivity: 'restricted' }).execute();
});

const add = async (sensitivity: Sensitivity, visibility?: 'public' | 'org-only' | 'private') => {
  const asset = await upload(owner, plainFile(), { sensitivity });
  if (visibility !== undefined) await publish(owner, [asset], { visibility });
  return asset.id;
};
const exposed = async () => {
  const { items, total } = await curator.ok('listExposedAssets');
  expect(total).toBe(items.length);
  return items.map(({ asset, posts }) => [asset.id, posts]);
};
const restrict = (body: { ids?: string[]; all?: true; dry_run?: boolean }) =>
  curator.ok('restrictAssets', { body });
const sees = (who: Visitor, id: string) => who.status('GET', `/assets/${id}`);

describe('GET /admin/assets/exposed', () => {
  // ASSET-27
  test('lists public and org assets that no post shows as widely, newest first', async () => {
    const unposted = await add('public');
    await add('public', 'public');
    const here = await add('public', 'org-only');
    const narrow = await add('org', 'private');
    await add('org', 'org-only');
    await add('posts', 'private');
    await add('posts');
    await add('restricted');
    expect(await exposed()).toEqual([
      [narrow, 'narrow'],
      [here, 'org-only'],
      [unposted, 'none'],
    ]);
  });

  // ASSET-27
  test('omits avatars and pictures of teams, which must be public', async () => {
    const { id } = await upload(owner, await jpeg(40, 30));
    await owner.ok('updateUser', { params: { ref: owner.ref }, body: { avatar_asset_id: id } });
    const hero = await add('public');
    await db.insertInto('teams').values({ slug: 'heroes', name: 'Heroes', hero_asset_id: hero }).execute();
    expect(await exposed()).toEqual([]);
    expect(await restrict({ ids: [id, hero] })).toEqual({ count: 0, remaining: 0 });
  });

  test('pages without duplicates', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.unshift(await add('org'));
    const pages = await pagesOf(async (from) => {
      const page = await curator.ok('listExposedAssets', { query: { limit: 3, ...from } });
      expect(page.total).toBe(5);
      return page;
    });
    expect(pages.map(({ length }) => length)).toEqual([3, 2]);
    expect(pages.flat().map(({ asset }) => asset.id)).toEqual(ids);
  });
});

describe('POST /admin/assets/restrict', () => {
  test('restricts the named assets, after a dry run that only counts', async () => {
    const [one, two] = [await add('public'), await add('org')];
    const body = { ids: [one] };
    expect(await restrict({ ...body, dry_run: true })).toEqual({ count: 1, remaining: 1 });
    expect(await sees(stranger, one)).toBe(200);
    expect(await restrict(body)).toEqual({ count: 1, remaining: 0 });
    expect([await sees(stranger, one), await sees(owner, one), await sees(stranger, two)]).toEqual([
      404, 200, 200,
    ]);
    expect(await exposed()).toEqual([[two, 'none']]);
    expect(await auditEvents(library, { event: 'assets.restricted' })).toMatchObject([
      { actor_user_ref: curator.ref, metadata: { count: 1, asset_ids: [one] } },
    ]);
  });

  // ASSET-27
  test('restricts all exposed assets in batches, and no others', async () => {
    const shown = await add('public', 'public');
    const one = await add('public');
    await sql`insert into assets (owner_user_ref, asset_type, file_hash, file_name, sensitivity, processing_status)
      select owner_user_ref, asset_type, file_hash, 'many.txt', 'org', 'ready'
      from assets, generate_series(1, 1100) where id = ${one}`.execute(db);
    expect((await restrict({ all: true, dry_run: true })).count).toBe(1101);
    expect(await restrict({ all: true })).toEqual({ count: 1101, remaining: 0 });
    expect(await exposed()).toEqual([]);
    expect([await sees(stranger, shown), await sees(stranger, one)]).toEqual([200, 404]);
  });

  test('requires either ids or all', async () => {
    for (const body of [{}, { dry_run: true }, { all: false }, { ids: [], all: true }])
      expect([body, await curator.status('POST', '/admin/assets/restrict', body)]).toEqual([body, 400]);
  });
});
