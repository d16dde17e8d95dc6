import type { Asset } from '@vitrine/contract/assets';
import { mostStacked } from '@vitrine/contract/stacks';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { stackFound } from '../../src/content/stacks/store.ts';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const admin = await library.join('admin', 'admin');
const [mara, tom] = await library.joinAll('mara', 'tom');

const file = (sensitivity = 'org', title = 'a', owner = mara) =>
  upload(owner, plainFile(), { sensitivity, title });

async function stack(assets: readonly { id: string }[], who: Account = mara): Promise<string> {
  const { id, items } = await who.ok('createStack', { body: { asset_ids: assets.map((asset) => asset.id) } });
  expect(items.map((item) => item.id)).toEqual(assets.map((asset) => asset.id));
  return id;
}

const stackOf = (asset: Asset) => (asset.restricted ? undefined : asset.stack?.assets);
const shownStack = async (who: Account, { id }: { id: string }) =>
  stackOf(await who.ok('getAsset', { params: { id } }));

/** Returns the ids of the list with one asset for each stack, and how many each stands for, of some assets. */
async function topsAmong(who: Account, assets: readonly { id: string }[], query = {}) {
  const { items } = await who.ok('listAssets', { query: { limit: 200, stacks: 'top', ...query } });
  const wanted = new Set(assets.map(({ id }) => id));
  return items.flatMap((asset) => (wanted.has(asset.id) ? [[asset.id, stackOf(asset)?.length]] : []));
}

// STACK-1, STACK-2, STACK-3
test('a stack is shown by its top with the number of its files, and each file names the others', async () => {
  const assets = [await file(), await file(), await file(), await file()] as const;
  const [one, two, three, alone] = assets;
  const id = await stack([two, three, one]);
  expect(await topsAmong(mara, assets)).toEqual([
    [alone.id, undefined],
    [two.id, 3],
  ]);
  for (const who of [mara, tom]) expect(await shownStack(who, one)).toEqual([two.id, three.id, one.id]);
  expect(await shownStack(mara, alone)).toBeUndefined();
  const { items } = await mara.ok('listAssets', { query: { limit: 200 } });
  expect(items.map((asset) => asset.id)).toEqual(expect.arrayContaining(assets.map((asset) => asset.id)));
  expect(items.every((asset) => stackOf(asset) === undefined)).toBe(true);
  const pages = await pagesOf((from) =>
    mara.ok('listAssets', { query: { limit: 1, stacks: 'top', owner_ref: mara.ref, ...from } }),
  );
  expect(pages.flat().map((asset) => asset.id)).toEqual([alone.id, two.id]);
  expect((await tom.ok('getStack', { params: { id } })).items.map((asset) => asset.id)).toEqual([
    two.id,
    three.id,
    one.id,
  ]);
});

// STACK-2, STACK-3
test('files that a caller does not see are neither shown nor counted, and the next one stands for the stack', async () => {
  const assets = [await file('posts'), await file(), await file('restricted'), await file()] as const;
  const [hidden, shown, withheld, last] = assets;
  const id = await stack(assets);
  expect(await topsAmong(mara, assets)).toEqual([[hidden.id, 4]]);
  expect(await topsAmong(tom, assets)).toEqual([[shown.id, 2]]);
  expect(await shownStack(tom, last)).toEqual([shown.id, last.id]);
  expect(await shownStack(tom, withheld)).toBeUndefined();
  expect((await tom.ok('getStack', { params: { id } })).items.map((asset) => asset.id)).toEqual([
    shown.id,
    last.id,
  ]);
  await mara.ok('updateAsset', { params: { id: last.id }, body: { sensitivity: 'posts' } });
  expect(await topsAmong(tom, assets)).toEqual([[shown.id, undefined]]);
  await mara.ok('updateAsset', { params: { id: shown.id }, body: { sensitivity: 'posts' } });
  expect(await topsAmong(tom, assets)).toEqual([]);
  expect((await tom.refused('getStack', { params: { id } })).status).toBe(404);
  expect((await tom.refused('deleteStack', { params: { id } })).status).toBe(404);
});

// STACK-3, ASSET-41
test('the first file that the list contains stands for the stack', async () => {
  const assets = [await file('org', 'dune'), await file('org', 'wave'), await file('org', 'wave')] as const;
  await stack(assets);
  await mara.ok('updateAsset', { params: { id: assets[1].id }, body: { tags: ['wave'] } });
  await mara.ok('updateAsset', { params: { id: assets[2].id }, body: { tags: ['wave'] } });
  expect(await topsAmong(mara, assets, { tag: ['wave'] })).toEqual([[assets[1].id, 3]]);
  expect(await topsAmong(mara, assets, { sort: 'title' })).toEqual([[assets[0].id, 3]]);
  expect((await mara.ok('countAssets', { query: { tag: ['wave'] } })).total).toBe(2);
  const face = db.updateTable('users').where('ref', '=', mara.ref);
  await face.set({ avatar_asset_id: assets[0].id }).execute();
  expect(await topsAmong(mara, assets)).toEqual([[assets[1].id, 3]]);
  expect(await topsAmong(mara, assets, { owner_ref: mara.ref })).toEqual([[assets[0].id, 3]]);
  await face.set({ avatar_asset_id: null }).execute();
});

// STACK-5
test('the trash takes a file out of its stack until it is restored, and for good when it is emptied', async () => {
  const assets = [await file(), await file(), await file()] as const;
  const [top, next, last] = assets;
  await stack(assets);
  await mara.ok('deleteAsset', { params: { id: top.id }, body: undefined });
  expect(await topsAmong(mara, assets)).toEqual([[next.id, 2]]);
  await mara.ok('restoreAsset', { params: { id: top.id } });
  expect(await topsAmong(mara, assets)).toEqual([[top.id, 3]]);
  await db.deleteFrom('assets').where('id', 'in', [top.id, next.id]).execute();
  expect(await topsAmong(mara, assets)).toEqual([[last.id, undefined]]);
  expect(await shownStack(mara, last)).toBeUndefined();
});

// STACK-1, STACK-4, STACK-5
test('stacking moves files out of their stacks and ends one with a single file', async () => {
  const assets = [await file(), await file(), await file(), await file()] as const;
  const [one, two, three, four] = assets;
  await stack([one, two]);
  const id = await stack([three, four]);
  await stack([two, three]);
  expect(await topsAmong(mara, assets)).toEqual([
    [four.id, undefined],
    [two.id, 2],
    [one.id, undefined],
  ]);
  expect((await mara.refused('getStack', { params: { id } })).status).toBe(404);
  for (const { id } of [one, four]) {
    const { items } = await mara.ok('listAssetHistory', { params: { id } });
    expect(items.filter(({ properties }) => properties?.includes('stack'))).toHaveLength(2);
  }
});

// STACK-4
test('an editor chooses another top', async () => {
  const [one, two, three] = [await file(), await file(), await file()];
  const id = await stack([one, two, three]);
  const { items } = await mara.ok('setStackTop', { params: { id }, body: { asset_id: three.id } });
  expect(items.map((asset) => asset.id)).toEqual([three.id, one.id, two.id]);
  const other = await file();
  for (const [who, asset_id, status] of [
    [mara, other.id, 404],
    [tom, one.id, 403],
  ] as const)
    expect((await who.refused('setStackTop', { params: { id }, body: { asset_id } })).status).toBe(status);
});

// STACK-4, STACK-5
test('only those who may edit all files stack and unstack them', async () => {
  const [own, foreign, hidden] = [await file(), await file('org', 'a', tom), await file('posts', 'a', tom)];
  const refused = async (who: Account, asset_ids: string[]) =>
    (await who.refused('createStack', { body: { asset_ids } })).status;
  expect(await refused(mara, [own.id, foreign.id])).toBe(403);
  expect(await refused(mara, [own.id, hidden.id])).toBe(404);
  expect(await refused(admin, [own.id, foreign.id])).toBe(409);
  expect(await refused(mara, [own.id, own.id.toUpperCase()])).toBe(400);
  expect(await refused(mara, [own.id])).toBe(400);
  const other = await file();
  const id = await stack([own, other]);
  expect((await tom.refused('deleteStack', { params: { id } })).status).toBe(403);
  await admin.ok('deleteStack', { params: { id } });
  expect(await shownStack(mara, own)).toBeUndefined();
  const { items } = await mara.ok('listAssetHistory', { params: { id: own.id } });
  expect(items.filter(({ properties }) => properties?.includes('stack'))).toHaveLength(2);
  const events = await auditEvents(library, { target_id: own.id });
  expect(events.map(({ event }) => event)).toEqual(['asset.updated']);
});

// STACK-1
test('concurrent stacking leaves each file in one stack', async () => {
  const assets = [await file(), await file(), await file()] as const;
  const ids = assets.map(({ id }) => id);
  const groups = [ids, ids.toReversed(), ids.slice(1), ids.slice(0, 2)];
  const made = await Promise.all(
    [...groups, ...groups, ...groups].map((asset_ids) => mara.ok('createStack', { body: { asset_ids } })),
  );
  expect(made.every(({ items }) => items.length > 1)).toBe(true);
  const { rows } = await sql<{ stacked: number }>`select count(*) as stacked from stacked_assets
    where asset_id = any(${ids}::uuid[]) group by stack_id`.execute(db);
  // Three files are one stack at most, because none is left with a single file.
  expect(rows).toHaveLength(1);
  expect(rows[0]?.stacked).toBeGreaterThanOrEqual(2);
});

// STACK-4
test('of concurrent choices of a top each one counts, the last one most', async () => {
  const assets = [await file(), await file(), await file(), await file()] as const;
  const id = await stack(assets);
  const choose = ({ id: asset_id }: { id: string }) =>
    mara.ok('setStackTop', { params: { id }, body: { asset_id } });
  const chosen = await Promise.all([...assets, ...assets].map(choose));
  expect(chosen.map(({ items }) => items[0]?.id)).toEqual([...assets, ...assets].map((asset) => asset.id));
  const { rows } = await sql<{ places: number }>`select count(distinct place) as places from stacked_assets
    where stack_id = ${id}`.execute(db);
  expect(rows[0]?.places).toBe(4);
});

// STACK-6
test('an import stacks groups that are new or have grown, and leaves what people have stacked', async () => {
  const stackFiles = (...groups: (readonly { id: string }[])[]) =>
    db.transaction().execute((tx) =>
      stackFound(
        tx,
        groups.map((group) => group.map(({ id }) => id)),
      ),
    );
  const [one, two, three, four] = [await file(), await file(), await file(), await file()];
  expect(await stackFiles([one, two])).toBe(1);
  expect(await stackFiles([one, two], [two, three], [three])).toBe(0);
  expect(await stackFiles([three, one, two])).toBe(1);
  expect(await shownStack(mara, one)).toEqual([three.id, one.id, two.id]);
  const shown = await mara.ok('getAsset', { params: { id: one.id } });
  await mara.ok('deleteStack', { params: { id: (shown.restricted ? undefined : shown.stack?.id) ?? '' } });
  expect(await stackFiles([one, four])).toBe(0);
  // Copies of the same two files in two folders are the same assets.
  const [five, six] = [await file(), await file()];
  expect(await stackFiles([five, six], [six, five])).toBe(1);
  expect(await shownStack(mara, five)).toEqual([five.id, six.id]);
});

// STACK-1, STACK-6
test('an import stacks 100 files at most', async () => {
  const first = await file();
  const { rows } = await sql<{ id: string }>`
    insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, sensitivity, processing_status)
    select owner_user_ref, n::text, asset_type, file_hash, file_name, sensitivity, 'ready'
    from assets, generate_series(1, ${mostStacked + 2}) n where id = ${first.id} returning id`.execute(db);
  const group = rows.map(({ id }) => id);
  expect(await db.transaction().execute((tx) => stackFound(tx, [group]))).toBe(1);
  expect(await shownStack(mara, { id: group[0] ?? '' })).toEqual(group.slice(0, mostStacked));
});
