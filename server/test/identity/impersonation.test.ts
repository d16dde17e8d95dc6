import { randomUUID } from 'node:crypto';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { auditEvents, auditEventsDuring } from '../support/audit.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, password, publish, upload } from '../support/library.ts';
import { actAs, grant, revoke, setRole, setStatus, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

const MINUTES = 5;
const UNKNOWN_USER = 404_000;
const refusedText = 'not allowed while acting as another user';
const endedText = 'acting as another user has ended; sign in again';

const library = await openLibrary({ VITRINE_IMPERSONATION_MINUTES: String(MINUTES) });
const root = await library.join('root', 'admin');
/** A member with `auth.impersonate`. */
const [helper, worn, victim] = await library.joinAll('helper', 'worn', 'victim');
await grant(library, helper, 'auth.impersonate');

beforeEach(() => library.setPublicMode(false));

/** Returns another browser of the administrator, which impersonates the target; their own session is unchanged. */
async function begin(admin: Account, target: Account) {
  const mask = visit(library.address, {}, admin.cookie());
  const session = await mask.ok('impersonate', { params: { ref: target.ref }, body: undefined });
  return { mask, ...session };
}

async function sessionsOf(account?: Account): Promise<number> {
  const rows = await library.deps.db.selectFrom('sessions').select('user_ref').execute();
  return rows.filter(({ user_ref }) => account === undefined || user_ref === account.ref).length;
}

const renewed = { current_password: password, new_password: 'a new and better one' };

async function endSessionsInBatch({ ref }: Account): Promise<void> {
  await root.ok('batchUsers', { body: { ids: [ref], action: { kind: 'end_sessions' } } });
  await library.runJobs();
}

const isSignedIn = async (visitor: Visitor) => (await visitor.status('GET', '/auth/me')) === 200;

// IMPERSONATION-1
describe('POST /admin/users/{ref}/impersonate', () => {
  // IMPERSONATION-1, IMPERSONATION-2, IMPERSONATION-5
  test('starts a session as the target, and keeps the administrator’s own', async () => {
    const [own, targets] = [await sessionsOf(helper), await sessionsOf(worn)];
    const mask = visit(library.address, {}, helper.cookie());
    const asked = Date.now();
    const answer = await mask.send(`/admin/users/${worn.ref}/impersonate`, { method: 'POST' });
    const body = JSON.parse(answer.text);
    expect(body).toEqual({
      session_id: expect.any(String),
      expires_at: expect.any(String),
      target_user_ref: worn.ref,
      target_username: 'worn',
    });
    expect(Math.abs(Date.parse(body.expires_at) - asked - MINUTES * 60_000)).toBeLessThan(60_000);
    const attributes = (answer.headers.get('set-cookie') ?? '').split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'Path=/', 'SameSite=Lax']));
    expect(await mask.ok('getMe')).toMatchObject({
      ref: worn.ref,
      username: 'worn',
      auth_method: 'session',
      impersonated_by: { ref: helper.ref, username: 'helper' },
      capabilities: (await worn.ok('getMe')).capabilities,
    });
    expect(await helper.ok('getMe')).toMatchObject({ ref: helper.ref, impersonated_by: null });
    expect((await worn.ok('getMe')).impersonated_by).toBeNull();
    expect([await sessionsOf(helper), await sessionsOf(worn)]).toEqual([own, targets + 1]);
  });

  // IMPERSONATION-3
  test('records the reason, which is optional', async () => {
    const target = await library.join('explained');
    const reasons = [undefined, {}, { reason: null }, { reason: 'é'.repeat(500) }];
    const sessions: string[] = [];
    for (const body of reasons) {
      const mask = visit(library.address, {}, helper.cookie());
      sessions.push((await mask.ok('impersonate', { params: { ref: target.ref }, body })).session_id);
    }
    const events = await auditEvents(library, { subject_user_ref: target.ref });
    expect(events).toMatchObject(
      reasons.map((body, place) => ({
        event: 'admin.impersonation.started',
        actor_user_ref: helper.ref,
        impersonator_user_ref: null,
        metadata: { session_id: sessions[place], reason: body?.reason ?? null },
      })),
    );
  });
});

// IMPERSONATION-4, ROLE-18
test('refuses to start an impersonation in the order of the rule, and leaves no session, cookie or event', async () => {
  const { db } = library.deps;
  const names = ['plain', 'inherits', 'granted', 'in team', 'late', 'revoked'];
  const joined = await Promise.all(names.map((name) => library.join(name, 'viewer')));
  const account = (name: string) => joined.find(({ username }) => username === name) ?? root;
  await sql`insert into roles (id, code, label, parent_id)
    select ${randomUUID()}, 'deputy', 'Deputy', id from roles where code = 'admin'`.execute(db);
  await setRole(library, account('inherits'), 'deputy');
  await grant(library, account('granted'), 'system.admin');
  const team = await addTeam(library, 'crew', [account('plain')]);
  await grant(library, account('in team'), 'auth.impersonate', team);
  for (const name of ['late', 'revoked']) await grant(library, account(name), 'auth.impersonate');
  await sql`update user_capability_grants set expires_at = now() - interval '1 second'
    where user_ref = ${account('late').ref}`.execute(db);
  await revoke(library, account('revoked'), 'auth.impersonate');
  const away = await Promise.all(
    (['pending', 'disabled', 'archived'] as const).map(async (status) => {
      const one = await library.join(status);
      await setStatus(library, one, status);
      return one;
    }),
  );
  await grant(library, victim, 'auth.impersonate');
  const [byRoot, byHelper] = [await actAs(library, root, worn), await actAs(library, helper, victim)];

  const deputies = [account('inherits').ref, account('granted').ref];
  const acting = [400, 'you are already acting as another user'];
  const oneself = [400, 'you cannot impersonate yourself'];
  const missing = [403, 'missing capability auth.impersonate'];
  const unknown = [404, 'not found'];
  const administrator = [403, expect.any(String)];
  const cases: [by: string, caller: Visitor, refs: number[], refusal: unknown[]][] = [
    ['administrator who acts', byRoot, [worn.ref, root.ref, UNKNOWN_USER], acting],
    ['helper who acts as another', byHelper, [victim.ref, helper.ref, root.ref, UNKNOWN_USER], acting],
    ['without the capability', account('plain'), [account('plain').ref, root.ref, UNKNOWN_USER], missing],
    ['for a team', account('in team'), [worn.ref], missing],
    ['with an expired grant', account('late'), [worn.ref], missing],
    ['with a revoke', account('revoked'), [worn.ref], missing],
    ['helper as oneself', helper, [helper.ref], oneself],
    ['administrator as oneself', root, [root.ref], oneself],
    ['helper as nobody', helper, [UNKNOWN_USER, ...away.map(({ ref }) => ref)], unknown],
    ['helper as administrator', helper, [root.ref, ...deputies], administrator],
    ['administrator as another', root, deputies, administrator],
  ];
  const before = await sessionsOf();
  const events = await auditEventsDuring(library, async () => {
    for (const [by, caller, refs, refusal] of cases)
      for (const ref of refs) {
        const answer = await caller.send(`/admin/users/${ref}/impersonate`, { method: 'POST', body: {} });
        const { error } = JSON.parse(answer.text);
        expect([by, ref, answer.status, error]).toEqual([by, ref, ...refusal]);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
  });
  expect([events, await sessionsOf()]).toEqual([[], before]);
  await withdrawGrants(library, victim);
  // An administrator who lost system.admin is an account like any other.
  await revoke(library, account('granted'), 'system.admin');
  expect(await isSignedIn(await actAs(library, helper, account('granted')))).toBe(true);
});

// TOKEN-9
test('a bearer token ignores the cookie of an impersonation', async () => {
  const mask = await actAs(library, helper, worn);
  const { token } = await helper.ok('createToken', { body: { name: 'script', scopes: ['admin'] } });
  const both = visit(library.address, { authorization: `Bearer ${token}` }, mask.cookie());
  expect(await both.ok('getMe')).toMatchObject({ ref: helper.ref, impersonated_by: null });
  expect((await both.refused('endImpersonation')).status).toBe(403);
  expect((await mask.ok('getMe')).ref).toBe(worn.ref);
});

describe('while impersonating', () => {
  // IMPERSONATION-10
  test('shows exactly what the target sees', async () => {
    const own = await upload(worn, plainFile('own'));
    const draft = await publish(worn, [own], { draft: true, visibility: 'private' });
    const secret = await publish(victim, [await upload(victim, plainFile('foreign'))], {
      visibility: 'private',
    });
    const mask = await actAs(library, root, worn);
    expect(await mask.status('GET', `/posts/${draft.id}`)).toBe(200);
    await root.ok('getPost', { params: { id: secret.id } });
    for (const path of [
      `/posts/${secret.id}`,
      '/posts',
      '/posts?draft=true',
      '/account/profile',
      '/account/2fa',
      '/auth/tokens',
      '/auth/me/capabilities',
      '/system/public-mode',
      '/admin/users',
      `/users/${victim.ref}`,
    ]) {
      const [theirs, seen] = [await worn.send(path), await mask.send(path)];
      expect([path, seen.status, seen.text]).toEqual([path, theirs.status, theirs.text]);
    }
  });

  // IMPERSONATION-9, USER-13
  test('no accounts or tokens can be created, and no password, second factor or capabilities be changed', async () => {
    const all: readonly Operation[] = Object.values(operations);
    const refused = all.filter(({ whileImpersonating }) => whileImpersonating === 'refused');
    const intended = `addPasskey addTeamMember addTeamParent batchUsers changePassword confirmTwoFactor createInvitation
      createProvider createPushSubscription createRole createScimToken createToken createUser decideDeletionRequest decideRequest deletePasskey
      deleteProvider deletePushSubscription deleteRole deleteScimToken deleteUser disableTwoFactor downloadAccountExport enrollTwoFactor
      getAccountExport getDeletionRequest grantCapability importUsers
      linkIdentity removeGrant removeRevoke removeTeamParent removeUserTwoFactor
      renewRecoveryCodes requestDeletion resendInvitation resetPassword revokeCapability rotateOwnKeys
      setUserRole startAccountExport startPasskey unlinkIdentity updateFollowableAccount updatePasskey
      updateProvider updateRole withdrawDeletionRequest`;
    expect(refused.map(({ id }) => id).sort()).toEqual(intended.split(/\s+/));
    const [boss, bystander] = await library.joinAll('boss', 'bystander');
    await grant(library, boss, ['users.write', 'roles.write', 'teams.write', 'system.config.write']);
    const mask = await actAs(library, helper, boss);
    const outcomes: unknown[] = [];
    const events = await auditEventsDuring(library, async () => {
      for (const { id, method, path } of refused) {
        const address = path.replace('{ref}', String(bystander.ref));
        // The refusal comes before the body is validated.
        const answer = await mask.send(address, { method, body: { nonsense: true } });
        const byTarget = await boss.status(method, address, { nonsense: true });
        outcomes.push([id, answer.status, JSON.parse(answer.text).error, byTarget === 403]);
      }
    });
    expect(outcomes).toEqual(refused.map(({ id }) => [id, 403, refusedText, false]));
    expect(events).toEqual([]);
  });

  // IMPERSONATION-11
  test('names the target and the administrator in every audit event', async () => {
    const [target, another] = [await library.join('both'), await library.join('another', 'viewer')];
    await grant(library, target, ['system.config.write', 'users.write', 'system.audit.read']);
    const token = await target.ok('createToken', { body: { name: 'theirs', scopes: ['read'] } });
    const mask = await actAs(library, root, target);
    const events = await auditEventsDuring(library, async () => {
      await mask.ok('setPublicMode', { body: { enabled: false } });
      await mask.ok('updateUser', { params: { ref: target.ref }, body: { bio: 'hello' } });
      await mask.ok('setUserStatus', { params: { ref: another.ref }, body: { status: 'disabled' } });
      await mask.ok('deleteToken', { params: { id: token.id } });
      await mask.ok('endOtherSessions');
      await mask.send('/admin/audit/export');
      await publish(mask, [await upload(mask, plainFile('by the mask'))]);
      await mask.ok('logout');
    });
    const expected = `system.public_mode.changed user.updated user.status.changed auth.token.deleted
      auth.sessions.ended audit.exported auth.signed_out`;
    const names = events.map(({ event }) => event);
    expect(names).toEqual(expect.arrayContaining(expected.split(/\s+/)));
    const by = { ref: root.ref, username: 'root' };
    for (const event of events)
      expect(event).toMatchObject({
        actor_user_ref: target.ref,
        impersonator_user_ref: root.ref,
        metadata: { impersonated_by: by },
      });
    const { items } = await root.ok('listAudit', { query: { actor: target.ref, event: 'user.updated' } });
    expect(items[0]?.metadata.impersonated_by).toEqual(by);
  });

  // IMPERSONATION-5
  test('neither extends the session nor updates when the target was last seen', async () => {
    const { db } = library.deps;
    const { mask, session_id, expires_at } = await begin(helper, victim);
    const rowOf = () =>
      db
        .selectFrom('sessions as s')
        .innerJoin('users as u', 'u.ref', 's.user_ref')
        .select(['s.expires_at', 's.last_used_at', 'u.last_seen_at'])
        .where('s.id', '=', session_id)
        .executeTakeFirstOrThrow();
    await sql`update sessions set last_used_at = now() - interval '10 minutes' where id = ${session_id}`.execute(
      db,
    );
    const before = await rowOf();
    await mask.ok('getMe');
    const after = await rowOf();
    expect(Date.parse(after.last_used_at)).toBeGreaterThan(Date.parse(before.last_used_at));
    expect([after.expires_at, after.last_seen_at]).toEqual([expires_at, before.last_seen_at]);
  });
});

describe('after the hard expiry', () => {
  const { db } = library.deps;
  const moveBack = (sessionId: string, interval: string) =>
    sql`update sessions set expires_at = now() - ${interval}::interval where id = ${sessionId}`.execute(db);

  // IMPERSONATION-6
  test('returns 401 except at open operations, in public mode too, and a browser can sign in again', async () => {
    const { mask, session_id } = await begin(root, worn);
    await moveBack(session_id, '1 second');
    for (const [isPublic, method, path] of [
      [false, 'GET', '/posts'],
      [true, 'GET', '/auth/me'],
      [true, 'GET', '/posts'],
      [true, 'GET', `/users/${worn.ref}`],
      [true, 'GET', '/admin/audit'],
      [true, 'POST', '/auth/logout'],
      [true, 'POST', '/auth/impersonation/end'],
      [true, 'POST', `/admin/users/${worn.ref}/impersonate`],
    ] as const) {
      await library.setPublicMode(isPublic);
      const answer = await mask.send(path, { method });
      expect([path, answer.status, JSON.parse(answer.text)]).toEqual([path, 401, { error: endedText }]);
    }
    for (const path of ['/appearance', '/build-info', '/setup/status'])
      expect([path, await mask.status('GET', path)]).toEqual([path, 200]);
    expect([await isSignedIn(root), await isSignedIn(worn)]).toEqual([true, true]);
    expect((await mask.refused('login', { body: { username: 'root', password: 'x' } })).status).toBe(401);
    const user = await mask.ok('login', { body: { username: 'root', password } });
    expect(user).toMatchObject({ ref: root.ref, impersonated_by: null });
  });

  // IMPERSONATION-6
  test('is reported for a day to a browser that still sends the cookie', async () => {
    await library.setPublicMode(true);
    const { mask, session_id } = await begin(root, worn);
    await moveBack(session_id, '23 hours');
    await expire(db);
    expect((await mask.refused('listPosts')).error).toBe(endedText);
    await moveBack(session_id, '25 hours');
    await expire(db);
    await mask.ok('listPosts');
    expect(await isSignedIn(mask)).toBe(false);
  });
});

// IMPERSONATION-7
test.each<[string, (admin: Account, target: Account) => Promise<unknown>]>([
  ['the administrator loses auth.impersonate', (admin) => withdrawGrants(library, admin)],
  ['auth.impersonate is revoked', (admin) => revoke(library, admin, 'auth.impersonate')],
  ['the administrator is disabled', (admin) => setStatus(library, admin, 'disabled')],
  ['the administrator is archived', (admin) => setStatus(library, admin, 'archived')],
  ['the target becomes an administrator by role', (_, target) => setRole(library, target, 'admin')],
  ['the target becomes an administrator by a grant', (_, target) => grant(library, target, 'system.admin')],
  ['the target is disabled', (_, target) => setStatus(library, target, 'disabled')],
])('ends immediately, also in public mode, when %s', async (_, change) => {
  const suffix = randomUUID();
  const [admin, target] = [await library.join(`admin ${suffix}`), await library.join(`target ${suffix}`)];
  await grant(library, admin, 'auth.impersonate');
  const mask = await actAs(library, admin, target);
  expect(await isSignedIn(mask)).toBe(true);
  await change(admin, target);
  await library.setPublicMode(true);
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['GET', '/posts'],
    ['POST', '/auth/impersonation/end'],
  ] as const)
    expect([path, await mask.status(method, path)]).toEqual([path, 401]);
  expect(await mask.status('GET', '/appearance')).toBe(200);
});

// IMPERSONATION-7, SIGNIN-14, SESSION-7
test.each<[string, (admin: Account) => Promise<unknown>]>([
  ['change their password', (admin) => admin.ok('changePassword', { body: renewed })],
  ['end their other sessions', (admin) => admin.ok('endOtherSessions')],
  ['lose their sessions', ({ ref }) => root.ok('endUserSessions', { params: { ref } })],
  ['lose their sessions in a batch', (admin) => endSessionsInBatch(admin)],
  ['get a new password', ({ ref }) => root.ok('resetPassword', { params: { ref } })],
])('ends with the sessions of administrators who %s', async (_, end) => {
  const admin = await library.join(`ended ${randomUUID()}`);
  await grant(library, admin, 'auth.impersonate');
  const mask = await actAs(library, admin, worn);
  await end(admin);
  expect([await isSignedIn(mask), await isSignedIn(worn)]).toEqual([false, true]);
  expect((await mask.refused('endImpersonation')).status).toBe(401);
});

// IMPERSONATION-8
describe('POST /auth/impersonation/end', () => {
  // IMPERSONATION-8
  test('returns a new session of the administrator and ends only the impersonation', async () => {
    const mask = await actAs(library, helper, worn);
    const dead = visit(library.address, {}, mask.cookie());
    const ended = { admin_user_ref: helper.ref, admin_username: 'helper' };
    expect(await mask.ok('endImpersonation')).toEqual(ended);
    expect(new Set([mask.cookie(), dead.cookie(), helper.cookie()]).size).toBe(3);
    expect(await mask.ok('getMe')).toMatchObject({ ref: helper.ref, impersonated_by: null });
    expect(await Promise.all([dead, helper, worn].map(isSignedIn))).toEqual([false, true, true]);
    expect((await dead.refused('endImpersonation')).status).toBe(401);
    const fresh = (await mask.ok('listSessions')).items.find(({ current }) => current);
    const days = (Date.parse(fresh?.expires_at ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    // The administrator can start again.
    await mask.ok('impersonate', { params: { ref: victim.ref }, body: undefined });
    expect((await mask.ok('getMe')).ref).toBe(victim.ref);
  });

  test('ends once under five concurrent requests', async () => {
    const mask = await actAs(library, helper, worn);
    const before = await sessionsOf(helper);
    const windows = Array.from({ length: 5 }, () => visit(library.address, {}, mask.cookie()));
    const end = () => Promise.all(windows.map((one) => one.status('POST', '/auth/impersonation/end')));
    const events = await auditEventsDuring(library, end);
    expect(events.map(({ event }) => event)).toEqual(['admin.impersonation.ended']);
    expect(await sessionsOf(helper)).toBe(before + 1);
  });

  test('is not needed to sign out, which ends no session of the administrator or the target', async () => {
    const mask = await actAs(library, helper, worn);
    await mask.ok('logout');
    expect(await Promise.all([mask, helper, worn].map(isSignedIn))).toEqual([false, true, true]);
  });
});
