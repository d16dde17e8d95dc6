import type { AssetFields, ShownAsset } from '@vitrine/contract/assets';
import { capabilities } from '@vitrine/contract/capabilities';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { actAs } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

let asset: ShownAsset;

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [owner, asker] = await library.joinAll('owner', 'asker');
const hash = (await upload(owner, plainFile())).file_hash ?? '';
const add = (fields: AssetFields = {}) =>
  owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public', ...fields } });

beforeEach(async () => {
  asset = await add({ sensitivity: 'restricted' });
});

const ask = (body: unknown = undefined, as: Visitor = asker, id = asset.id) =>
  as.send(`/assets/${id}/request-access`, { method: 'POST', body });
const asks = (id = asset.id) =>
  db.selectFrom('resource_requests').selectAll().where('target_id', '=', id).execute();
const events = (id = asset.id) => auditEvents(library, { target_id: id, event: 'request.created' });
const patch = (body: { status?: 'draft'; sensitivity?: 'public' }) =>
  owner.ok('updateAsset', { params: { id: asset.id }, body });

// REQUEST-1
describe('POST /assets/{id}/request-access', () => {
  // REQUEST-1
  test('creates a pending request with the access marker', async () => {
    const answer = await ask();
    expect(answer.status).toBe(201);
    const [row] = await asks();
    expect(JSON.parse(answer.text)).toEqual({
      id: row?.id,
      requester_user_ref: asker.ref,
      requester: { ref: asker.ref, username: 'asker', display_name: 'asker', avatar_url: null },
      target_kind: 'asset',
      target_id: asset.id,
      requested_capability: 'content.access.request',
      state: 'pending',
      requested_at: row?.requested_at,
      grant_expires_at: null,
    });
    expect(row).toMatchObject({ state: 'pending', reason: null, decided_at: null });
    expect(Math.abs(Date.parse(row?.requested_at ?? '') - Date.now())).toBeLessThan(60_000);
    expect(await events()).toMatchObject([
      {
        actor_user_ref: asker.ref,
        impersonator_user_ref: null,
        subject_user_ref: asker.ref,
        target_kind: 'asset',
        metadata: { request_id: row?.id, capability: 'content.access.request' },
      },
    ]);
  });

  // REQUEST-11, REQUEST-19
  test('gives no access to the asset, neither pending nor granted', async () => {
    await ask();
    const placeholder = { id: asset.id, restricted: true, owner_display_name: 'owner' };
    expect(await asker.ok('getAsset', { params: { id: asset.id } })).toEqual(placeholder);
    await db
      .updateTable('resource_requests')
      .set({ state: 'granted' })
      .where('target_id', '=', asset.id)
      .execute();
    expect(await asker.ok('getAsset', { params: { id: asset.id } })).toEqual(placeholder);
    expect((await asker.send(`/assets/${asset.id}/file`)).status).toBe(404);
  });

  // REQUEST-1
  test('accepts a capability and a reason, both optional', async () => {
    const reason = 'ß"\n<b>'.padEnd(1000, 'ß');
    const requested_capability = 'content.read.all';
    const answer = await ask({ capability: requested_capability, reason });
    expect(JSON.parse(answer.text)).toMatchObject({ requested_capability, reason, state: 'pending' });
    const plain = await ask({ capability: null, reason: null });
    expect([answer.status, plain.status]).toEqual([201, 201]);
    expect(JSON.parse(plain.text).requested_capability).toBe('content.access.request');
    expect(JSON.parse(plain.text)).not.toHaveProperty('reason');
    expect((await ask({ capability: 'content.access.request' })).text).toBe(plain.text);
  });

  test('accepts every real capability, which requesting does not grant', async () => {
    const answers = await Promise.all(capabilities.map((capability) => ask({ capability })));
    expect(answers.map(({ status }) => status)).toEqual(capabilities.map(() => 201));
    expect((await asker.refused('getPublicMode')).status).toBe(403);
  });

  // REQUEST-2
  test('returns 400 for other capabilities, and to the owner of the asset', async () => {
    for (const capability of ['content.restore.request', 'content.access', ' system.admin', 'toString'])
      expect([capability, (await ask({ capability })).status]).toEqual([capability, 400]);
    for (const who of [owner, await actAs(library, root, owner)])
      expect((await ask({}, who)).text).toBe('{"error":"you own this asset"}');
    expect([await asks(), await events()]).toEqual([[], []]);
  });
});

// REQUEST-4
describe('one pending request per account, asset and capability', () => {
  // REQUEST-4
  test('returns 200 with the pending request for a repetition', async () => {
    const first = await ask({ reason: 'first' });
    for (const body of [undefined, {}, { reason: 'second' }, { capability: 'content.access.request' }]) {
      const again = await ask(body);
      expect([again.status, again.text]).toEqual([200, first.text]);
    }
    expect(await asks()).toMatchObject([{ reason: 'first' }]);
    expect(await events()).toHaveLength(1);
  });

  test('creates another request for another account, asset or capability', async () => {
    const second = await library.join('second');
    const twin = await add();
    const answers = [
      await ask(),
      await ask({ capability: 'posts.admin' }),
      await ask({}, second),
      await ask({}, asker, twin.id),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ text }) => JSON.parse(text).id)).size).toBe(4);
  });

  // REQUEST-4
  test('creates one request and one event from ten concurrent ones', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask({ reason: `${n}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect([await asks(), await events()]).toMatchObject([[{}], [{}]]);
  });

  // REQUEST-5
  test('allows a new request after a decision', async () => {
    for (const state of ['denied', 'granted', 'expired'] as const) {
      expect((await ask({ reason: state })).status).toBe(201);
      await db
        .updateTable('resource_requests')
        .set({ state, decided_at: '2026-01-01T00:00:00Z', decided_by_user_ref: owner.ref })
        .where('target_id', '=', asset.id)
        .where('state', '=', 'pending')
        .execute();
    }
    const last = await ask({ reason: 'still' });
    expect(last.status).toBe(201);
    expect(JSON.parse(last.text)).not.toHaveProperty('decided_at');
    expect((await ask()).text).toBe(last.text);
    const states = (await asks()).map(({ state }) => state);
    expect(states.sort()).toEqual(['denied', 'expired', 'granted', 'pending']);
    expect(await events()).toHaveLength(4);
  });
});

describe('who may request what', () => {
  // REQUEST-3
  test('any account, also for assets that it may see or that have no owner', async () => {
    const viewer = await library.join('viewer', 'viewer');
    for (const visitor of [viewer, root]) expect((await ask({}, visitor)).status).toBe(201);
    await patch({ sensitivity: 'public' });
    expect((await ask()).status).toBe(201);
    const unowned = await add();
    await db.updateTable('assets').set({ owner_user_ref: null }).where('id', '=', unowned.id).execute();
    expect((await ask({}, asker, unowned.id)).status).toBe(201);
  });

  // REQUEST-3
  test('returns the same 404 for unreadable, deleted and unknown assets', async () => {
    const [draft, failed] = [await add({ status: 'draft' }), await add()];
    await db.updateTable('assets').set({ processing_status: 'failed' }).where('id', '=', failed.id).execute();
    await owner.ok('deleteAsset', { params: { id: asset.id }, body: undefined });
    for (const id of [draft.id, failed.id, asset.id, crypto.randomUUID()]) {
      const answer = await ask({}, asker, id);
      expect([answer.status, answer.text]).toEqual([404, '{"error":"not found"}']);
      expect(await asks(id)).toEqual([]);
    }
    for (const visitor of [owner, root]) expect((await ask({}, visitor)).status).toBe(404);
    expect((await ask({}, root, draft.id)).status).toBe(201);
  });

  test('keeps a pending request when the asset becomes unreadable', async () => {
    await ask();
    await patch({ status: 'draft' });
    expect((await ask()).status).toBe(404);
    expect(await asks()).toMatchObject([{ state: 'pending' }]);
  });

  test('requests as the target while impersonating; the audit event names both', async () => {
    const answer = await ask({}, await actAs(library, root, asker));
    expect([answer.status, JSON.parse(answer.text).requester_user_ref]).toEqual([201, asker.ref]);
    const metadata = { impersonated_by: { ref: root.ref, username: 'root' } };
    expect(await events()).toMatchObject([
      { actor_user_ref: asker.ref, impersonator_user_ref: root.ref, metadata },
    ]);
    expect((await ask()).text).toBe(answer.text);
  });
});

// RATE-5, RATE-6
test('returns 429 with Retry-After beyond the configured limit of an account, counting refused requests', async () => {
  const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on', VITRINE_REQUEST_LIMIT: '3' });
  const target = (await upload(await limited.join('owner'), plainFile())).id;
  const [eager, calm] = [await limited.join('eager'), await limited.join('calm')];
  const statuses: number[] = [];
  for (const id of [target, target, crypto.randomUUID()]) statuses.push((await ask({}, eager, id)).status);
  expect(statuses).toEqual([201, 200, 404]);
  const refused = await ask({}, eager, target);
  expect(refused.status).toBe(429);
  expect(Object.keys(JSON.parse(refused.text))).toEqual(['error']);
  const seconds = Number(refused.headers.get('retry-after'));
  // This limit counts per hour; others count per minute.
  expect(seconds).toBeGreaterThan(3000);
  expect(seconds).toBeLessThanOrEqual(3600);
  expect((await ask({}, calm, target)).status).toBe(201);
  await eager.ok('getAsset', { params: { id: target } });
});
