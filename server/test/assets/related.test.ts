import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { relateAll } from '../../src/content/assets/relate.ts';
import { auditEvents } from '../support/audit.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [mara, tom] = await library.joinAll('mara', 'tom');

const file = (owner = mara, sensitivity = 'org') => upload(owner, plainFile(), { sensitivity });
const relate = (who: typeof mara, id: string, other: string) =>
  who.status('PUT', `/assets/${id}/related/${other}`);
const part = (who: typeof mara, id: string, other: string) =>
  who.status('DELETE', `/assets/${id}/related/${other}`);

async function relatedOf(who: typeof mara, id: string) {
  const asset = await who.ok('getAsset', { params: { id } });
  const { items } = await who.ok('listRelatedAssets', { params: { id } });
  const ids = items.map((item) => item.id);
  expect(asset.restricted ? undefined : asset.related).toEqual(ids);
  return ids;
}

// RELATED-1, RELATED-2, RELATED-3
test('relates two files in both directions until one of their owners ends it', async () => {
  const [own, foreign, later] = [await file(), await file(tom), await file()];
  expect(own.related).toEqual([]);
  for (const _ of [1, 2]) expect(await relate(mara, own.id, foreign.id)).toBe(204);
  await sql`update related_assets set created_at = created_at - interval '1 minute'`.execute(db);
  expect(await relate(mara, own.id, later.id)).toBe(204);
  expect(await relatedOf(mara, own.id)).toEqual([later.id, foreign.id]);
  expect(await relatedOf(tom, foreign.id)).toEqual([own.id]);
  const pages = await pagesOf((from) =>
    mara.ok('listRelatedAssets', { params: { id: own.id }, query: { limit: 1, ...from } }),
  );
  expect(pages.map((page) => page.map(({ id }) => id))).toEqual([[later.id], [foreign.id]]);
  const { items } = await mara.ok('listAssetHistory', { params: { id: own.id } });
  expect(items.filter(({ properties }) => properties?.includes('related'))).toHaveLength(2);
  for (const _ of [1, 2]) expect(await part(tom, foreign.id, own.id)).toBe(204);
  expect(await relatedOf(mara, own.id)).toEqual([later.id]);
});

// RELATED-1
test('relates more pairs in one statement than a statement has parameters', async () => {
  const [one, other] = [await file(), await file()];
  const pairs = Array.from({ length: 40_000 }, () => [one.id, other.id] as const);
  expect(await db.transaction().execute((tx) => relateAll(tx, pairs))).toBe(1);
  expect(await relatedOf(mara, one.id)).toEqual([other.id]);
});

// RELATED-1
test('leaves out related files that the caller is not shown, or that are in the trash', async () => {
  const [own, hidden, gone] = [await file(), await file(mara, 'posts'), await file()];
  for (const { id } of [hidden, gone]) await relate(mara, own.id, id);
  await mara.ok('deleteAsset', { params: { id: gone.id }, body: undefined });
  expect(await relatedOf(mara, own.id)).toEqual([hidden.id]);
  expect(await relatedOf(tom, own.id)).toEqual([]);
  await mara.ok('updateAsset', { params: { id: own.id }, body: { sensitivity: 'restricted' } });
  expect((await tom.refused('listRelatedAssets', { params: { id: own.id } })).status).toBe(404);
});

// RELATED-2, RELATED-3
test('refuses foreign files, unknown and hidden ones, itself, and more than a thousand', async () => {
  const [own, foreign, hidden] = [await file(), await file(tom), await file(tom, 'posts')];
  expect(await relate(mara, foreign.id, own.id)).toBe(403);
  expect(await part(mara, foreign.id, own.id)).toBe(403);
  expect(await relate(mara, hidden.id, own.id)).toBe(404);
  expect(await relate(mara, own.id, hidden.id)).toBe(404);
  expect(await relate(mara, own.id, own.id.toUpperCase())).toBe(400);
  expect(await relate(mara, own.id, 'none')).toBe(400);
  await sql`with made as (insert into assets (owner_user_ref, title, asset_type, file_hash, file_name, sensitivity)
      select owner_user_ref, '', asset_type, file_hash, file_name, 'org' from assets, generate_series(1, 1000)
      where id = ${own.id} returning id)
    insert into related_assets (asset_id, related_id)
      select least(id, ${own.id}::uuid), greatest(id, ${own.id}::uuid) from made`.execute(db);
  expect((await mara.refused('addRelatedAsset', { params: { id: own.id, other: foreign.id } })).status).toBe(
    409,
  );
  expect((await relatedIdsOf(own.id)).length).toBe(1000);
  expect(await relate(root, foreign.id, own.id)).toBe(204);
  const events = await auditEvents(library, { target_id: foreign.id });
  expect(events.map(({ event }) => event)).toContain('asset.updated');
});

async function relatedIdsOf(id: string) {
  const asset = await mara.ok('getAsset', { params: { id } });
  return asset.restricted ? [] : (asset.related ?? []);
}

// RELATED-4
test('a merge of duplicates keeps the relations of the removed file', async () => {
  const [kept, other] = [await file(), await file()];
  const copy = await mara.ok('createAsset', {
    body: { file_hash: kept.file_hash ?? '', sensitivity: 'org' },
  });
  for (const { id } of [other, kept]) await relate(mara, copy.id, id);
  const { items } = await mara.ok('listDuplicates', { query: { kind: 'exact' } });
  const group = items.find(({ assets }) => assets.some(({ id }) => id === copy.id));
  await mara.ok('resolveDuplicates', {
    params: { id: group?.id ?? '' },
    body: { keep: kept.id, remove: [copy.id] },
  });
  expect(await relatedOf(mara, kept.id)).toEqual([other.id]);
});

// LEGACY-1
test('tells only administrators which id an imported thing had before', async () => {
  const asset = await file();
  const post = await publish(mara, [asset]);
  const collection = await mara.ok('createCollection', { body: { name: 'Quays', visibility: 'org-only' } });
  const targets = [
    ['resource', '31', asset.id],
    ['post', '31', post.id],
    ['collection', '7', collection.id],
    ['user', '5', String(mara.ref)],
  ];
  for (const [kind = '', old_id = '', target = ''] of targets)
    await db.insertInto('imported_ids').values({ system: 'old', kind, old_id, target }).execute();
  const legaciesFor = async (who: typeof mara) => {
    const shown = await who.ok('getAsset', { params: { id: asset.id } });
    const { items } = await who.ok('listAssets', { query: { limit: 200 } });
    const listed = items.find(({ id }) => id === asset.id);
    return [
      shown.restricted ? undefined : shown.legacy,
      listed === undefined || listed.restricted ? undefined : listed.legacy,
      (await who.ok('getPost', { params: { id: post.id } })).legacy,
      (await who.ok('getCollection', { params: { id: collection.id } })).legacy,
    ];
  };
  const ids = ['31', '31', '31', '7'];
  expect(await legaciesFor(root)).toEqual(ids.map((id) => ({ system: 'old', id })));
  expect(await legaciesFor(mara)).toEqual([undefined, undefined, undefined, undefined]);
  const account = await root.ok('getAdminUser', { params: { ref: mara.ref } });
  expect(account.legacy).toEqual({ system: 'old', id: '5' });
});
