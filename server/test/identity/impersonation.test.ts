import { randomUUID } from 'node:crypto';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newAccessToken } from '../../src/identity/access-tokens.ts';
import { hashToken } from '../../src/identity/sessions.ts';
import { expire } from '../../src/sweep/expired.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password, publish, upload } from '../support/library.ts';
import { grant, setRole, withdrawGrants } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';

const nowhere = 404_000;
const refusedText = 'not allowed while acting as another user';
const endedText = 'acting as another user has ended; sign in again';

let library: Library;
let root: Account;
/** A member with `auth.impersonate`. */
let helper: Account;
let worn: Account;
let victim: Account;

async function setStatus(account: Account, status: 'active' | 'pending' | 'disabled' | 'archived') {
  await library.deps.db.updateTable('users').set({ status }).where('ref', '=', account.ref).execute();
}

async function mintToken(account: Account, scopes: string[], cookie?: string): Promise<Visitor> {
  const token = newAccessToken();
  await library.deps.db
    .insertInto('access_tokens')
    .values({ user_ref: account.ref, name: 'test', token_hash: hashToken(token), scopes, expires_at: null })
    .execute();
  return visit(library.address, { authorization: `Bearer ${token}` }, cookie);
}

/** Returns another browser of the administrator, which impersonates the target; their own session is unchanged. */
async function actAs(admin: Account, target: Account, where: Library = library) {
  const mask = visit(where.address, {}, admin.cookie());
  const session = await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
  return { mask, session };
}

async function audit() {
  return library.deps.db
    .selectFrom('audit_events')
    .selectAll()
    .orderBy('occurred_at')
    .orderBy('id')
    .execute();
}

/** Returns the audit events recorded during `work`. */
async function eventsDuring(act: () => Promise<unknown>) {
  const before = new Set((await audit()).map((row) => row.id));
  await act();
  return (await audit()).filter((row) => !before.has(row.id));
}

async function sessionsOf(account: Account): Promise<number> {
  const rows = await library.deps.db
    .selectFrom('sessions')
    .select('id')
    .where('user_ref', '=', account.ref)
    .execute();
  return rows.length;
}

beforeAll(async () => {
  library = await openLibrary();
  [root, helper, worn, victim] = await Promise.all([
    library.join('root', 'admin'),
    library.join('helper'),
    library.join('worn'),
    library.join('victim'),
  ]);
  await grant(library, helper, 'auth.impersonate');
});

beforeEach(() => library.setPublicMode(false));

// IMPERSONATION-1
describe('POST /admin/users/{ref}/impersonate', () => {
  // IMPERSONATION-1
  test('starts a session as the target and returns its account and expiry', async () => {
    const mask = visit(library.address, {}, helper.cookie());
    const asked = Date.now();
    const answer = await mask.send(`/admin/users/${worn.ref}/impersonate`, { method: 'POST' });
    expect(answer.status).toBe(200);
    const body = JSON.parse(answer.text);
    expect(Object.keys(body).sort()).toEqual([
      'expires_at',
      'session_id',
      'target_user_ref',
      'target_username',
    ]);
    expect(body).toMatchObject({ target_user_ref: worn.ref, target_username: 'worn' });
    const minutes = (Date.parse(body.expires_at) - asked) / 60_000;
    expect(minutes).toBeGreaterThan(29.9);
    expect(minutes).toBeLessThan(30.1);
    const attributes = (answer.headers.get('set-cookie') ?? '').split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'Path=/', 'SameSite=Lax']));
    expect(mask.cookie()).not.toBe(helper.cookie());
    expect(await mask.ok('getMe')).toMatchObject({
      ref: worn.ref,
      username: 'worn',
      auth_method: 'session',
      impersonated_by: { ref: helper.ref, username: 'helper' },
      capabilities: (await worn.ok('getMe')).capabilities,
    });
    const session = await library.deps.db
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', body.session_id)
      .executeTakeFirstOrThrow();
    expect(session).toMatchObject({ user_ref: worn.ref, impersonator_user_ref: helper.ref });
  });

  // IMPERSONATION-2
  test('keeps the administrator’s own session', async () => {
    const [own, targets] = [await sessionsOf(helper), await sessionsOf(worn)];
    const { mask } = await actAs(helper, worn);
    expect(await helper.ok('getMe')).toMatchObject({ ref: helper.ref, impersonated_by: null });
    expect((await mask.ok('getMe')).ref).toBe(worn.ref);
    expect((await worn.ok('getMe')).impersonated_by).toBeNull();
    expect([await sessionsOf(helper), await sessionsOf(worn)]).toEqual([own, targets + 1]);
  });

  // IMPERSONATION-3
  test.each([
    ['no body', undefined, null],
    ['an empty body', {}, null],
    ['no reason', { reason: null }, null],
    ['a reason', { reason: 'ticket 4711' }, 'ticket 4711'],
    ['a reason of 500 characters', { reason: 'é'.repeat(500) }, 'é'.repeat(500)],
  ])('accepts %s, which the audit event records', async (_, body, reason) => {
    const mask = visit(library.address, {}, helper.cookie());
    const [event, ...more] = await eventsDuring(async () => {
      const path = `/admin/users/${worn.ref}/impersonate`;
      expect((await mask.send(path, { method: 'POST', body })).status).toBe(200);
    });
    const session = await library.deps.db
      .selectFrom('sessions')
      .select('id')
      .where('impersonator_user_ref', '=', helper.ref)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .executeTakeFirstOrThrow();
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      event: 'admin.impersonation.started',
      actor_user_ref: helper.ref,
      impersonator_user_ref: null,
      subject_user_ref: worn.ref,
      metadata: { session_id: session.id, reason },
    });
  });

  test('allows several impersonations at once', async () => {
    const [a, b, c] = await Promise.all([actAs(helper, worn), actAs(helper, victim), actAs(root, worn)]);
    const shown = await Promise.all([a.mask, b.mask, c.mask, helper, root].map((one) => one.ok('getMe')));
    expect(shown.map((user) => [user.ref, user.impersonated_by?.ref ?? null])).toEqual([
      [worn.ref, helper.ref],
      [victim.ref, helper.ref],
      [worn.ref, root.ref],
      [helper.ref, null],
      [root.ref, null],
    ]);
    await a.mask.ok('endImpersonation');
    expect((await b.mask.ok('getMe')).ref).toBe(victim.ref);
    expect((await c.mask.ok('getMe')).ref).toBe(worn.ref);
  });
});

// IMPERSONATION-4
describe('refusals to start an impersonation, in order of precedence', () => {
  let plain: Account;
  let away: Account;
  let inherits: Account;
  let granted: Account;
  const team = randomUUID();

  beforeAll(async () => {
    const { db } = library.deps;
    [plain, away, inherits, granted] = await Promise.all([
      library.join('plain', 'viewer'),
      library.join('away'),
      library.join('inherits'),
      library.join('granted'),
    ]);
    const admin = await db
      .selectFrom('roles')
      .select('id')
      .where('code', '=', 'admin')
      .executeTakeFirstOrThrow();
    const deputy = randomUUID();
    await db
      .insertInto('roles')
      .values({ id: deputy, code: 'deputy', label: 'Deputy', parent_id: admin.id })
      .execute();
    await setRole(library, inherits, 'deputy');
    await grant(library, granted, 'system.admin');
    await db.insertInto('teams').values({ id: team, slug: 'crew', name: 'Crew' }).execute();
    await db.insertInto('team_members').values({ team_id: team, user_ref: plain.ref }).execute();
  });

  /** Returns the refusal, and checks that it left no session, cookie or event. */
  async function refusalOf(visitor: Visitor, ref: number | string): Promise<[number, string]> {
    const { db } = library.deps;
    const count = async () => (await db.selectFrom('sessions').select('id').execute()).length;
    const before = await count();
    let refusal: [number, string] = [0, ''];
    const events = await eventsDuring(async () => {
      const answer = await visitor.send(`/admin/users/${ref}/impersonate`, { method: 'POST', body: {} });
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(Object.keys(JSON.parse(answer.text))).toEqual(['error']);
      refusal = [answer.status, JSON.parse(answer.text).error];
    });
    expect(events).toEqual([]);
    expect(await count()).toBe(before);
    return refusal;
  }

  test.each([false, true])(
    'returns 401 to an anonymous caller for any target (public mode %j)',
    async (publicMode) => {
      await library.setPublicMode(publicMode);
      for (const ref of [worn.ref, root.ref, nowhere, 'x', 0])
        expect((await refusalOf(library.anonymous(), ref))[0]).toBe(401);
    },
  );

  // IMPERSONATION-4
  test('returns 400 for the caller’s own account, or 403 without the capability', async () => {
    for (const account of [helper, root, granted])
      expect(await refusalOf(account, account.ref)).toEqual([400, 'you cannot impersonate yourself']);
    expect(await refusalOf(plain, plain.ref)).toEqual([403, 'missing capability auth.impersonate']);
  });

  // IMPERSONATION-4
  test('returns 400 while impersonating', async () => {
    await grant(library, victim, 'auth.impersonate');
    for (const [admin, target] of [
      [root, worn],
      [helper, victim],
    ] as const) {
      const { mask } = await actAs(admin, target);
      for (const ref of [plain.ref, admin.ref, root.ref, away.ref, nowhere])
        expect(await refusalOf(mask, ref)).toEqual([400, 'you are already acting as another user']);
      expect((await refusalOf(mask, target.ref))[0]).toBe(400);
    }
    await withdrawGrants(library, victim);
  });

  // IMPERSONATION-4
  test('returns 403 without the capability, also for unknown accounts', async () => {
    await setStatus(away, 'disabled');
    for (const ref of [worn.ref, root.ref, away.ref, nowhere])
      expect(await refusalOf(plain, ref)).toEqual([403, 'missing capability auth.impersonate']);
    await setStatus(away, 'active');
  });

  test('returns 403 if the capability is limited to a team, expired or revoked', async () => {
    const { db } = library.deps;
    const [inTeam, late, revoked] = await Promise.all([
      library.join('inteam'),
      library.join('late'),
      library.join('revoked'),
    ]);
    await grant(library, inTeam, 'auth.impersonate', team);
    await grant(library, revoked, 'auth.impersonate');
    await db
      .insertInto('user_capability_grants')
      .values({
        user_ref: late.ref,
        capability: 'auth.impersonate',
        expires_at: sql<string>`now() - interval '1 second'`,
      })
      .execute();
    await db
      .insertInto('user_capability_revokes')
      .values({ user_ref: revoked.ref, capability: 'auth.impersonate' })
      .execute();
    for (const account of [inTeam, late, revoked])
      expect((await refusalOf(account, worn.ref))[0], account.username).toBe(403);
  });

  // IMPERSONATION-4
  test('returns 404 for an unknown or inactive account', async () => {
    expect(await refusalOf(helper, nowhere)).toEqual([404, 'not found']);
    for (const status of ['pending', 'disabled', 'archived'] as const) {
      await setStatus(away, status);
      expect(await refusalOf(helper, away.ref), status).toEqual([404, 'not found']);
    }
    await setStatus(away, 'active');
    await actAs(helper, away);
  });

  // IMPERSONATION-4, ROLE-18
  test.each(['root', 'inherits', 'granted'])(
    'returns 403 for a holder of system.admin (%s), also to administrators',
    async (name) => {
      const target = [root, inherits, granted].find(({ username }) => username === name);
      const other = name === 'root' ? granted : root;
      expect(target).toBeDefined();
      for (const admin of [helper, other])
        expect((await refusalOf(admin, target?.ref ?? nowhere))[0]).toBe(403);
    },
  );

  test('accepts a former administrator as the target', async () => {
    const former = await library.join('former', 'admin');
    expect((await refusalOf(helper, former.ref))[0]).toBe(403);
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: former.ref, capability: 'system.admin' })
      .execute();
    const { mask } = await actAs(helper, former);
    expect((await mask.ok('getMe')).ref).toBe(former.ref);
  });
});

// TOKEN-9
describe('by a bearer token', () => {
  const refusal = { status: 403, error: 'this requires a session; tokens are not accepted' };

  test.each([[['admin']], [['read', 'posts.write', 'assets.write', 'comments.write', 'fields.admin']]])(
    'returns 403 with the scopes %j for any target',
    async (scopes) => {
      const acting = await mintToken(helper, scopes);
      const before = await sessionsOf(worn);
      const events = await eventsDuring(async () => {
        for (const ref of [worn.ref, helper.ref, root.ref, nowhere])
          expect(await acting.refused('impersonate', { params: { ref }, body: undefined })).toEqual(refusal);
      });
      expect(events).toEqual([]);
      expect(acting.cookie()).toBeUndefined();
      expect(await sessionsOf(worn)).toBe(before);
    },
  );

  test('ignores the cookie of an impersonation', async () => {
    const { mask } = await actAs(helper, worn);
    const both = await mintToken(helper, ['admin'], mask.cookie());
    expect(await both.ok('getMe')).toMatchObject({
      ref: helper.ref,
      auth_method: 'token',
      impersonated_by: null,
    });
    expect(await both.refused('endImpersonation')).toEqual({
      status: 400,
      error: 'you are not acting as another user',
    });
    expect((await mask.ok('getMe')).ref).toBe(worn.ref);
  });
});

// IMPERSONATION-9
describe('while impersonating', () => {
  // IMPERSONATION-10
  test('shows exactly what the target sees', async () => {
    const [own, foreign] = await Promise.all([
      upload(worn, await jpeg(8, 8, { seed: 1 })),
      upload(victim, await jpeg(8, 8, { seed: 2 })),
    ]);
    const draft = await publish(worn, [own], { draft: true, visibility: 'private', title: 'mine' });
    const hidden = await publish(victim, [foreign], { draft: true, title: 'not yours' });
    const secret = await publish(victim, [foreign], { visibility: 'private' });
    const { mask } = await actAs(root, worn);
    expect((await mask.ok('getPost', { params: { id: draft.id } })).title).toBe('mine');
    for (const { id } of [hidden, secret]) {
      expect((await root.ok('getPost', { params: { id } })).id).toBe(id);
      expect((await mask.refused('getPost', { params: { id } })).status).toBe(404);
    }
    for (const path of [
      `/posts/${draft.id}`,
      `/posts/${hidden.id}`,
      '/posts',
      '/posts?draft=true',
      '/account/profile',
      '/account/preferences',
      '/account/2fa',
      '/auth/tokens',
      '/auth/me/capabilities',
      '/system/public-mode',
      '/admin/audit',
      '/admin/users',
      `/users/${victim.ref}`,
    ]) {
      const [theirs, seen] = [await worn.send(path), await mask.send(path)];
      expect([path, seen.status, seen.text]).toEqual([path, theirs.status, theirs.text]);
    }
    expect((await mask.send('/system/public-mode')).status).toBe(403);
  });

  /** IMPERSONATION-9: no creation of tokens, and no change of password, second factor or capabilities. */
  const forbidden = [
    'addTeamMember',
    'addTeamParent',
    'changePassword',
    'confirmTwoFactor',
    'createToken',
    'decideRequest',
    'deleteUser',
    'disableTwoFactor',
    'enrollTwoFactor',
    'grantCapability',
    'removeGrant',
    'removeRevoke',
    'removeTeamParent',
    'removeUserTwoFactor',
    'renewRecoveryCodes',
    'resetPassword',
    'revokeCapability',
    'rotateOwnKeys',
    'setUserRole',
    'updateFollowableAccount',
  ];
  const all: readonly Operation[] = Object.values(operations);
  const refused = all.filter(({ whileImpersonating }) => whileImpersonating === 'refused');

  // IMPERSONATION-9
  test('refuses exactly the operations that the contract names', () => {
    expect(refused.map(({ id }) => id).sort()).toEqual(forbidden);
  });

  describe('returns 403', () => {
    let boss: Account;
    let bystander: Account;
    let mask: Visitor;

    beforeAll(async () => {
      [boss, bystander] = await Promise.all([library.join('boss'), library.join('bystander')]);
      await grant(library, boss, 'users.write');
      await grant(library, boss, 'teams.write');
      ({ mask } = await actAs(helper, boss));
    });

    // IMPERSONATION-9
    test.each(refused.map((operation) => [operation.id, operation] as const))(
      '%s: 403 before a look at what is asked, where the target themselves gets further',
      async (_, { method, path }) => {
        const address = path.replace('{ref}', String(bystander.ref));
        const events = await eventsDuring(async () => {
          for (const body of [{}, undefined, { nonsense: true }]) {
            const answer = await mask.send(address, { method, body });
            expect([answer.status, JSON.parse(answer.text).error]).toEqual([403, refusedText]);
          }
        });
        expect(events).toEqual([]);
        expect((await boss.send(address, { method })).status).not.toBe(403);
      },
    );
  });

  // IMPERSONATION-11
  test('names the target and the administrator in every audit event', async () => {
    const target = await library.join('both');
    await grant(library, target, ['system.config.write', 'users.write', 'system.audit.read']);
    const another = await library.join('another', 'viewer');
    const token = await target.ok('createToken', { body: { name: 'theirs', scopes: ['read'] } });
    const { mask } = await actAs(root, target);
    const asset = await upload(mask, await jpeg(8, 8, { seed: 3 }));
    const events = await eventsDuring(async () => {
      await mask.ok('setPublicMode', { body: { enabled: false } });
      await mask.ok('setAuditRetention', { body: { retention_days: null } });
      await mask.ok('updateUser', { params: { ref: target.ref }, body: { bio: 'hello' } });
      await mask.ok('setUserStatus', { params: { ref: another.ref }, body: { status: 'disabled' } });
      await mask.ok('createUser', { body: { username: 'madeby', role: 'viewer' } });
      await mask.ok('deleteToken', { params: { id: token.id } });
      await mask.ok('endUserSessions', { params: { ref: another.ref } });
      await mask.ok('endOtherSessions');
      await mask.send('/admin/audit/export');
      await publish(mask, [asset]);
      await mask.ok('logout');
    });
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining([
        'system.public_mode.changed',
        'audit.retention.changed',
        'user.updated',
        'user.status.changed',
        'user.created',
        'auth.token.deleted',
        'auth.sessions.ended',
        'audit.exported',
        'auth.signed_out',
      ]),
    );
    for (const event of events)
      expect(event).toMatchObject({
        actor_user_ref: target.ref,
        impersonator_user_ref: root.ref,
        metadata: { impersonated_by: { ref: root.ref, username: 'root' } },
      });
    const { items } = await root.ok('listAudit', { query: { actor: target.ref, event: 'user.updated' } });
    expect(items[0]?.metadata.impersonated_by).toEqual({ ref: root.ref, username: 'root' });
  });

  // IMPERSONATION-5
  test('neither extends the session nor updates when the target was last seen', async () => {
    const { db } = library.deps;
    const { mask, session } = await actAs(helper, victim);
    const rowOf = () =>
      db
        .selectFrom('sessions')
        .select(['expires_at', 'last_used_at'])
        .where('id', '=', session.session_id)
        .executeTakeFirstOrThrow();
    const seen = () =>
      db.selectFrom('users').select('last_seen_at').where('ref', '=', victim.ref).executeTakeFirstOrThrow();
    await sql`update sessions set last_used_at = now() - interval '10 minutes'
      where id = ${session.session_id}`.execute(db);
    const [before, seenBefore] = [await rowOf(), await seen()];
    await mask.ok('getMe');
    const after = await rowOf();
    expect(Date.parse(after.last_used_at)).toBeGreaterThan(Date.parse(before.last_used_at));
    expect(after.expires_at).toBe(session.expires_at);
    expect(await seen()).toEqual(seenBefore);
  });
});

describe('the hard expiry', () => {
  let short: Library;
  let boss: Account;
  let worker: Account;

  beforeAll(async () => {
    short = await openLibrary({ VITRINE_IMPERSONATION_MINUTES: '1' });
    [boss, worker] = await Promise.all([short.join('boss', 'admin'), short.join('worker')]);
  });

  beforeEach(() => short.setPublicMode(false));

  const moveBack = (sessionId: string, interval: string) =>
    sql`update sessions set expires_at = now() - ${interval}::interval where id = ${sessionId}`.execute(
      short.deps.db,
    );

  // IMPERSONATION-5
  test('is a setting in minutes', async () => {
    const { session } = await actAs(boss, worker, short);
    const seconds = (Date.parse(session.expires_at) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(55);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  // IMPERSONATION-6
  test.each([false, true])(
    'returns 401 everywhere except at public operations (public mode %j)',
    async (publicMode) => {
      await short.setPublicMode(publicMode);
      const { mask, session } = await actAs(boss, worker, short);
      await mask.ok('listPosts');
      await moveBack(session.session_id, '1 second');
      const paths: [string, string][] = [
        ['GET', '/auth/me'],
        ['GET', '/me'],
        ['GET', '/posts'],
        ['GET', `/users/${worker.ref}`],
        ['GET', '/account/sessions'],
        ['GET', '/admin/audit'],
        ['POST', '/auth/logout'],
        ['POST', '/auth/impersonation/end'],
        ['POST', `/admin/users/${worker.ref}/impersonate`],
      ];
      for (const [method, path] of paths) {
        const answer = await mask.send(path, { method });
        expect([path, answer.status, JSON.parse(answer.text)]).toEqual([path, 401, { error: endedText }]);
      }
      for (const path of ['/appearance', '/build-info', '/setup/status'])
        expect((await mask.send(path)).status).toBe(200);
      expect((await boss.ok('getMe')).impersonated_by).toBeNull();
      expect((await worker.ok('getMe')).ref).toBe(worker.ref);
    },
  );

  // IMPERSONATION-5
  test('is not extended by use', async () => {
    const { mask, session } = await actAs(boss, worker, short);
    const { db } = short.deps;
    const expiry = async () => {
      const row = db.selectFrom('sessions').select('expires_at').where('id', '=', session.session_id);
      return (await row.executeTakeFirstOrThrow()).expires_at;
    };
    const due = await expiry();
    await sql`update sessions set last_used_at = now() - interval '1 hour'
      where id = ${session.session_id}`.execute(db);
    await mask.ok('getMe');
    expect(await expiry()).toEqual(due);
    await sql`update sessions set expires_at = now() where id = ${session.session_id}`.execute(db);
    expect((await mask.refused('getMe')).status).toBe(401);
  });

  test('lets a browser with an expired impersonation sign in again', async () => {
    const { mask, session } = await actAs(boss, worker, short);
    await moveBack(session.session_id, '1 second');
    expect(
      (await mask.send('/auth/login', { method: 'POST', body: { username: 'boss', password: 'x' } })).status,
    ).toBe(401);
    expect(await mask.ok('login', { body: { username: 'boss', password } })).toMatchObject({
      ref: boss.ref,
      impersonated_by: null,
    });
    expect((await mask.ok('getMe')).ref).toBe(boss.ref);
  });

  // IMPERSONATION-6
  test('is reported for a day to a browser that still sends the cookie', async () => {
    await short.setPublicMode(true);
    const { mask, session } = await actAs(boss, worker, short);
    await moveBack(session.session_id, '23 hours');
    await expire(short.deps.db);
    expect((await mask.refused('listPosts')).error).toBe(endedText);
    await moveBack(session.session_id, '25 hours');
    await expire(short.deps.db);
    await mask.ok('listPosts');
    expect((await mask.refused('getMe')).status).toBe(401);
  });
});

// IMPERSONATION-7
describe('ends immediately, also in public mode, when', () => {
  let admin: Account;
  let target: Account;
  let mask: Visitor;
  const db = () => library.deps.db;

  beforeEach(async () => {
    const suffix = randomUUID().slice(0, 8);
    [admin, target] = await Promise.all([library.join(`admin${suffix}`), library.join(`target${suffix}`)]);
    await grant(library, admin, 'auth.impersonate');
    ({ mask } = await actAs(admin, target));
    expect((await mask.ok('getMe')).ref).toBe(target.ref);
  });

  const ways: [string, () => Promise<unknown>][] = [
    [
      'the administrator loses auth.impersonate',
      () => db().deleteFrom('user_capability_grants').where('user_ref', '=', admin.ref).execute(),
    ],
    [
      'auth.impersonate is revoked from the administrator',
      () =>
        db()
          .insertInto('user_capability_revokes')
          .values({ user_ref: admin.ref, capability: 'auth.impersonate' })
          .execute(),
    ],
    ['the administrator is disabled', () => setStatus(admin, 'disabled')],
    ['the administrator is archived', () => setStatus(admin, 'archived')],
    ['the target becomes an administrator by role', () => setRole(library, target, 'admin')],
    ['the target becomes an administrator by a grant', () => grant(library, target, 'system.admin')],
    ['the target is disabled', () => setStatus(target, 'disabled')],
  ];

  // IMPERSONATION-7
  test.each(ways)('%s', async (_, change) => {
    await change();
    expect((await mask.refused('getMe')).status).toBe(401);
    expect((await mask.refused('endImpersonation')).status).toBe(401);
    await library.setPublicMode(true);
    expect((await mask.send('/posts')).status).toBe(401);
    expect((await mask.send('/appearance')).status).toBe(200);
  });

  test('the target’s sessions are ended', async () => {
    await root.ok('endUserSessions', { params: { ref: target.ref } });
    expect((await mask.refused('getMe')).status).toBe(401);
  });
});

// IMPERSONATION-8
describe('POST /auth/impersonation/end', () => {
  // IMPERSONATION-8
  test('returns a new session of the administrator and ends only the impersonation', async () => {
    const { mask, session } = await actAs(helper, worn);
    const dead = mask.cookie();
    const [event, ...more] = await eventsDuring(async () => {
      expect(await mask.ok('endImpersonation')).toEqual({
        admin_user_ref: helper.ref,
        admin_username: 'helper',
      });
    });
    expect(new Set([mask.cookie(), dead, helper.cookie()]).size).toBe(3);
    expect(await mask.ok('getMe')).toMatchObject({ ref: helper.ref, impersonated_by: null });
    expect((await visit(library.address, {}, dead).refused('getMe')).status).toBe(401);
    expect((await visit(library.address, {}, dead).refused('endImpersonation')).status).toBe(401);
    expect((await helper.ok('getMe')).ref).toBe(helper.ref);
    expect((await worn.ok('getMe')).ref).toBe(worn.ref);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      event: 'admin.impersonation.ended',
      actor_user_ref: helper.ref,
      subject_user_ref: worn.ref,
      metadata: { session_id: session.session_id, impersonated_by: { ref: helper.ref, username: 'helper' } },
    });
    const fresh = (await mask.ok('listSessions')).items.find(({ current }) => current);
    const days = (Date.parse(fresh?.expires_at ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
  });

  // IMPERSONATION-8
  test('returns 400 without an impersonation and 401 without a session', async () => {
    const before = await sessionsOf(helper);
    const events = await eventsDuring(async () => {
      expect((await helper.refused('endImpersonation')).status).toBe(400);
      expect((await library.anonymous().refused('endImpersonation')).status).toBe(401);
    });
    expect(events).toEqual([]);
    expect(await sessionsOf(helper)).toBe(before);
  });

  test('lets the administrator start again', async () => {
    const { mask } = await actAs(helper, worn);
    await mask.ok('endImpersonation');
    await mask.ok('impersonate', { params: { ref: victim.ref }, body: undefined });
    expect((await mask.ok('getMe')).ref).toBe(victim.ref);
  });

  test('ends once under five concurrent requests', async () => {
    const { mask } = await actAs(helper, worn);
    const before = await sessionsOf(helper);
    const windows = Array.from({ length: 5 }, () => visit(library.address, {}, mask.cookie()));
    const events = await eventsDuring(() =>
      Promise.all(windows.map((one) => one.send('/auth/impersonation/end', { method: 'POST' }))),
    );
    expect(events.map(({ event }) => event)).toEqual(['admin.impersonation.ended']);
    expect(await sessionsOf(helper)).toBe(before + 1);
  });

  test('signs out without ending the administrator’s or the target’s own sessions', async () => {
    const { mask } = await actAs(helper, worn);
    await mask.ok('logout');
    expect((await mask.refused('getMe')).status).toBe(401);
    expect((await helper.ok('getMe')).ref).toBe(helper.ref);
    expect((await worn.ok('getMe')).ref).toBe(worn.ref);
  });
});
