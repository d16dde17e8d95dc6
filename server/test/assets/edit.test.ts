import { setTimeout as sleep } from 'node:timers/promises';
import type { AssetUpdate, ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lockFile } from '../../src/assets/insert.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { jpeg, unknownBytes } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let library: Library;
let root: Account;
let mara: Account;
let other: Account;
let hash: string;
let studio: string;
let asset: ShownAsset;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  mara = await library.join('mara');
  other = await library.join('other');
  studio = await addTeam(library, 'studio', [mara]);
  const file = await upload(mara, unknownBytes());
  if (file.file_hash === null) throw new Error('no hash');
  hash = file.file_hash;
});

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

async function rowOf(id: string) {
  return library.deps.db.selectFrom('assets').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

const edit = (body: AssetUpdate, as: Visitor = mara) =>
  as.ok('updateAsset', { params: { id: asset.id }, body });
const patch = (body: unknown, as: Visitor = mara) =>
  as.send(`/assets/${asset.id}`, { method: 'PATCH', body });

describe('PATCH /assets/{id} changes', () => {
  const changes: [keyof ShownAsset & keyof AssetUpdate, AssetUpdate, unknown][] = [
    ['title', { title: 'Ridge at dawn' }, 'Ridge at dawn'],
    ['title', { title: '' }, ''],
    ['title', { title: 'x'.repeat(500) }, 'x'.repeat(500)],
    ['description', { description: 'One\nline\tand <b>another</b>' }, 'One\nline\tand <b>another</b>'],
    ['description', { description: '' }, ''],
    ['description', { description: 'y'.repeat(20_000) }, 'y'.repeat(20_000)],
    ['asset_type', { asset_type: 4 }, 4],
    ['status', { status: 'archived' }, 'archived'],
    ['status', { status: 'draft' }, 'draft'],
    ['sensitivity', { sensitivity: 'restricted' }, 'restricted'],
    ['mature', { mature: true }, true],
    ['ai_provenance', { ai_provenance: 'none' }, 'none'],
    ['metadata', { metadata: { a: [1, { b: null }], 日: 'x' } }, { a: [1, { b: null }], 日: 'x' }],
    ['metadata', { metadata: {} }, {}],
  ];

  test.each(changes)('%s, and nothing else: %j', async (key, body, value) => {
    const changed = await edit(body);
    const visible = changed.status === 'active' && changed.sensitivity === 'public';
    expect(changed).toEqual({
      ...asset,
      [key]: value,
      anonymously_visible: visible,
      updated_at: changed.updated_at,
    });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(asset.updated_at));
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toEqual(changed);
  });

  test('several properties at once', async () => {
    const body: AssetUpdate = {
      title: 'a',
      description: 'b',
      asset_type: 2,
      sensitivity: 'team',
      mature: true,
      ai_provenance: 'generated',
      tags: ['c'],
      metadata: { d: 1 },
    };
    expect(await edit(body)).toMatchObject(body);
  });

  test('no property that is null or absent', async () => {
    const nulls: AssetUpdate = {
      title: null,
      description: null,
      asset_type: null,
      status: null,
      sensitivity: null,
      mature: null,
      ai_provenance: null,
      tags: null,
      metadata: null,
      if_unchanged_since: null,
    };
    // Nothing was requested, so the time of the last change remains.
    for (const body of [nulls, {}, { clear_ai_provenance: null }, { clear_ai_provenance: false }]) {
      expect(await edit(body)).toEqual(asset);
      expect(await mara.ok('getAsset', { params: { id: asset.id } })).toEqual(asset);
    }
  });

  // ASSET-21
  test('the AI provenance to undeclared with `clear_ai_provenance`, which is 400 beside a value', async () => {
    expect(await edit({ clear_ai_provenance: false })).toMatchObject({ ai_provenance: 'assisted' });
    const both = await patch({ clear_ai_provenance: true, ai_provenance: 'none', title: 'no' });
    expect(both.status).toBe(400);
    expect(await rowOf(asset.id)).toMatchObject({ ai_provenance: 'assisted', title: 'Ridge' });
    expect((await edit({ clear_ai_provenance: true, ai_provenance: null })).ai_provenance).toBeNull();
    expect((await edit({ clear_ai_provenance: true })).ai_provenance).toBeNull();
  });

  test('its audience immediately with status and sensitivity', async () => {
    await library.setPublicMode(true);
    const seen = async () =>
      Promise.all(
        [library.anonymous(), other].map(async (visitor) => {
          const answer = await visitor.send(`/assets/${asset.id}`);
          return answer.status === 200 ? JSON.parse(answer.text).restricted : answer.status;
        }),
      );
    expect([await seen(), asset.anonymously_visible]).toEqual([[false, false], true]);
    for (const [body, want] of [
      [{ sensitivity: 'restricted' }, [404, true]],
      [{ sensitivity: 'team' }, [404, true]],
      [{ sensitivity: 'public' }, [false, false]],
      [{ status: 'draft' }, [404, 404]],
      [{ status: 'archived' }, [404, 404]],
      [{ status: 'active' }, [false, false]],
    ] as const) {
      const changed = await edit(body);
      expect([body, await seen(), changed.anonymously_visible]).toEqual([body, want, want[0] === false]);
    }
    await library.setPublicMode(false);
  });
});

describe('PATCH /assets/{id} refuses invalid changes and changes nothing', () => {
  test.each([
    ['team_id', null],
    ['team_id', '00000000-0000-4000-8000-00000000dead'],
    ['owner_user_ref', 1],
    ['state_id', '00000000-0000-4000-8000-000000000201'],
    ['file_hash', 'a'.repeat(64)],
    ['processing_status', 'ready'],
    ['anonymously_visible', true],
    ['preview_available', true],
    ['thumbhash', 'aaaa'],
    ['pixel_width', 1],
    ['id', '00000000-0000-4000-8000-00000000dead'],
    ['created_at', '2020-01-01T00:00:00Z'],
    ['deleted_at', null],
    ['restricted', false],
    ['clear_title', true],
    ['clear_team_id', true],
    ['__proto__x', 1],
  ])('the property %s, by name, for the owner and for system.admin', async (key, value) => {
    const before = await rowOf(asset.id);
    for (const visitor of [mara, root]) {
      const answer = await patch({ title: 'no', [key]: value }, visitor);
      expect([answer.status, answer.text]).toEqual([400, `{"error":"unknown property ${key}"}`]);
    }
    expect(await rowOf(asset.id)).toEqual(before);
  });

  // ASSET-18
  test('the team that the asset already has', async () => {
    expect((await patch({ team_id: studio })).status).toBe(400);
  });

  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
  test.each([
    ['title', 'x'.repeat(501)],
    ['title', 4],
    ['title', 'nul\0'],
    ['description', 'x'.repeat(20_001)],
    ['asset_type', 0],
    ['asset_type', -1],
    ['asset_type', 4711],
    ['asset_type', 2_147_483_648],
    ['asset_type', 1.5],
    ['asset_type', '1'],
    ['status', 'gone'],
    ['status', ''],
    ['sensitivity', 'secret'],
    ['mature', 'true'],
    ['mature', 1],
    ['ai_provenance', 'some'],
    ['ai_provenance', ''],
    ['clear_ai_provenance', 'yes'],
    ['tags', 'one'],
    ['tags', ['']],
    ['tags', ['x'.repeat(65)]],
    ['tags', [null]],
    ['tags', ['nul\0']],
    ['tags', Array.from({ length: 51 }, (_, n) => `t${n}`)],
    ['metadata', []],
    ['metadata', 'text'],
    ['metadata', { 'nul\0': 1 }],
    ['metadata', { a: 'nul\0' }],
    ['metadata', deep(65)],
    ['if_unchanged_since', 'yesterday'],
    ['if_unchanged_since', 1_700_000_000],
    ['if_unchanged_since', '2026-02-30T00:00:00Z'],
    ['if_unchanged_since', ''],
  ])('an invalid %s: %j', async (key, value) => {
    const before = await rowOf(asset.id);
    const body = { title: 'no', [key]: value };
    expect((await patch(body)).status).toBe(400);
    expect(await rowOf(asset.id)).toEqual(before);
    const { tags } = await edit({});
    expect(tags).toEqual(['sea', 'blue']);
  });

  test.each(['', '[]', '"x"', 'null', '{"title":', '{"title":"a"} x'])('the body %j', async (body) => {
    const headers = { 'content-type': 'application/json' };
    expect((await mara.send(`/assets/${asset.id}`, { method: 'PATCH', body, headers })).status).toBe(400);
    expect(await rowOf(asset.id)).toMatchObject({ title: 'Ridge' });
  });

  // ASSET-17
  describe('the mature rating if the library does not allow it', () => {
    beforeEach(async () => {
      await root.ok('setMatureContent', { body: { allowed: false } });
      return async () => {
        await root.ok('setMatureContent', { body: { allowed: true } });
      };
    });

    // ASSET-17
    test('for the owner and administrators, with all other properties of the body', async () => {
      const before = await rowOf(asset.id);
      for (const visitor of [mara, root]) {
        const answer = await patch({ title: 'no', mature: true, tags: ['no'] }, visitor);
        expect(answer.status).toBe(400);
      }
      expect(await rowOf(asset.id)).toEqual(before);
      expect((await edit({})).tags).toEqual(['sea', 'blue']);
    });

    test('but allows edits of assets that are already mature, and clearing the rating', async () => {
      await library.deps.db.updateTable('assets').set({ mature: true }).where('id', '=', asset.id).execute();
      expect(await edit({ title: 'Later' })).toMatchObject({ title: 'Later', mature: true });
      expect(await edit({ mature: false })).toMatchObject({ mature: false });
      expect((await patch({ mature: true })).status).toBe(400);
    });
  });
});

// ASSET-13
describe('who may change an asset', () => {
  test('returns 404 to everyone for a deleted or unknown asset', async () => {
    await mara.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
    for (const id of [asset.id, crypto.randomUUID()]) {
      for (const visitor of [mara, root, other]) {
        expect(await visitor.refused('updateAsset', { params: { id }, body: { title: 'x' } })).toEqual({
          status: 404,
          error: 'not found',
        });
      }
    }
  });
});

describe('if_unchanged_since', () => {
  // HTTP-19
  test('accepts the current time in any RFC 3339 notation', async () => {
    const first = await edit({ title: 'one', if_unchanged_since: asset.updated_at });
    const moment = new Date(first.updated_at);
    const elsewhere = new Date(moment.getTime() + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    expect(await edit({ title: 'two', if_unchanged_since: elsewhere })).toMatchObject({ title: 'two' });
    expect(await edit({ title: 'three', if_unchanged_since: '2999-01-01T00:00:00Z' })).toMatchObject({
      title: 'three',
    });
  });

  // HTTP-5
  test('returns 409 with the time of the change, and writes nothing', async () => {
    const { updated_at } = await edit({ title: 'meanwhile' });
    for (const since of [asset.updated_at, '2000-01-01T00:00:00Z']) {
      const answer = await patch({ title: 'late', tags: ['late'], if_unchanged_since: since });
      expect(answer.status).toBe(409);
      expect(JSON.parse(answer.text)).toEqual({ error: expect.any(String), updated_at });
    }
    expect(await edit({})).toMatchObject({ title: 'meanwhile', tags: ['sea', 'blue'] });
  });

  test('changes with the tags too', async () => {
    await edit({ tags: ['sea'] });
    expect((await patch({ tags: ['late'], if_unchanged_since: asset.updated_at })).status).toBe(409);
  });

  // HTTP-19
  test('lets exactly one of ten concurrent editors write', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        patch({ title: `editor ${n}`, tags: [`tag ${n}`], if_unchanged_since: asset.updated_at }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await mara.ok('getAsset', { params: { id: asset.id } })).toMatchObject({
      title: `editor ${winner}`,
      tags: [`tag ${winner}`],
    });
  });

  // HTTP-18
  test('increases with every change, also when the clock is behind', async () => {
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    await library.deps.db
      .updateTable('assets')
      .set({ updated_at: ahead })
      .where('id', '=', asset.id)
      .execute();
    await Promise.all(Array.from({ length: 20 }, (_, n) => edit({ title: `t${n}` })));
    const { updated_at } = await rowOf(asset.id);
    expect(Date.parse(updated_at)).toBe(Date.parse(ahead) + 20);
    expect((await patch({ title: 'late', if_unchanged_since: ahead })).status).toBe(409);
  });

  test('is not decreased by a rendering that ends after an edit', async () => {
    const picture = await upload(mara, await jpeg(64, 48));
    const { file_hash } = picture;
    if (file_hash === null) throw new Error('no hash');
    const held: { done: Promise<void> } = { done: Promise.resolve() };
    const edited = await library.deps.db.transaction().execute(async (tx) => {
      await lockFile(tx, file_hash);
      held.done = library.runJobs();
      expect(await comeToWait(library.deps.db)).toBe(true);
      await sleep(20);
      return mara.ok('updateAsset', { params: { id: picture.id }, body: { title: 'edited' } });
    });
    await held.done;
    const after = await mara.ok('getAsset', { params: { id: picture.id } });
    if (after.restricted) throw new Error('withheld from its owner');
    expect(after).toMatchObject({ title: 'edited', processing_status: 'ready' });
    expect(Date.parse(after.updated_at)).toBeGreaterThanOrEqual(Date.parse(edited.updated_at));
  });
});
