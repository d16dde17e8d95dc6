import { sql } from 'kysely';
import sharp from 'sharp';
import { beforeAll, expect, test } from 'vitest';
import { define } from '../fields/define.ts';
import { guestsOf } from '../links/visiting.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, formOf, openLibrary, publish, upload } from '../support/library.ts';
import { nowhere } from '../support/people.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const [tom, ines] = await library.joinAll('tom', 'ines');

/** Draws a picture of its own for each number. */
async function scene(number: number, width = 400, height = 300, quality = 90) {
  const shapes = Array.from({ length: 9 }, (_, at) => {
    const [x, y, grey] = [
      (at * 53 + number * 97) % 400,
      (at * 71 + number * 31) % 300,
      (at * 37 * number) % 255,
    ];
    return `<circle cx="${x}" cy="${y}" r="${40 + ((at * number) % 50)}" fill="rgb(${grey},${255 - grey},${(grey * 7) % 255})"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" width="${width}" height="${height}"><rect width="400" height="300" fill="#8899aa"/>${shapes.join('')}</svg>`;
  return new Uint8Array(await sharp(Buffer.from(svg)).resize(width, height).jpeg({ quality }).toBuffer());
}

const list = async (who: Visitor, kind: 'exact' | 'similar') =>
  (await who.ok('listDuplicates', { query: { kind } })).items;
const resolve = (who: Visitor, id: string, body: object) =>
  who.send(`/assets/duplicates/${id}/resolve`, { method: 'POST', body });
const idsOf = (assets: readonly { id: string }[]) => assets.map(({ id }) => id).sort();

let large = '';
let small = '';

beforeAll(async () => {
  large = (await upload(mara, await scene(1), { title: 'Large', sensitivity: 'org' })).id;
  small = (await upload(mara, await scene(1, 200, 150, 60), { title: '', sensitivity: 'org' })).id;
  await upload(mara, await scene(2), { title: 'Other', sensitivity: 'org' });
  await upload(tom, await scene(1, 300, 225, 80), { sensitivity: 'org' });
  await library.runJobs();
});

// DUPLICATE-1, DUPLICATE-2
test('similar pictures are found among the files that the caller may edit', async () => {
  const [pair, ...others] = await list(mara, 'similar');
  expect(others).toEqual([]);
  expect(idsOf(pair?.assets ?? [])).toEqual([large, small].sort());
  expect(pair?.distance).toBeGreaterThanOrEqual(0);
  expect(pair?.distance).toBeLessThan(0.1);
  expect(await list(tom, 'similar')).toEqual([]);
  // An administrator may edit all three.
  expect(await list(root, 'similar')).toHaveLength(3);
  expect(await list(mara, 'exact')).toEqual([]);
});

// DUPLICATE-2
test('pictures that were stored before are compared by a job in rounds', async () => {
  await sql`delete from picture_prints`.execute(library.deps.db);
  await sql`delete from similar_files`.execute(library.deps.db);
  await sql`select graphile_worker.add_job('fill-fingerprints', '{}'::json)`.execute(library.deps.db);
  await library.runJobs();
  expect(await list(mara, 'similar')).toHaveLength(1);
});

// DUPLICATE-2
test('plain pictures are similar to nothing, and pictures with a dot only to those with the same dot', async () => {
  for (const grey of [200, 201]) {
    const create = { width: 64, height: 64, channels: 3, background: { r: grey, g: grey, b: grey } } as const;
    await upload(tom, new Uint8Array(await sharp({ create }).png().toBuffer()));
  }
  for (const [x, y] of [
    [80, 80],
    [300, 200],
  ]) {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="#fff"/><circle cx="${x}" cy="${y}" r="30"/></svg>`;
    await upload(tom, new Uint8Array(await sharp(Buffer.from(svg)).png().toBuffer()));
  }
  await library.runJobs();
  expect(await list(tom, 'similar')).toEqual([]);
});

// DUPLICATE-1, DUPLICATE-3
test('copies of the same bytes are a group, page by page, without those of other accounts', async () => {
  const bytes = await scene(3);
  const hash = (await upload(mara, bytes, { sensitivity: 'org' })).file_hash ?? '';
  const copy = (await mara.ok('createAsset', { body: { file_hash: hash } })).id;
  await upload(tom, bytes, { sensitivity: 'org' });
  const other = (await upload(mara, await scene(4), { sensitivity: 'org' })).file_hash ?? '';
  await mara.ok('createAsset', { body: { file_hash: other } });
  const first = await mara.ok('listDuplicates', { query: { kind: 'exact', limit: 1 } });
  expect(first.items).toHaveLength(1);
  expect(first.items[0]).not.toHaveProperty('distance');
  const next = await mara.ok('listDuplicates', {
    query: { kind: 'exact', limit: 1, cursor: first.next_cursor ?? '' },
  });
  expect(next.next_cursor).toBeNull();
  expect(next.items[0]?.assets).toHaveLength(2);
  expect(idsOf(next.items[0]?.assets ?? [])).toContain(copy);
  expect(await list(tom, 'exact')).toEqual([]);
  expect((await mara.send('/assets/duplicates?kind=odd')).status).toBe(400);
  expect((await library.anonymous().send('/assets/duplicates')).status).toBe(401);
});

// DUPLICATE-1
test('a file that gets the bytes of another one by a new version is a copy, too', async () => {
  const [bytes, other] = [await scene(7), await scene(8)];
  const first = await upload(mara, bytes);
  const second = await upload(mara, other);
  const body = formOf(bytes);
  await mara.ok('addAssetVersion', { params: { id: second.id }, body });
  const groups = await list(mara, 'exact');
  expect(groups.map(({ assets }) => idsOf(assets))).toContainEqual([first.id, second.id].sort());
});

// DUPLICATE-4
test('merging gives the kept file what it lacks, replaces the others in posts, and moves them to the trash', async () => {
  const { id: place } = await define(root, { code: 'dup_place' });
  const { id: source } = await define(root, { code: 'dup_source' });
  const { id: closed } = await define(root, { code: 'dup_closed', write_capability: 'system.admin' });
  const put = (who: Visitor, id: string, field_id: string, value_text: string) =>
    who.ok('setAssetFieldValue', { params: { id, field_id }, body: { value_text } });
  await put(mara, small, place, 'Lisbon');
  await put(mara, large, place, 'Porto');
  await put(mara, large, source, 'Camera');
  await put(root, large, closed, 'approved');
  await mara.ok('updateAsset', { params: { id: small }, body: { tags: ['one'] } });
  await mara.ok('updateAsset', {
    params: { id: large },
    body: { tags: ['two', 'one'], description: 'Words' },
  });
  const other = await upload(mara, await scene(5), { sensitivity: 'org' });
  const own = await publish(mara, [other, { id: large }], { cover_asset_id: large });
  const both = await publish(mara, [{ id: large }, { id: small }]);
  const toms = await publish(tom, [{ id: large }], { title: 'Of tom' });
  const collection = await tom.ok('createCollection', { body: { name: 'Piers' } });
  for (const id of [other.id, large])
    await tom.ok('addAssetToCollection', { params: { id: collection.id, asset_id: id } });
  const [pair] = await list(mara, 'similar');
  const { status, text } = await resolve(mara, pair?.id ?? '', { keep: small, remove: [large] });
  expect(status, text).toBe(204);

  const kept = await mara.ok('getAsset', { params: { id: small } });
  expect(kept).toMatchObject({ title: 'Large', description: 'Words', tags: ['one', 'two'] });
  const { items } = await root.ok('listAssetFieldValues', { params: { id: small } });
  const values = Object.fromEntries(items.map(({ field_code, value_text }) => [field_code, value_text]));
  expect(values).toMatchObject({ dup_place: 'Lisbon', dup_source: 'Camera' });
  expect(values).not.toHaveProperty('dup_closed');
  const membersOf = async (id: string) =>
    (await mara.ok('getPost', { params: { id } })).members.map((member) => member.asset_id);
  expect(await membersOf(own.id)).toEqual([other.id, small]);
  expect((await mara.ok('getPost', { params: { id: own.id } })).cover_asset_id).toBe(small);
  expect(await membersOf(both.id)).toEqual([small]);
  expect(await membersOf(toms.id)).toEqual([small]);
  const { items: held } = await tom.ok('listCollectionItems', { params: { id: collection.id } });
  expect(held.map(({ asset }) => asset?.id)).toEqual([other.id, small]);
  expect((await mara.send(`/assets/${large}`)).status).toBe(404);
  const trash = await mara.ok('listTrash', { query: { scope: 'owned_by_me' } });
  expect(trash.items.map(({ id }) => id)).toContain(large);
  expect(await list(mara, 'similar')).toEqual([]);
});

// DUPLICATE-4, AUDIT-1, ASSET-40
test('merging is in the history of the kept file, and in the audit log where it changes things of others', async () => {
  const bytes = await scene(9);
  const { id: keep, file_hash } = await upload(mara, bytes, { title: 'Kept', sensitivity: 'org' });
  const copy = await mara.ok('createAsset', { body: { file_hash: file_hash ?? '', sensitivity: 'org' } });
  await mara.ok('updateAsset', { params: { id: copy.id }, body: { tags: ['new'], description: 'Words' } });
  const [toms, own] = [await publish(tom, [copy]), await publish(root, [copy])];
  const group = (await list(root, 'exact')).find(({ assets }) => idsOf(assets).includes(keep));
  expect((await resolve(root, group?.id ?? '', { keep, remove: [copy.id] })).status).toBe(204);
  const { items } = await mara.ok('listAssetHistory', { params: { id: keep }, query: {} });
  const edits = items.filter(({ what }) => what === 'edited');
  expect(edits).toMatchObject([{ who: { ref: root.ref }, properties: ['description', 'tags'] }]);
  const events = async (event: string, id: string) =>
    (await root.ok('listAudit', { query: { event } })).items.filter(({ target_id }) => target_id === id);
  expect(await events('asset.updated', keep)).toMatchObject([
    { subject: { ref: mara.ref }, metadata: { changed: ['description', 'tags'] } },
  ]);
  expect(await events('post.updated', toms.id)).toMatchObject([{ metadata: { changed: ['members'] } }]);
  expect(await events('post.updated', own.id)).toEqual([]);
});

// DUPLICATE-6, DUPLICATE-7
test('merging moves links and named shares to the kept file if it is held alike, and widens no other', async () => {
  const bytes = await scene(6);
  const first = await upload(mara, bytes, { sensitivity: 'restricted', title: 'Gate' });
  const copy = async (sensitivity: 'restricted' | 'team' | 'org') => {
    const body = { file_hash: first.file_hash ?? '', sensitivity };
    return (await mara.ok('createAsset', { body })).id;
  };
  const [alike, wider] = [await copy('restricted'), await copy('org')];
  const share = (id: string, who: Account, expires_at: string | null = null) =>
    mara.ok('putAssetShare', { params: { id, user_ref: who.ref }, body: { expires_at } });
  const link = (id: string, body = {}) => mara.ok('createAssetLink', { params: { id }, body });
  for (const id of [alike, wider]) await share(id, tom);
  await share(wider, ines);
  const [moved, pinned, other] = [
    await link(alike, { allow_picks: true }),
    await link(alike, { version: 1 }),
    await link(wider, { allow_picks: true, allow_feedback: true }),
  ];
  const visit = library.anonymous();
  await visit.ok('recordLinkView', { params: { token: moved.token, id: alike } });
  const { newGuest } = guestsOf(library);
  const [jonas, ada] = [await newGuest(moved, 'Jonas'), await newGuest(other, 'Ada')];
  await jonas.pick(alike);
  await ada.pick(wider);
  await ada.comment({ asset_id: wider, body: 'Of this copy' });
  const group = (await list(mara, 'exact')).find(({ assets }) => idsOf(assets).includes(alike));
  const body = { keep: first.id, remove: [alike, wider] };
  expect((await resolve(mara, group?.id ?? '', body)).status).toBe(204);

  expect((await tom.ok('getAsset', { params: { id: first.id } })).restricted).toBe(false);
  expect((await ines.ok('getAsset', { params: { id: first.id } })).restricted).toBe(true);
  const { items } = await mara.ok('listAssetShares', { params: { id: first.id } });
  expect(items.map(({ user_ref }) => user_ref)).toEqual([tom.ref]);
  const shown = await visit.ok('openLink', { params: { link: moved.token } });
  expect(shown.items.map(({ id }) => id)).toEqual([first.id]);
  const views = await mara.ok('listLinkViews', { params: { link: moved.id } });
  expect(views.items).toMatchObject([{ asset_id: first.id, view_count: 1 }]);
  const picks = await mara.ok('listLinkPicks', { params: { link: moved.id } });
  expect(picks.items).toMatchObject([{ asset_id: first.id, guest: { name: 'Jonas' } }]);
  for (const { token } of [pinned, other])
    expect((await visit.refused('openLink', { params: { link: token } })).status).toBe(404);
  // With the file, what stayed with it works again.
  await root.ok('restoreAsset', { params: { id: wider } });
  const back = await visit.ok('openLink', { params: { link: other.token } });
  expect(back.items.map(({ id }) => id)).toEqual([wider]);
  expect(await ada.comments()).toMatchObject([{ body: 'Of this copy', asset_id: wider }]);
  const kept = await mara.ok('listLinkPicks', { params: { link: other.id } });
  expect(kept.items).toMatchObject([{ asset_id: wider, guest: { name: 'Ada' } }]);
});

// DUPLICATE-7
test('merging moves comments on places, and what guests wrote and picked, to the kept file', async () => {
  const [first, second] = [await scene(11), await scene(12)];
  const kept = await upload(mara, first, { title: 'Kept', sensitivity: 'posts' });
  await mara.ok('addAssetVersion', { params: { id: kept.id }, body: formOf(second) });
  const copy = await mara.ok('createAsset', {
    body: { file_hash: kept.file_hash ?? '', sensitivity: 'posts' },
  });
  // The kept file never had the bytes of the second version of its copy.
  for (const bytes of [await scene(13), second])
    await mara.ok('addAssetVersion', { params: { id: copy.id }, body: formOf(bytes) });
  const post = await publish(mara, [{ id: copy.id }]);
  const annotate = (words: string, version: number) =>
    tom.ok('createAnnotation', {
      params: { id: post.id },
      body: { asset_id: copy.id, version, anchor: { kind: 'point', x: 0.5, y: 0.5 }, body: words },
    });
  await annotate('On the first', 1);
  await annotate('On another', 2);
  const root = await annotate('On the second', 3);
  await mara.ok('createComment', { params: { id: post.id }, body: { body: 'Yes', parent_id: root.id } });

  const link = await mara.ok('createPostLink', {
    params: { id: post.id },
    body: { allow_feedback: true, allow_picks: true },
  });
  const jonas = await guestsOf(library).newGuest(link, 'Jonas');
  await jonas.pick(copy.id);
  await jonas.annotate({ asset_id: copy.id, anchor: { kind: 'point', x: 0.1, y: 0.1 }, body: 'Crop here' });

  const group = (await list(mara, 'exact')).find(({ assets }) => idsOf(assets).includes(copy.id));
  expect((await resolve(mara, group?.id ?? '', { keep: kept.id, remove: [copy.id] })).status).toBe(204);
  const { items } = await tom.ok('listComments', { params: { id: post.id }, query: {} });
  expect(items.map(({ body, annotation }) => [body, annotation?.asset_id, annotation?.version])).toEqual([
    ['On the second', kept.id, 2],
    ['On another', kept.id, 2],
    ['On the first', kept.id, 1],
  ]);
  expect(items[0]?.replies?.map(({ body }) => body)).toEqual(['Yes']);
  const found = await tom.ok('search', { query: { q: '"on the second"', kind: 'post' } });
  expect(found.items.map((hit) => hit.kind === 'post' && hit.post.id)).toEqual([post.id]);
  const picks = await mara.ok('listLinkPicks', { params: { link: link.id } });
  expect(picks.items).toMatchObject([{ asset_id: kept.id, guest: { name: 'Jonas' } }]);
  expect(await jonas.comments()).toMatchObject([{ body: 'Crop here', asset_id: kept.id }]);
});

// DUPLICATE-5
test('files that were marked as different are not shown again', async () => {
  const [group] = await list(mara, 'exact');
  expect((await resolve(mara, group?.id ?? '', { different: true })).status).toBe(204);
  const after = await list(mara, 'exact');
  expect(after.map(({ id }) => id)).not.toContain(group?.id);
  // A further copy makes the group appear again.
  const hash = group?.assets[0]?.file_hash ?? '';
  await mara.ok('createAsset', { body: { file_hash: hash } });
  expect((await list(mara, 'exact')).find(({ id }) => id === group?.id)?.assets).toHaveLength(3);
});

// DUPLICATE-1, DUPLICATE-4
test('a group can be resolved only with its own files by those who may edit them', async () => {
  const [group] = await list(mara, 'exact');
  const [a = '', b = ''] = group?.assets.map(({ id }) => id) ?? [];
  const id = group?.id ?? '';
  expect((await resolve(mara, id, { keep: a, remove: [nowhere] })).status).toBe(400);
  expect((await resolve(mara, id, { keep: small, remove: [b] })).status).toBe(400);
  expect((await resolve(mara, id, { keep: a, remove: [a, b] })).status).toBe(400);
  expect((await resolve(mara, id, { keep: a })).status).toBe(400);
  expect((await resolve(mara, id, { keep: a, remove: [b], different: true })).status).toBe(400);
  expect((await resolve(mara, id, {})).status).toBe(400);
  expect((await resolve(tom, id, { keep: a, remove: [b] })).status).toBe(404);
  expect((await resolve(tom, id, { different: true })).status).toBe(404);
  expect((await resolve(mara, nowhere, { different: true })).status).toBe(404);
  expect((await resolve(mara, 'no-id', { different: true })).status).toBe(400);
  expect((await list(mara, 'exact')).map((one) => one.id)).toContain(id);
});
