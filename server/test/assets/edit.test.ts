import { setTimeout as sleep } from 'node:timers/promises';
import type { AssetUpdate, ShownAsset } from '@vitrine/contract/assets';
import { beforeEach, describe, expect, test } from 'vitest';
import { lockFile } from '../../src/content/assets/insert.ts';
import { auditEventsDuring } from '../support/audit.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { pagesOf } from '../support/pages.ts';
import { nowhere } from '../support/people.ts';
import { jpeg, unknownBytes } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let asset: ShownAsset;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const { db } = library.deps;
const studio = await addTeam(library, 'studio', [mara]);
const hash = (await upload(mara, unknownBytes())).file_hash ?? '';

beforeEach(async () => {
  asset = await mara.ok('createAsset', {
    body: {
      file_hash: hash,
      sensitivity: 'public',
      title: 'Ridge',
      description: 'Four mornings',
      tags: ['sea', 'blue'],
      metadata: { film: 'HP5' },
      ai_provenance: 'assisted',
      team_id: studio,
    },
  });
});

const edit = (body: AssetUpdate) => mara.ok('updateAsset', { params: { id: asset.id }, body });
const patch = (body: unknown, as: Account = mara) =>
  as.send(`/assets/${asset.id}`, { method: 'PATCH', body });
const shown = () => mara.ok('getAsset', { params: { id: asset.id } });

// ASSET-2, ASSET-13
describe('PATCH /assets/{id} changes', () => {
  test.each<AssetUpdate>([
    { title: '' },
    { title: 'x'.repeat(500) },
    { description: 'One\nline\tand <b>another</b>' },
    { description: 'y'.repeat(20_000) },
    { asset_type: 4 },
    { status: 'archived' },
    { sensitivity: 'restricted' },
    { mature: true },
    { ai_provenance: 'none' },
    { metadata: { a: [1, { b: null }], 日: 'x' } },
    { title: 'a', description: '', asset_type: 2, sensitivity: 'team', tags: [], metadata: {} },
  ])('%j, and nothing else', async (body) => {
    const changed = await edit(body);
    expect(changed).toEqual({
      ...asset,
      ...body,
      ...(body.tags === undefined ? {} : { tag_details: [] }),
      anonymously_visible: body.status === undefined && body.sensitivity === undefined,
      updated_at: changed.updated_at,
    });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(asset.updated_at));
    expect(await shown()).toEqual(changed);
  });

  test('no property that is null or absent', async () => {
    const names = ['title', 'description', 'asset_type', 'status', 'sensitivity', 'mature', 'ai_provenance'];
    const nulls = Object.fromEntries(
      [...names, 'tags', 'metadata', 'if_unchanged_since'].map((name) => [name, null]),
    );
    // Nothing was requested, so the time of the last change remains.
    for (const body of [nulls, {}, { clear_ai_provenance: null }, { clear_ai_provenance: false }])
      expect(JSON.parse((await patch(body)).text)).toEqual(asset);
  });

  // ASSET-21
  test('the AI provenance to undeclared with `clear_ai_provenance`', async () => {
    for (const body of [{ clear_ai_provenance: true, ai_provenance: null }, { clear_ai_provenance: true }])
      expect((await edit(body)).ai_provenance).toBeNull();
  });
});

describe('PATCH /assets/{id} refuses with 400, and changes nothing', () => {
  // ASSET-18
  test('properties that are set otherwise or never, by name', async () => {
    for (const [key, value] of Object.entries({
      team_id: studio,
      owner_user_ref: 1,
      state_id: nowhere,
      file_hash: 'a'.repeat(64),
      processing_status: 'ready',
      preview_available: true,
      created_at: '2020-01-01T00:00:00Z',
      deleted_at: null,
      clear_team_id: true,
      __proto__x: 1,
    })) {
      const answer = await patch({ title: 'no', [key]: value }, root);
      expect([answer.status, answer.text]).toEqual([400, `{"error":"unknown property ${key}"}`]);
    }
    expect(await shown()).toEqual(asset);
  });

  // ASSET-21
  test('values that no schema can describe, and a value beside its removal', async () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    for (const body of [
      { asset_type: 4711 },
      { metadata: { 'nul\0': 1 } },
      { metadata: { a: 'nul\0' } },
      { metadata: deep(65) },
      { clear_ai_provenance: true, ai_provenance: 'none' },
    ])
      expect([body, (await patch({ title: 'no', tags: ['no'], ...body })).status]).toEqual([body, 400]);
    expect(await shown()).toEqual(asset);
  });

  // ASSET-17
  test('a new mature rating if the library does not allow it', async () => {
    await root.ok('setMatureContent', { body: { allowed: false } });
    for (const who of [mara, root])
      expect((await patch({ title: 'no', mature: true, tags: ['no'] }, who)).status).toBe(400);
    expect(await shown()).toEqual(asset);
    // Assets that are already mature may be edited, and lose the rating.
    await db.updateTable('assets').set({ mature: true }).where('id', '=', asset.id).execute();
    expect(await edit({ title: 'Later' })).toMatchObject({ title: 'Later', mature: true });
    expect(await edit({ mature: false })).toMatchObject({ mature: false });
    await root.ok('setMatureContent', { body: { allowed: true } });
  });
});

describe('if_unchanged_since', () => {
  // HTTP-19
  test('accepts the current time in any RFC 3339 notation', async () => {
    const first = await edit({ title: 'one', if_unchanged_since: asset.updated_at });
    const moment = new Date(first.updated_at);
    const elsewhere = new Date(moment.getTime() + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    for (const since of [elsewhere, '2999-01-01T00:00:00Z'])
      expect(await edit({ title: since, if_unchanged_since: since })).toMatchObject({ title: since });
  });

  // HTTP-5
  test('returns 409 with the time of the change, also of the tags, and writes nothing', async () => {
    const { updated_at } = await edit({ tags: ['meanwhile'] });
    for (const since of [asset.updated_at, '2000-01-01T00:00:00Z']) {
      const answer = await patch({ title: 'late', tags: ['late'], if_unchanged_since: since });
      expect(answer.status).toBe(409);
      expect(JSON.parse(answer.text)).toEqual({ error: expect.any(String), updated_at });
    }
    expect(await edit({})).toMatchObject({ title: 'Ridge', tags: ['meanwhile'] });
  });

  // HTTP-19
  test('lets exactly one of ten concurrent editors write', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        patch({ title: `${n}`, tags: [`tag ${n}`], if_unchanged_since: asset.updated_at }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    const winner = statuses.indexOf(200);
    expect(statuses).toEqual(statuses.map((_, n) => (n === winner ? 200 : 409)));
    expect(await shown()).toMatchObject({ title: `${winner}`, tags: [`tag ${winner}`] });
  });

  // HTTP-18
  test('increases with every change, also when the clock is behind', async () => {
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    await db.updateTable('assets').set({ updated_at: ahead }).where('id', '=', asset.id).execute();
    await Promise.all(Array.from({ length: 10 }, (_, n) => edit({ title: `t${n}` })));
    expect(Date.parse((await edit({})).updated_at)).toBe(Date.parse(ahead) + 10);
    expect((await patch({ title: 'late', if_unchanged_since: ahead })).status).toBe(409);
  });

  test('is not decreased by a rendering that ends after an edit', async () => {
    const picture = await upload(mara, await jpeg(64, 48));
    const held: { done: Promise<void> } = { done: Promise.resolve() };
    const edited = await db.transaction().execute(async (tx) => {
      await lockFile(tx, picture.file_hash ?? '');
      held.done = library.runJobs();
      expect(await comeToWait(db)).toBe(true);
      await sleep(20);
      return mara.ok('updateAsset', { params: { id: picture.id }, body: { title: 'edited' } });
    });
    await held.done;
    const after = await mara.ok('getAsset', { params: { id: picture.id } });
    expect(after).toMatchObject({ title: 'edited', processing_status: 'ready' });
    const since = after.restricted ? '' : after.updated_at;
    expect(Date.parse(since)).toBeGreaterThanOrEqual(Date.parse(edited.updated_at));
  });
});

// ASSET-40
describe('GET /assets/{id}/history', () => {
  const historyOf = async (id: string) => {
    const read = (from: object) =>
      mara.ok('listAssetHistory', { params: { id }, query: { limit: 3, ...from } });
    return (await pagesOf(read)).flat();
  };

  test('tells who changed what, newest first, through every way of editing', async () => {
    const { id } = asset;
    const params = { id };
    await edit({ title: 'Pass', tags: [] });
    await root.ok('updateAsset', { params, body: { mature: true } });
    await mara.ok('updateAsset', { params, body: { mature: false } });
    const body = { code: 'medium', label: 'Medium', type: 'text', subject_kind: 'asset' } as const;
    const field = await root.ok('createField', { body });
    const secret = { ...body, code: 'price', label: 'Price', read_capability: 'system.admin' };
    const price = await root.ok('createField', { body: secret });
    for (const { id: field_id } of [field, price])
      await root.ok('setAssetFieldValue', { params: { id, field_id }, body: { value_text: 'Oil' } });
    for (const { id: field_id } of [field, price]) {
      const action = { kind: 'set_field' as const, field_id, value_text: 'Ink' };
      await root.ok('batchAssets', { body: { ids: [id], action } });
    }
    await library.runJobs();
    const { items: fields } = await root.ok('listFields', { query: { limit: 200 } });
    const title = { id, field_id: fields.find(({ code }) => code === 'title')?.id ?? '' };
    const edits = await auditEventsDuring(library, async () => {
      for (let times = 0; times < 2; times += 1)
        await root.ok('setAssetFieldValue', { params: title, body: { value_text: 'Ridge' } });
    });
    // FIELD-23
    expect(edits).toMatchObject([{ event: 'asset.updated', metadata: { changed: ['title'] } }]);
    await mara.ok('putAssetShare', { params: { id, user_ref: root.ref }, body: {} });
    const link = await mara.ok('createAssetLink', {
      params,
      body: { label: 'Client', allow_download: true },
    });
    await library.anonymous().ok('recordLinkView', { params: { token: link.token, id } });
    await library.anonymous().send(`/links/${link.token}/assets/${id}/file?download=true`);
    await mara.ok('revokeLink', { params: { link: link.id } });
    const download = (query: string, init = {}) => root.send(`/assets/${id}/file${query}`, init);
    await download('?download=true');
    await download('?download=true', { headers: { range: 'bytes=0-1' } });
    // Not downloads of their own.
    await download('?download=true', { headers: { range: 'bytes=2-3' } });
    await download('?download=true', { method: 'HEAD' });
    await download('');
    await mara.ok('deleteAsset', { params, body: {} });
    await mara.ok('restoreAsset', { params });
    const action = { kind: 'add_tags' as const, tags: ['sky'] };
    await mara.ok('batchAssets', { body: { ids: [id], action } });
    await library.runJobs();

    const form = new FormData();
    form.append('file', new Blob([Buffer.from(unknownBytes()), 'again']), 'a.bin');
    await mara.ok('addAssetVersion', { params, body: form });

    const entries = await historyOf(id);
    expect(entries.map(({ what }) => what).toReversed()).toEqual([
      'created',
      'edited',
      'edited',
      'edited',
      'field_changed',
      'field_changed',
      'edited',
      'shared',
      'link_created',
      'viewed_through_link',
      'downloaded_through_link',
      'link_revoked',
      'downloaded',
      'deleted',
      'restored',
      'edited',
      'version_added',
    ]);
    const [created, first, second, , ofField, , ofTitle, share, linked, viewed, , , downloaded] =
      entries.toReversed();
    expect(created?.who?.ref).toBe(mara.ref);
    expect(first).toMatchObject({ who: { ref: mara.ref }, properties: ['title', 'tags'] });
    expect(second).toMatchObject({ who: { ref: root.ref }, properties: ['mature'] });
    // The field that only administrators read is left out.
    expect(ofField).toMatchObject({ who: { ref: root.ref }, field: { id: field.id, title: 'Medium' } });
    expect(ofTitle).toMatchObject({ who: { ref: root.ref }, properties: ['title'] });
    expect(share).toMatchObject({ who: { ref: mara.ref }, subject: { ref: root.ref } });
    expect(linked?.label).toBe('Client');
    expect(viewed).toMatchObject({ label: 'Client', count: 1 });
    expect(viewed).not.toHaveProperty('who');
    expect(downloaded).toMatchObject({ who: { ref: root.ref }, count: 2 });
    expect(entries[0]).toMatchObject({ who: { ref: mara.ref }, version: 2 });
  });

  test('is 404 for those who may not edit the asset', async () => {
    const reader = await library.join('reader');
    for (const id of [asset.id, nowhere])
      expect((await reader.refused('listAssetHistory', { params: { id } })).status).toBe(404);
    await root.ok('listAssetHistory', { params: { id: asset.id } });
  });
});
