import type { Capability } from '@vitrine/contract/capabilities';
import type { ResourceRequest } from '@vitrine/contract/requests';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { expire } from '../../src/sweep/expired.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, nowhere } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

const refusal = { status: 403, error: 'you may not decide this request' };
/** Not a round millisecond, because PostgreSQL omits trailing zeros. */
const inAnHour = () => new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_123).toISOString();

let library: Library;
let root: Account;
/** The owner of all requested assets. */
let owner: Account;
let requester: Account;
/** An account with `share.grant`. */
let sharer: Account;
/** An account with `posts.admin` and `assets.admin` that deletes what others ask to restore. */
let deleter: Account;
let hash: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  owner = await library.join('owner');
  requester = await library.join('requester');
  sharer = await library.join('sharer');
  await grant(library, sharer, 'share.grant');
  deleter = await library.join('deleter');
  for (const capability of ['posts.admin', 'assets.admin'] as const)
    await grant(library, deleter, capability);
  hash = (await upload(owner, await jpeg(80, 60))).file_hash ?? '';
  await upload(requester, await jpeg(80, 60));
  await library.runJobs();
});

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
  library.deps.db
    .selectFrom('user_capability_grants')
    .select(['capability', 'team_id', 'granted_by_user_ref', 'request_ref', 'expires_at'])
    .where('user_ref', '=', account.ref)
    .orderBy('created_at')
    .execute();
const grantsFor = ({ id }: { id: string }) =>
  library.deps.db.selectFrom('user_capability_grants').selectAll().where('request_ref', '=', id).execute();
const isDeleted = async (kind: 'post' | 'asset', id: string) => {
  const { rows } = await sql<{ deleted: boolean }>`select deleted_at is not null or deleted_reason is not null
      or deleted_by_user_ref is not null as deleted from ${sql.table(`${kind}s`)} where id = ${id}`.execute(
    library.deps.db,
  );
  return rows[0]?.deleted;
};

// REQUEST-6
describe('who decides', () => {
  const callers = new Map<string, Visitor>();

  beforeAll(async () => {
    const member = await library.join('member');
    const team = await addTeam(library, 'print', [requester, member]);
    callers.set('the asset’s owner', owner);
    callers.set('a stranger', await library.join('stranger'));
    callers.set('a member of the requester’s team', member);
    callers.set('share.grant', sharer);
    callers.set('system.admin', root);
    callers.set('the deleter', deleter);
    callers.set('the requester', requester);
    const named = async (name: string, capability: Capability, team_id: string | null = null) => {
      const account = await library.join(name);
      await grant(library, account, capability, team_id);
      callers.set(name, account);
      return account;
    };
    await named('assets.admin, not the deleter', 'assets.admin');
    await named('posts.admin, not the deleter', 'posts.admin');
    await named('content.read.all', 'content.read.all');
    await named('users.write', 'users.write');
    await named('share.grant in a team', 'share.grant', team);
    await named('system.admin in a team', 'system.admin', team);
    const revoked = await named('share.grant, revoked', 'share.grant');
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: revoked.ref, capability: 'share.grant' })
      .execute();
    const late = await named('share.grant until yesterday', 'share.grant');
    await library.deps.db
      .updateTable('user_capability_grants')
      .set({ expires_at: '2026-01-01T00:00:00Z' })
      .where('user_ref', '=', late.ref)
      .execute();
    callers.set('a token of the owner, scope admin', await bearer(library, owner, ['admin']));
    callers.set('a token of the deleter, scope admin', await bearer(library, deleter, ['admin']));
    callers.set('a token of share.grant, scope admin', await bearer(library, sharer, ['admin']));
    callers.set(
      'a token of share.grant, scope read',
      await bearer(library, sharer, ['read', 'assets.write']),
    );
    callers.set('an impersonator of the owner', await actAs(library, root, owner));
    callers.set('an impersonator of the deleter', await actAs(library, root, deleter));
    callers.set('an impersonator of share.grant', await actAs(library, root, sharer));
    callers.set('anonymous', library.anonymous());
  });

  const above = ['share.grant', 'system.admin', 'a token of share.grant, scope admin'];
  const restorers = ['the deleter', 'system.admin', 'a token of the deleter, scope admin'];
  const rows: { what: string; make: () => Promise<ResourceRequest>; may: string[] }[] = [
    {
      what: 'content.access.request',
      make: () => askAccess(),
      may: [...above, 'the asset’s owner', 'a token of the owner, scope admin'],
    },
    { what: 'content.restore.request for a post', make: () => askBack('post'), may: restorers },
    { what: 'content.restore.request for an asset', make: () => askBack('asset'), may: restorers },
    { what: 'a real code, teams.write', make: () => askAccess('teams.write'), may: above },
    { what: 'a real code, system.admin', make: () => askAccess('system.admin'), may: above },
  ];

  const stateOf = async ({ id }: { id: string }) => {
    const { rows } = await sql<{
      state: string;
    }>`select state from resource_requests where id = ${id}`.execute(library.deps.db);
    return rows[0]?.state;
  };

  // REQUEST-6, REQUEST-7
  test.each(rows)('$what', async ({ make, may }) => {
    const outcomes: Record<string, number> = {};
    const due: Record<string, number> = {};
    let request = await make();
    for (const [name, visitor] of callers) {
      outcomes[name] = await statusOf(visitor, request);
      due[name] = name === 'anonymous' ? 401 : may.includes(name) ? 200 : 403;
      expect([name, await stateOf(request)]).toEqual([name, outcomes[name] === 200 ? 'granted' : 'pending']);
      if (outcomes[name] !== 200) continue;
      // A grant of system.admin would give the requester more rights in the following cases.
      await library.deps.db
        .deleteFrom('user_capability_grants')
        .where('user_ref', '=', requester.ref)
        .execute();
      request = await make();
    }
    expect(outcomes).toEqual(due);
    await library.setPublicMode(true);
    expect(await statusOf(library.anonymous(), request)).toBe(401);
    await library.setPublicMode(false);
  });

  test('returns decidable_by_caller accordingly in every queue', async () => {
    const pending = new Map<string, string[]>();
    for (const { make, may } of rows) pending.set((await make()).id, may);
    const wrong: string[] = [];
    let shown = 0;
    for (const [name, visitor] of callers) {
      for (const path of ['/account/requests', '/account/requests/incoming', '/admin/requests']) {
        const { status, text } = await visitor.send(`${path}?limit=200`);
        const items: ResourceRequest[] = status === 200 ? JSON.parse(text).items : [];
        for (const { id, requested_capability, decidable_by_caller } of items) {
          const may = pending.get(id);
          if (may === undefined) continue;
          shown += 1;
          const isDue = decidable_by_caller === may.includes(name);
          if (!isDue) wrong.push(`${name}, ${path}, ${requested_capability}: ${decidable_by_caller}`);
        }
      }
    }
    expect(shown).toBeGreaterThan(40);
    expect(wrong).toEqual([]);
  });

  // REQUEST-7
  test('lets a holder of share.grant decide an appeal against their own delete', async () => {
    const both = await library.join('both');
    for (const capability of ['share.grant', 'posts.admin'] as const) await grant(library, both, capability);
    expect(await decide(both, await askBack('post', both))).toMatchObject({ state: 'granted' });
  });

  // REQUEST-7, TRASH-2
  test('lets only system.admin restore what an unknown account deleted', async () => {
    const request = await askBack('post');
    await library.deps.db
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
    for (const code of ['system.admin', 'content.access.request']) {
      const request = await askAccess(code, climber);
      expect(await refused(climber, request)).toEqual(refusal);
    }
    expect((await climber.ok('getMe')).capabilities).not.toContain('system.admin');
  });

  // REQUEST-9
  test('returns the same 403 for unknown requests to callers who may decide nothing', async () => {
    const request = await askAccess();
    const path = (id: string) => `/admin/requests/${id}/decide`;
    const body = { decision: 'granted' };
    const stranger = callers.get('a stranger') ?? library.anonymous();
    for (const who of [stranger, requester, deleter]) {
      const [known, unknown] = await Promise.all(
        [request.id, nowhere].map((id) => who.send(path(id), { method: 'POST', body })),
      );
      expect([unknown?.status, unknown?.text]).toEqual([403, known?.text]);
    }
    expect(await refused(owner, { id: nowhere })).toEqual(refusal);
  });

  // REQUEST-9
  test('returns 404 for unknown requests to callers who see all requests', async () => {
    for (const who of [sharer, root]) {
      expect(await refused(who, { id: nowhere })).toEqual({ status: 404, error: 'not found' });
    }
  });

  test('does not reveal to strangers that a request was decided', async () => {
    const request = await askAccess();
    await decide(owner, request, { decision: 'denied' });
    expect(await refused(requester, request)).toEqual(refusal);
  });
});

describe('the body of a decision', () => {
  const bad: [string, () => object][] = [
    ['an end long ago', () => ({ decision: 'granted', expires_at: '2020-01-01T00:00:00Z' })],
    ['an end this moment', () => ({ decision: 'granted', expires_at: new Date().toISOString() })],
    ['an end that is a day', () => ({ decision: 'granted', expires_at: '2099-01-01' })],
    ['an end that is no time', () => ({ decision: 'granted', expires_at: 'infinity' })],
    ['a leap second that is over', () => ({ decision: 'granted', expires_at: '2016-12-31T23:59:60Z' })],
    [
      'an end long ago for what is denied',
      () => ({ decision: 'denied', expires_at: '2020-01-01T00:00:00Z' }),
    ],
  ];
  // REQUEST-10
  test.each(bad)('refuses %s with 400, and the request stays pending', async (_, body) => {
    const request = await askAccess();
    expect(await statusOf(owner, request, body())).toBe(400);
    expect(await mine(request)).toMatchObject({ state: 'pending' });
    expect(await grantsFor(request)).toEqual([]);
  });

  test.each(['granted', 'denied'] as const)(
    'a restore does not expire: 400 when %s with one',
    async (decision) => {
      const request = await askBack('post');
      expect((await refused(deleter, request, { decision, expires_at: inAnHour() })).status).toBe(400);
      expect(await mine(request)).toMatchObject({ state: 'pending' });
      expect(await isDeleted('post', request.target_id)).toBe(true);
      expect(await decide(deleter, request, { decision, expires_at: null })).toMatchObject({
        state: decision,
      });
    },
  );
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
  test('creates a grant of the request, without an end for null', async () => {
    const asker = await library.join('asker');
    const request = await askAccess('jobs.read', asker);
    expect(await decide(sharer, request)).toMatchObject({ grant_expires_at: null });
    expect(await grantsOf(asker)).toEqual([
      {
        capability: 'jobs.read',
        team_id: null,
        granted_by_user_ref: sharer.ref,
        request_ref: request.id,
        expires_at: null,
      },
    ]);
  });

  test('records an audit event', async () => {
    const request = await askAccess('jobs.read');
    await decide(sharer, request);
    const { items } = await root.ok('listAudit', { query: { event: 'request.granted', actor: sharer.ref } });
    expect(items[0]).toMatchObject({
      actor_user_ref: sharer.ref,
      subject_user_ref: requester.ref,
      metadata: { request_id: request.id, capability: 'jobs.read' },
    });
  });

  // REQUEST-10
  test('applies a real capability at the next request', async () => {
    const asker = await library.join('asker of users');
    const request = await askAccess('users.read', asker);
    expect((await asker.refused('listUsers')).status).toBe(403);
    await decide(sharer, request);
    await asker.ok('listUsers');
    expect((await asker.ok('getMe')).capabilities).toContain('users.read');
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
    const after = await asker.ok('getMyCapabilities');
    expect(after.capabilities).toEqual(before.capabilities);
    expect((await asker.ok('getMe')).capabilities).toEqual(before.capabilities);
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
    expect(await grantsOf(requester)).not.toContainEqual(
      expect.objectContaining({ capability: 'content.restore.request' }),
    );
  });

  // REQUEST-12
  test('makes a restored post readable again', async () => {
    const request = await askBack('post');
    const params = { id: request.target_id };
    expect((await requester.refused('getPost', { params })).status).toBe(404);
    await decide(deleter, request);
    expect(await owner.ok('getPost', { params })).toMatchObject(params);
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
    const answer = await requester.send(`/assets/${first.target_id}/request-access`, {
      method: 'POST',
      body: {},
    });
    expect(answer.status).toBe(201);
    const second = JSON.parse(answer.text);
    expect(second).toMatchObject({ state: 'pending', target_id: first.target_id });
    expect(second.id).not.toBe(first.id);
    expect(await decide(owner, second)).toMatchObject({ state: 'granted' });
    expect(await mine(first)).toEqual({ ...denied, decidable_by_caller: false });
  });

  test('allows the same request again', async () => {
    const first = await askAccess('jobs.read');
    await decide(sharer, first);
    const input = { params: { id: first.target_id }, body: { capability: 'jobs.read' } };
    const second = await requester.ok('requestAccess', input);
    expect(second.id).not.toBe(first.id);
    await decide(sharer, second, { decision: 'granted', expires_at: inAnHour() });
    expect([(await grantsFor(first)).length, (await grantsFor(second)).length]).toEqual([1, 1]);
  });
});

// REQUEST-9
describe('returns 409 for a decided request', () => {
  const decisions = ['granted', 'denied'] as const;
  // REQUEST-9
  test.each(decisions.flatMap((first) => decisions.map((second) => [first, second] as const)))(
    '%s and then %s',
    async (first, second) => {
      const request = await askAccess('jobs.read');
      const decided = await decide(sharer, request, { decision: first });
      for (const who of [sharer, root])
        expect(await refused(who, request, { decision: second })).toEqual({
          status: 409,
          error: 'the request has already been decided',
        });
      expect(await mine(request)).toEqual({ ...decided, decidable_by_caller: false });
      expect(await grantsFor(request)).toHaveLength(first === 'granted' ? 1 : 0);
    },
  );

  test('returns 409 also to the account that granted a restore', async () => {
    const request = await askBack('post');
    await decide(deleter, request);
    expect((await refused(root, request)).status).toBe(409);
    expect((await refused(deleter, request)).status).toBe(409);
  });

  // REQUEST-13
  test('accepts one of two concurrent decisions and creates one grant', async () => {
    for (let round = 0; round < 5; round += 1) {
      const request = await askAccess('jobs.read');
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, i) => statusOf(i % 2 === 0 ? sharer : root, request)),
      );
      expect(answers.sort()).toEqual([200, 409, 409, 409, 409, 409]);
      expect(await grantsFor(request)).toHaveLength(1);
    }
  });

  test('keeps state and grant consistent when granted and denied concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
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
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select('event')
      .where('target_id', '=', request.target_id)
      .where('event', '=', 'admin.post.restored')
      .execute();
    expect(events).toHaveLength(1);
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
      expect(await refused(root, request)).toEqual({
        status: 409,
        error: 'the request has already been decided',
      });
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
    for (let round = 0; round < 4; round += 1) {
      const request = await askBack('post');
      const restore = () =>
        root.send(`/admin/posts/${request.target_id}/restore`, { method: 'POST' }).then((one) => one.status);
      const [decided, restored] = await Promise.all([statusOf(deleter, request), restore()]);
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
    await library.deps.db.deleteFrom('posts').where('id', '=', back.target_id).execute();
    await library.deps.db.deleteFrom('assets').where('id', '=', access.target_id).execute();
    expect(await refused(deleter, back)).toEqual(refusal);
    expect((await refused(root, back)).status).toBe(404);
    expect(await refused(owner, access)).toEqual(refusal);
    expect(await decide(root, back, { decision: 'denied' })).toMatchObject({ state: 'denied' });
    expect(await decide(sharer, access, { decision: 'denied' })).toMatchObject({ state: 'denied' });
  });

  test('passes the decision to a new owner', async () => {
    const request = await askAccess();
    const heir = await library.join('heir');
    await library.deps.db
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

  test('exist independently of each other', async () => {
    const { asker, request } = await both();
    const before = await grantsOf(asker);
    expect(before.map((row) => row.request_ref)).toEqual([null, request.id]);
    const params = { ref: asker.ref };
    await root.ok('grantCapability', { params, body: { capability: 'jobs.read', expires_at: inAnHour() } });
    const after = await grantsOf(asker);
    expect(after).toHaveLength(2);
    expect(after).toContainEqual(before[1]);
    expect((await asker.ok('getMyCapabilities')).grants).toHaveLength(2);
  });

  test('confer the capability while either exists', async () => {
    for (const which of ['by hand', 'by request'] as const) {
      const { asker } = await both();
      await library.deps.db
        .updateTable('user_capability_grants')
        .set({ expires_at: '2026-01-01T00:00:00Z' })
        .where('user_ref', '=', asker.ref)
        .where('request_ref', which === 'by hand' ? 'is' : 'is not', null)
        .execute();
      expect([which, await holds(asker)]).toEqual([which, true]);
    }
  });

  test('end the capability when the grant of the request is withdrawn', async () => {
    const { asker } = await both();
    await root.ok('removeGrant', { params: { ref: asker.ref }, body: { capability: 'jobs.read' } });
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
    const { db } = library.deps;
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
