import type { ResourceRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';

/** The access matrix (server/test/access/surfaces/requests.ts) shows who decides which request. */

const refusal = { status: 403, error: 'you may not decide this request' };
const conflict = { status: 409, error: 'the request has already been decided' };
/** Not a round millisecond, because PostgreSQL omits trailing zeros. */
const inAnHour = () => new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_123).toISOString();

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
/** The owner of all requested assets. */
const [owner, requester] = await library.joinAll('owner', 'requester');
/** An account with `share.grant`. */
const sharer = await library.join('sharer');
await grant(library, sharer, 'share.grant');
/** An account with `posts.admin` and `assets.admin` that deletes what others ask to restore. */
const deleter = await library.join('deleter');
await grant(library, deleter, ['posts.admin', 'assets.admin']);
const hash = (await upload(owner, await jpeg(80, 60))).file_hash ?? '';
await upload(requester, await jpeg(80, 60));
await library.runJobs();

type Decision = Parameters<typeof root.ok<'decideRequest'>>[1];
type Body = NonNullable<Decision>['body'];
const decide = (who: Visitor, { id }: { id: string }, body: Body = { decision: 'granted' }) =>
  who.ok('decideRequest', { params: { id }, body });
const refused = (who: Visitor, { id }: { id: string }, body: Body = { decision: 'granted' }) =>
  who.refused('decideRequest', { params: { id }, body });
const statusOf = async (who: Visitor, { id }: { id: string }, body: unknown = { decision: 'granted' }) =>
  (await who.send(`/admin/requests/${id}/decide`, { method: 'POST', body })).status;

/** Creates a restricted asset of the owner, and a request of the requester for it. */
async function askAccess(capability?: string, from: Account = requester): Promise<ResourceRequest> {
  const asset = await owner.ok('createAsset', { body: { file_hash: hash, sensitivity: 'restricted' } });
  const body = capability === undefined ? {} : { capability };
  return from.ok('requestAccess', { params: { id: asset.id }, body });
}

/** Creates a post or asset of the requester, which the deleter deletes, and a request to restore it. */
async function askBack(kind: 'post' | 'asset', by: Account = deleter): Promise<ResourceRequest> {
  const asset = await requester.ok('createAsset', { body: { file_hash: hash, sensitivity: 'public' } });
  const { id } = kind === 'asset' ? asset : await publish(requester, [asset]);
  const input = { params: { id }, body: { reason: 'against the rules' } };
  await (kind === 'asset' ? by.ok('deleteAsset', input) : by.ok('deletePost', input));
  return requester.ok('requestRestore', { params: { kind, id }, body: {} });
}

/** Returns the request as its requester sees it. */
async function mine({ id }: { id: string }, who: Visitor = requester): Promise<ResourceRequest> {
  const { items } = await who.ok('listMyRequests', { query: { limit: 200 } });
  const found = items.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no request ${id}`);
  return found;
}

const grantsOf = (account: { ref: number }) =>
  db
    .selectFrom('user_capability_grants')
    .select(['capability', 'team_id', 'granted_by_user_ref', 'request_ref', 'expires_at'])
    .where('user_ref', '=', account.ref)
    .orderBy('created_at')
    .execute();
const grantsFor = ({ id }: { id: string }) =>
  db.selectFrom('user_capability_grants').selectAll().where('request_ref', '=', id).execute();
const isDeleted = async (kind: 'post' | 'asset', id: string) => {
  const { rows } = await sql<{ deleted: boolean }>`select deleted_at is not null or deleted_reason is not null
      or deleted_by_user_ref is not null as deleted
    from ${sql.table(`${kind}s`)} where id = ${id}`.execute(db);
  return rows[0]?.deleted;
};

// REQUEST-6
describe('who decides', () => {
  // REQUEST-6, REQUEST-7
  test('the owner decides about access, the deleter about a restore, and share.grant about capabilities', async () => {
    const requests: [Account, ResourceRequest][] = [
      [owner, await askAccess()],
      [deleter, await askBack('post')],
      [sharer, await askAccess('caps.read')],
    ];
    for (const [decider, request] of requests) {
      for (const who of [owner, deleter, requester].filter((one) => one !== decider))
        expect(await refused(who, request)).toEqual(refusal);
      expect(await decide(decider, request)).toMatchObject({ state: 'granted' });
    }
  });

  // REQUEST-7, TRASH-2
  test('lets only system.admin restore what an unknown account deleted', async () => {
    const request = await askBack('post');
    await db
      .updateTable('posts')
      .set({ deleted_by_user_ref: null })
      .where('id', '=', request.target_id)
      .execute();
    for (const who of [deleter, sharer, requester]) expect(await refused(who, request)).toEqual(refusal);
    expect(await decide(root, request)).toMatchObject({ state: 'granted' });
  });

  // REQUEST-8
  test('does not let a holder of share.grant decide their own request', async () => {
    const climber = await library.join('climber');
    await grant(library, climber, 'share.grant');
    for (const code of ['system.admin', 'content.access.request'])
      expect(await refused(climber, await askAccess(code, climber))).toEqual(refusal);
    expect((await climber.ok('getMe')).capabilities).not.toContain('system.admin');
  });

  // REQUEST-9
  test('callers who may decide nothing do not learn whether a request exists or was decided', async () => {
    const request = await askAccess();
    await decide(owner, request, { decision: 'denied' });
    for (const id of [request.id, nowhere]) expect(await refused(requester, { id })).toEqual(refusal);
    expect(await refused(owner, { id: nowhere })).toEqual(refusal);
    expect(await refused(sharer, { id: nowhere })).toEqual({ status: 404, error: 'not found' });
  });
});

// REQUEST-10
test('refuses an expiry in the past, and any expiry for a restore; the request stays pending', async () => {
  const request = await askAccess();
  const past = '2020-01-01T00:00:00Z';
  const ends = [past, new Date().toISOString(), '2099-01-01', 'infinity', '2016-12-31T23:59:60Z'];
  for (const expires_at of ends) {
    const status = await statusOf(owner, request, { decision: 'granted', expires_at });
    expect([expires_at, status]).toEqual([expires_at, 400]);
  }
  expect(await statusOf(owner, request, { decision: 'denied', expires_at: past })).toBe(400);
  expect(await mine(request)).toMatchObject({ state: 'pending' });
  expect(await grantsFor(request)).toEqual([]);
  const back = await askBack('post');
  for (const decision of ['granted', 'denied'] as const)
    expect((await refused(deleter, back, { decision, expires_at: inAnHour() })).status).toBe(400);
  expect(await isDeleted('post', back.target_id)).toBe(true);
  const denied = await decide(deleter, back, { decision: 'denied', expires_at: null });
  expect(denied).toMatchObject({ state: 'denied' });
});

// REQUEST-10
describe('pending to granted', () => {
  test('returns who decided, when, why and until when', async () => {
    const request = await askAccess();
    const expires_at = inAnHour();
    const decided = await decide(owner, request, { decision: 'granted', reason: 'gladly', expires_at });
    expect(decided).toStrictEqual({
      ...request,
      state: 'granted',
      decided_at: expect.any(String),
      decided_by_user_ref: owner.ref,
      decision_reason: 'gladly',
      grant_expires_at: expires_at,
    });
    expect(await mine(request)).toEqual({ ...decided, decidable_by_caller: false });
  });

  // REQUEST-10
  test('creates a grant of the request, which applies at the next request, and is audited', async () => {
    const asker = await library.join('asker');
    const request = await askAccess('users.read', asker);
    expect((await asker.refused('listUsers')).status).toBe(403);
    expect(await decide(sharer, request)).toMatchObject({ grant_expires_at: null });
    const row = { capability: 'users.read', team_id: null, request_ref: request.id, expires_at: null };
    expect(await grantsOf(asker)).toEqual([{ ...row, granted_by_user_ref: sharer.ref }]);
    await asker.ok('listUsers');
    const { items } = await root.ok('listAudit', { query: { event: 'request.granted', actor: sharer.ref } });
    expect(items[0]).toMatchObject({
      subject_user_ref: asker.ref,
      metadata: { request_id: request.id, capability: 'users.read' },
    });
  });

  // REQUEST-11, ROLE-15
  test('grants nothing for a marker: the asset stays withheld', async () => {
    const asker = await library.join('asker of a picture');
    const before = await asker.ok('getMyCapabilities');
    const request = await askAccess(undefined, asker);
    const params = { id: request.target_id };
    const seen = async () => [
      await asker.ok('getAsset', { params }),
      (await asker.send(`/assets/${params.id}/file`)).status,
      (await asker.send(`/assets/${params.id}/variants/col`)).status,
    ];
    const withheld = await seen();
    expect(withheld).toMatchObject([{ restricted: true }, 404, 404]);
    await decide(owner, request);
    expect(await seen()).toEqual(withheld);
    for (const operation of ['getMyCapabilities', 'getMe'] as const)
      expect((await asker.ok(operation)).capabilities).toEqual(before.capabilities);
    expect(await grantsFor(request)).toMatchObject([{ capability: 'content.access.request' }]);
  });

  // REQUEST-12
  test('performs a restore instead of creating a grant', async () => {
    for (const kind of ['post', 'asset'] as const) {
      const request = await askBack(kind);
      const decided = await decide(deleter, request);
      expect(decided).toMatchObject({ state: 'granted', target_kind: kind, grant_expires_at: null });
      expect(await isDeleted(kind, request.target_id)).toBe(false);
      expect(await grantsFor(request)).toEqual([]);
      const query = { event: `admin.${kind}.restored`, actor: deleter.ref };
      const { items } = await root.ok('listAudit', { query });
      expect(items[0]).toMatchObject({ target_kind: kind, target_id: request.target_id });
    }
    const capabilities = (await grantsOf(requester)).map(({ capability }) => capability);
    expect(capabilities).not.toContain('content.restore.request');
  });
});

// REQUEST-13
describe('pending to denied', () => {
  // REQUEST-13
  test('grants and restores nothing', async () => {
    const [real, back] = [await askAccess('teams.write'), await askBack('asset')];
    const denied = { decision: 'denied', reason: 'no' } as const;
    expect(await decide(sharer, real, denied)).toStrictEqual({
      ...real,
      state: 'denied',
      decided_at: expect.any(String),
      decided_by_user_ref: sharer.ref,
      decision_reason: 'no',
      grant_expires_at: null,
    });
    await decide(deleter, back, denied);
    expect([await grantsFor(real), await isDeleted('asset', back.target_id)]).toEqual([[], true]);
    expect((await requester.ok('getMe')).capabilities).not.toContain('teams.write');
  });

  // REQUEST-5
  test('is final for the request; asking again creates another', async () => {
    const first = await askAccess();
    const denied = await decide(owner, first, { decision: 'denied' });
    const again = { method: 'POST', body: {} };
    const answer = await requester.send(`/assets/${first.target_id}/request-access`, again);
    expect(answer.status).toBe(201);
    const second = JSON.parse(answer.text);
    expect(second).toMatchObject({ state: 'pending', target_id: first.target_id });
    expect(second.id).not.toBe(first.id);
    expect(await decide(owner, second)).toMatchObject({ state: 'granted' });
    expect(await mine(first)).toEqual({ ...denied, decidable_by_caller: false });
  });
});

// REQUEST-9
describe('returns 409 for a decided request', () => {
  // REQUEST-9
  test('to everyone, whatever was decided', async () => {
    for (const first of ['granted', 'denied'] as const) {
      const request = await askAccess('jobs.read');
      const decided = await decide(sharer, request, { decision: first });
      for (const second of ['granted', 'denied'] as const)
        expect(await refused(root, request, { decision: second })).toEqual(conflict);
      expect(await mine(request)).toEqual({ ...decided, decidable_by_caller: false });
      expect(await grantsFor(request)).toHaveLength(first === 'granted' ? 1 : 0);
    }
  });

  // REQUEST-13
  test('accepts one of two concurrent decisions and creates one grant', async () => {
    for (let round = 0; round < 3; round += 1) {
      const request = await askAccess('jobs.read');
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, i) => statusOf(i % 2 === 0 ? sharer : root, request)),
      );
      expect(answers.sort()).toEqual([200, 409, 409, 409, 409, 409]);
      expect(await grantsFor(request)).toHaveLength(1);
    }
  });

  test('keeps state and grant consistent when granted and denied concurrently', async () => {
    for (let round = 0; round < 3; round += 1) {
      const request = await askAccess();
      const answers = await Promise.all([
        statusOf(owner, request, { decision: 'granted' }),
        statusOf(root, request, { decision: 'denied' }),
      ]);
      expect(answers.sort()).toEqual([200, 409]);
      const { state } = await mine(request);
      expect(await grantsFor(request)).toHaveLength(state === 'granted' ? 1 : 0);
    }
  });

  test('restores once when granted twice concurrently', async () => {
    const request = await askBack('post');
    const answers = await Promise.all([deleter, root, root].map((who) => statusOf(who, request)));
    expect(answers.filter((status) => status === 200)).toHaveLength(1);
    const restored = { target_id: request.target_id, event: 'admin.post.restored' };
    expect(await auditEvents(library, restored)).toHaveLength(1);
  });
});

describe('a decision after a change of the target', () => {
  // REQUEST-18
  test('grants the appeal when its target is restored directly, and notifies', async () => {
    for (const kind of ['post', 'asset'] as const) {
      const request = await askBack(kind);
      const params = { id: request.target_id };
      await (kind === 'post' ? root.ok('restorePost', { params }) : root.ok('restoreAsset', { params }));
      expect(await mine(request)).toMatchObject({ state: 'granted', decided_by_user_ref: root.ref });
      expect(await refused(root, request)).toEqual(conflict);
      expect(await isDeleted(kind, request.target_id)).toBe(false);
      expect(await grantsFor(request)).toEqual([]);
      await library.runJobs();
      const [told] = (await requester.ok('listNotifications')).items;
      expect(told).toMatchObject({ kind: 'request_decided', request: { id: request.id, state: 'granted' } });
    }
  });

  test('creates another appeal when another account deletes it again', async () => {
    const { id: before, target_id: id } = await askBack('asset');
    await library.runJobs();
    const [params, again] = [{ id }, await library.join('deletes anew')];
    await grant(library, again, 'assets.admin');
    await deleter.ok('restoreAsset', { params });
    await again.ok('deleteAsset', { params, body: undefined });
    const request = await requester.ok('requestRestore', { params: { kind: 'asset', id }, body: {} });
    expect(request.id).not.toBe(before);
    await library.runJobs();
    expect((await again.ok('listNotifications')).items).toMatchObject([{ request: { id: request.id } }]);
    expect(await refused(deleter, request)).toEqual(refusal);
    expect(await decide(again, request)).toMatchObject({ state: 'granted' });
  });

  test('restores and grants once when both happen concurrently', async () => {
    for (let round = 0; round < 3; round += 1) {
      const request = await askBack('post');
      const [decided, restored] = await Promise.all([
        statusOf(deleter, request),
        root.status('POST', `/admin/posts/${request.target_id}/restore`),
      ]);
      // The second of them finds the request decided.
      expect([
        [200, 404],
        [409, 204],
      ]).toContainEqual([decided === 403 ? 409 : decided, restored]);
      expect(await mine(request)).toMatchObject({ state: 'granted' });
      expect(await isDeleted('post', request.target_id)).toBe(false);
    }
  });

  test('cannot be granted after the target was purged', async () => {
    const [back, access] = [await askBack('post'), await askAccess()];
    await db.deleteFrom('posts').where('id', '=', back.target_id).execute();
    await db.deleteFrom('assets').where('id', '=', access.target_id).execute();
    expect(await refused(deleter, back)).toEqual(refusal);
    expect((await refused(root, back)).status).toBe(404);
    expect(await refused(owner, access)).toEqual(refusal);
    expect(await decide(root, back, { decision: 'denied' })).toMatchObject({ state: 'denied' });
    expect(await decide(sharer, access, { decision: 'denied' })).toMatchObject({ state: 'denied' });
  });

  test('passes the decision to a new owner', async () => {
    const request = await askAccess();
    const heir = await library.join('heir');
    await db
      .updateTable('assets')
      .set({ owner_user_ref: heir.ref })
      .where('id', '=', request.target_id)
      .execute();
    expect(await refused(owner, request)).toEqual(refusal);
    expect(await decide(heir, request)).toMatchObject({ decided_by_user_ref: heir.ref });
  });
});

describe('a direct grant and one by request', () => {
  async function both(): Promise<{ asker: Account; request: ResourceRequest }> {
    const asker = await library.join(`asker ${crypto.randomUUID()}`);
    const params = { ref: asker.ref };
    await root.ok('grantCapability', { params, body: { capability: 'jobs.read', note: 'by hand' } });
    const request = await askAccess('jobs.read', asker);
    await decide(sharer, request, { decision: 'granted', expires_at: inAnHour() });
    return { asker, request };
  }
  const holds = async (asker: Account) => (await asker.ok('getMe')).capabilities?.includes('jobs.read');

  test('exist independently, and confer the capability while either exists', async () => {
    const { asker, request } = await both();
    const before = await grantsOf(asker);
    expect(before.map((row) => row.request_ref)).toEqual([null, request.id]);
    const params = { ref: asker.ref };
    await root.ok('grantCapability', { params, body: { capability: 'jobs.read', expires_at: inAnHour() } });
    const after = await grantsOf(asker);
    expect(after).toHaveLength(2);
    expect(after).toContainEqual(before[1]);
    const end = (which: 'is' | 'is not', expires_at: string | null) =>
      db
        .updateTable('user_capability_grants')
        .set({ expires_at })
        .where('user_ref', '=', asker.ref)
        .where('request_ref', which, null)
        .execute();
    for (const which of ['is', 'is not'] as const) {
      await end(which, '2026-01-01T00:00:00Z');
      expect([which, await holds(asker)]).toEqual([which, true]);
      await end(which, null);
    }
    await root.ok('removeGrant', { params, body: { capability: 'jobs.read' } });
    expect(await holds(asker)).toBe(false);
  });

  // REQUEST-15
  test('record the end in the request when its grant is withdrawn', async () => {
    const asker = await library.join('asker of a grant for good');
    const request = await askAccess('jobs.read', asker);
    expect(await decide(sharer, request)).toMatchObject({ grant_expires_at: null });
    await root.ok('removeGrant', { params: { ref: asker.ref }, body: { capability: 'jobs.read' } });
    const [told] = (await asker.ok('listMyRequests')).items;
    expect(told).toMatchObject({ id: request.id, state: 'granted', grant_expires_at: expect.any(String) });
  });

  // REQUEST-15
  test('cannot be withdrawn after expiry, before the sweep', async () => {
    const asker = await library.join('asker of a grant that ran out');
    const request = await askAccess('jobs.read', asker);
    await decide(sharer, request, { decision: 'granted', expires_at: inAnHour() });
    await db
      .updateTable('user_capability_grants')
      .set({ expires_at: '2026-01-01T00:00:00Z' })
      .where('request_ref', '=', request.id)
      .execute();
    const input = { params: { ref: asker.ref }, body: { capability: 'jobs.read' } } as const;
    expect((await root.refused('removeGrant', input)).status).toBe(404);
    await expire(db);
    expect((await asker.ok('listMyRequests')).items).toMatchObject([{ state: 'expired' }]);
  });
});
