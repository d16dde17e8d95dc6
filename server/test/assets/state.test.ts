import type { ShownAsset } from '@vitrine/contract/assets';
import { beforeAll, expect, test } from 'vitest';
import { arrive, grant, nowhere } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainText } from '../support/pictures.ts';

let library: Library;
let owner: Account;
let stranger: Account;
let asset: ShownAsset;
let ids: Map<string, string>;

beforeAll(async () => {
  library = await openLibrary();
  owner = await arrive(library, 'owner');
  stranger = await arrive(library, 'stranger');
  asset = await upload(owner, plainText());
  const states = await owner.ok('listWorkflowStates', { query: { domain: 'asset' } });
  expect(states.map(({ code, label }) => [code, label])).toEqual([
    ['wip', 'Work in progress'],
    ['review', 'In review'],
    ['approved', 'Approved'],
  ]);
  ids = new Map(states.map(({ code, id }) => [code, id]));
});

const idOf = (code: string) => ids.get(code) ?? '';
const move = (who: Visitor, state_id: string, id = asset.id) =>
  who.ok('setAssetState', { params: { id }, body: { state_id } });
const refusal = async (who: Visitor, state_id: string, id = asset.id) =>
  (await who.send(`/assets/${id}/state`, { method: 'POST', body: { state_id } })).status;
const found = async (state: string) =>
  (await stranger.ok('listAssets', { query: { state } })).items.map(({ id }) => id);
const events = () =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['actor_user_ref', 'metadata'])
    .where('event', '=', 'asset.state.changed')
    .orderBy('occurred_at')
    .execute();

// ASSET-26, ASSET-29
test('sets a new asset to work in progress, and lets its owner change the state', async () => {
  expect(asset.state_id).toBe(idOf('wip'));
  const moved = await move(owner, idOf('review'));
  expect(moved.state_id).toBe(idOf('review'));
  expect(Date.parse(moved.updated_at)).toBeGreaterThan(Date.parse(asset.updated_at));
  expect([await found('review'), await found('wip'), await found('cheese')]).toEqual([[asset.id], [], []]);
  // Setting the current state changes nothing.
  expect((await move(owner, idOf('review'))).updated_at).toBe(moved.updated_at);
  expect(await events()).toEqual([{ actor_user_ref: owner.ref, metadata: { from: 'wip', to: 'review' } }]);
});

// ASSET-29
test('returns no state for an asset from before states existed, until one is set', async () => {
  const old = await upload(owner, plainText('old'));
  await library.deps.db.updateTable('assets').set({ state_id: null }).where('id', '=', old.id).execute();
  expect(await stranger.ok('getAsset', { params: { id: old.id } })).toMatchObject({ state_id: null });
  expect((await move(owner, idOf('approved'), old.id)).state_id).toBe(idOf('approved'));
  expect((await events()).at(-1)?.metadata).toEqual({ from: null, to: 'approved' });
});

// ASSET-26
test('requires the right to edit the asset', async () => {
  expect(await refusal(stranger, idOf('approved'))).toBe(403);
  expect(await refusal(library.anonymous(), idOf('approved'))).toBe(401);
  const hidden = await upload(owner, plainText('hidden'), { sensitivity: 'posts' });
  expect(await refusal(stranger, idOf('approved'), hidden.id)).toBe(404);
  const curator = await arrive(library, 'curator');
  await grant(library, curator, 'assets.admin');
  expect((await move(curator, idOf('approved'))).state_id).toBe(idOf('approved'));
});

// ASSET-26, ASSET-29
test('returns 404 for unknown states, and 400 for malformed ones and those of another domain', async () => {
  const [ofPosts] = await owner.ok('listWorkflowStates', { query: { domain: 'post' } });
  expect(await refusal(owner, nowhere)).toBe(404);
  expect(await refusal(owner, ofPosts?.id ?? '')).toBe(400);
  expect(await refusal(owner, 'wip')).toBe(400);
  expect(await refusal(owner, idOf('wip'), nowhere)).toBe(404);
});

// ASSET-22
test('does not find assets with withheld columns by a state filter', async () => {
  const { id } = await upload(owner, plainText('secret'), { sensitivity: 'restricted' });
  expect(await found('wip')).not.toContain(id);
  const { items } = await owner.ok('listAssets', { query: { state: 'wip' } });
  expect(items.map((item) => item.id)).toContain(id);
});
