import { expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const [owner, stranger] = await library.joinAll('owner', 'stranger');
const asset = await upload(owner, plainFile());
const states = await owner.ok('listWorkflowStates', { query: { domain: 'asset' } });
expect(states.map(({ code, label }) => [code, label])).toEqual([
  ['wip', 'Work in progress'],
  ['review', 'In review'],
  ['approved', 'Approved'],
]);
const ids = new Map(states.map(({ code, id }) => [code, id]));

const idOf = (code: string) => ids.get(code) ?? '';
const move = (who: Account, state_id: string, id = asset.id) =>
  who.ok('setAssetState', { params: { id }, body: { state_id } });
const refusal = async (who: Account, state_id: string, id = asset.id) =>
  (await who.refused('setAssetState', { params: { id }, body: { state_id } })).status;
const found = async (state: string, who = stranger) =>
  (await who.ok('listAssets', { query: { state } })).items.map(({ id }) => id);
const changesOf = async (target_id: string) =>
  (await auditEvents(library, { event: 'asset.state.changed', target_id })).map(
    ({ actor_user_ref, metadata }) => [actor_user_ref, metadata],
  );

// ASSET-22, ASSET-26, ASSET-29
test('sets a new asset to work in progress, and lets those who may edit it change the state', async () => {
  expect(asset.state_id).toBe(idOf('wip'));
  const moved = await move(owner, idOf('review'));
  expect(moved.state_id).toBe(idOf('review'));
  expect(Date.parse(moved.updated_at)).toBeGreaterThan(Date.parse(asset.updated_at));
  expect([await found('review'), await found('wip'), await found('cheese')]).toEqual([[asset.id], [], []]);
  // Setting the current state changes nothing.
  expect((await move(owner, idOf('review'))).updated_at).toBe(moved.updated_at);
  expect(await changesOf(asset.id)).toEqual([[owner.ref, { from: 'wip', to: 'review' }]]);
  // A filter reads columns.
  const withheld = await upload(owner, plainFile('secret'), { sensitivity: 'restricted' });
  expect([await found('wip'), await found('wip', owner)]).toEqual([[], [withheld.id]]);
});

// ASSET-29
test('returns no state for an asset from before states existed, until one is set', async () => {
  const { id } = await upload(owner, plainFile('old'));
  await library.deps.db.updateTable('assets').set({ state_id: null }).where('id', '=', id).execute();
  expect(await stranger.ok('getAsset', { params: { id } })).toMatchObject({ state_id: null });
  expect((await move(owner, idOf('approved'), id)).state_id).toBe(idOf('approved'));
  expect(await changesOf(id)).toEqual([[owner.ref, { from: null, to: 'approved' }]]);
});

// ASSET-26
test('refuses callers who may not edit the asset, unknown states and those of another domain', async () => {
  const [ofPosts] = await owner.ok('listWorkflowStates', { query: { domain: 'post' } });
  expect(await refusal(stranger, idOf('approved'))).toBe(403);
  const hidden = await upload(owner, plainFile('hidden'), { sensitivity: 'posts' });
  expect(await refusal(stranger, idOf('approved'), hidden.id)).toBe(404);
  expect(await refusal(owner, nowhere)).toBe(404);
  expect(await refusal(owner, ofPosts?.id ?? '')).toBe(400);
  expect(await refusal(owner, idOf('wip'), nowhere)).toBe(404);
  const curator = await library.join('curator');
  await grant(library, curator, 'assets.admin');
  expect((await move(curator, idOf('approved'))).state_id).toBe(idOf('approved'));
});
