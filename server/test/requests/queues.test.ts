import type { ResourceRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

type Queue = 'listMyRequests' | 'listIncomingRequests' | 'listAllRequests';

let hash: string;

/** All requests, oldest first, with requester, owner and target. */
const asked: Record<string, ResourceRequest> = {};
const named = (request: { id: string }) =>
  Object.entries(asked).find(([, { id }]) => id === request.id)?.[0] ?? request.id;

const newAsset = (from: Account) =>
  from.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [owner, other, ann, sharer] = await library.joinAll('owner', 'other', 'ann', 'sharer');
await grant(library, sharer, 'share.grant');
/** An account with `posts.admin` that deleted a post of ann. */
const deleter = await library.join('deleter');
await grant(library, deleter, 'posts.admin');
for (const account of [owner, other, ann]) hash = (await upload(account, plainFile())).file_hash ?? '';
const [first, second, theirs] = [await newAsset(owner), await newAsset(owner), await newAsset(other)];
const ask = (who: Account, id: string, body: { capability?: string; reason?: string } = {}) =>
  who.ok('requestAccess', { params: { id }, body });
asked.access = await ask(ann, first.id, { reason: 'for the catalogue' });
asked.code = await ask(ann, first.id, { capability: 'teams.write' });
asked.elsewhere = await ask(ann, theirs.id);
asked.ownersAsk = await ask(owner, theirs.id);
asked.granted = await ask(other, first.id);
asked.denied = await ask(other, second.id);
const decide = (id: string, decision: 'granted' | 'denied') =>
  owner.ok('decideRequest', { params: { id }, body: { decision } });
asked.granted = await decide(asked.granted.id, 'granted');
asked.denied = await decide(asked.denied.id, 'denied');
const post = await publish(ann, [await newAsset(ann)]);
await deleter.ok('deletePost', { params: { id: post.id }, body: undefined });
asked.appeal = await ann.ok('requestRestore', { params: { kind: 'post', id: post.id }, body: {} });
asked.expired = await ask(other, second.id, { capability: 'jobs.read' });
await library.deps.db
  .updateTable('resource_requests')
  .set({ state: 'expired' })
  .where('id', '=', asked.expired.id)
  .execute();

const items = async (who: Visitor, queue: Queue, query: { state?: ResourceRequest['state'] } = {}) =>
  (await who.ok(queue, { query })).items;
const names = async (...of: Parameters<typeof items>) => (await items(...of)).map(named);
/** Returns the requests of the queue that the caller may decide now. */
const decidable = async (...of: Parameters<typeof items>) =>
  (await items(...of)).filter((one) => one.decidable_by_caller).map(named);

// REQUEST-16
test('GET /account/requests lists the caller’s requests, newest first', async () => {
  expect(await names(ann, 'listMyRequests')).toEqual(['appeal', 'elsewhere', 'code', 'access']);
  expect(await names(other, 'listMyRequests')).toEqual(['expired', 'denied', 'granted']);
  expect(await names(sharer, 'listMyRequests')).toEqual([]);
});

// REQUEST-16
describe('GET /account/requests/incoming', () => {
  // REQUEST-6, REQUEST-16
  test('lists requests for the caller’s assets and appeals against their deletes', async () => {
    const ofOwner = ['expired', 'denied', 'granted', 'code', 'access'];
    expect(await names(owner, 'listIncomingRequests')).toEqual(ofOwner);
    expect(await names(other, 'listIncomingRequests')).toEqual(['ownersAsk', 'elsewhere']);
    expect(await names(deleter, 'listIncomingRequests')).toEqual(['appeal']);
    for (const who of [ann, sharer, root]) expect(await names(who, 'listIncomingRequests')).toEqual([]);
  });

  test('omits an appeal once its target is restored', async () => {
    const post = await publish(ann, [await newAsset(ann)]);
    const params = { id: post.id };
    await deleter.ok('deletePost', { params, body: undefined });
    const appeal = await ann.ok('requestRestore', { params: { kind: 'post', id: post.id }, body: {} });
    expect((await items(deleter, 'listIncomingRequests')).map(({ id }) => id)).toContain(appeal.id);
    await deleter.ok('restorePost', { params });
    expect((await items(deleter, 'listIncomingRequests')).map(({ id }) => id)).not.toContain(appeal.id);
    await library.deps.db.deleteFrom('resource_requests').where('id', '=', appeal.id).execute();
  });
});

// REQUEST-16, REQUEST-17
test('GET /admin/requests lists every request, and marks the pending ones that the caller may decide', async () => {
  const all = ['expired', 'appeal', 'denied', 'granted', 'ownersAsk', 'elsewhere', 'code', 'access'];
  const pending = ['ownersAsk', 'elsewhere', 'code', 'access'];
  for (const who of [sharer, root]) expect(await names(who, 'listAllRequests')).toEqual(all);
  expect(await decidable(sharer, 'listAllRequests')).toEqual(pending);
  expect(await decidable(root, 'listAllRequests')).toEqual(['appeal', ...pending]);
});

describe('each queue', () => {
  test('filters by state', async () => {
    const pending = ['appeal', 'ownersAsk', 'elsewhere', 'code', 'access'];
    expect(await names(root, 'listAllRequests', { state: 'pending' })).toEqual(pending);
    expect(await names(owner, 'listIncomingRequests', { state: 'pending' })).toEqual(['code', 'access']);
    for (const state of ['granted', 'denied', 'expired'] as const) {
      expect(await names(root, 'listAllRequests', { state })).toEqual([state]);
      expect(await names(owner, 'listIncomingRequests', { state })).toEqual([state]);
      expect(await names(other, 'listMyRequests', { state })).toEqual([state]);
    }
  });

  // REQUEST-17
  test('returns decidable_by_caller in every row', async () => {
    for (const queue of ['listMyRequests', 'listIncomingRequests', 'listAllRequests'] as const)
      for (const row of await items(root, queue)) expect(row).toHaveProperty('decidable_by_caller');
    const asset = await newAsset(owner);
    const input = { params: { id: asset.id }, body: {} };
    const made = await ann.ok('requestAccess', input);
    const again = await ann.ok('requestAccess', input);
    const decided = await root.ok('decideRequest', { params: { id: made.id }, body: { decision: 'denied' } });
    for (const one of [made, again, decided, asked.appeal])
      expect(one).not.toHaveProperty('decidable_by_caller');
    await library.deps.db.deleteFrom('resource_requests').where('id', '=', made.id).execute();
  });

  test('pages through 60 requests of one instant without duplicates', async () => {
    const [asker, target] = await library.joinAll('asker', 'target');
    await sql`with owned as (
        insert into assets (owner_user_ref, file_hash, file_name, asset_type)
        select ${target.ref}, file_hash, file_name, asset_type from assets, generate_series(1, 60)
        where id = ${asked.access?.target_id} returning id)
      insert into resource_requests (requester_user_ref, target_kind, target_id, requested_capability, requested_at)
      select ${asker.ref}, 'asset', id, 'content.access.request', '2026-01-01T00:00:00Z'
      from owned`.execute(library.deps.db);
    for (const [who, queue] of [
      [asker, 'listMyRequests'],
      [target, 'listIncomingRequests'],
      [root, 'listAllRequests'],
    ] as const) {
      const pages = await pagesOf((query) => who.ok(queue, { query }));
      const hers = pages.flat().filter((one) => one.requester_user_ref === asker.ref);
      const ids = hers.map(({ id }) => id);
      expect([queue, pages[0]?.length, new Set(ids).size]).toEqual([queue, 50, 60]);
      expect(ids).toEqual([...ids].sort().reverse());
    }
  });
});
