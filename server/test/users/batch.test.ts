import type { UserAction, UserSelection } from '@vitrine/contract/user-batches';
import { describe, expect, test } from 'vitest';
import { runBatchJob } from '../../src/content/batches/run.ts';
import { pairOf } from '../../src/operate/accounts/batch/actions.ts';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary } from '../support/library.ts';
import {
  actAs,
  anotherSession,
  bearer,
  grant,
  grantForAnHour,
  nowhere,
  withdrawGrants,
} from '../support/people.ts';
import { countStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
/** Sees and writes accounts, but has no other rights. */
const clerk = await library.join('clerk');
await grant(library, clerk, ['users.read', 'users.write']);

const started = async (who: Visitor, body: { ids?: number[]; query?: UserSelection }, action: UserAction) => {
  const answer = await who.ok('batchUsers', { body: { ...body, action } });
  return 'job_id' in answer ? answer.job_id : '';
};
const run = async (who: Visitor, people: readonly Pick<Account, 'ref'>[], action: UserAction) => {
  const id = await started(who, { ids: people.map(({ ref }) => ref) }, action);
  await library.runJobs();
  return who.ok('getBatch', { params: { id } });
};
const dryRun = (who: Visitor, people: readonly Pick<Account, 'ref'>[], action: UserAction) =>
  who.ok('batchUsers', { body: { ids: people.map(({ ref }) => ref), action, dry_run: true } });
const shown = ({ ref }: Pick<Account, 'ref'>) => root.ok('getAdminUser', { params: { ref } });
const rolesIn = async (team: string) =>
  (await root.ok('listTeamMembers', { params: { id: team } })).items.map(({ user_ref, role }) => [
    user_ref,
    role,
  ]);
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d{3}Z$/, '.125Z');

// BATCH-13
describe('many accounts', () => {
  test('change their status, unless they have it already', async () => {
    const [ada, ben] = await library.joinAll('ada', 'ben');
    const action = { kind: 'set_status', status: 'disabled', reason: 'on leave' } as const;
    expect(await dryRun(clerk, [ada, ben], action)).toEqual({
      matched: 2,
      changes: 2,
      unchanged: 0,
      refused: [],
    });
    expect(await ada.status('GET', '/me')).toBe(200);
    expect(await run(clerk, [ada, ben, ada], action)).toMatchObject({
      kind: 'set_status',
      subject: 'user',
      state: 'done',
      total: 2,
      changed: 2,
    });
    expect(await ada.status('GET', '/me')).toBe(401);
    expect(await run(clerk, [ada, ben], action)).toMatchObject({ changed: 0, unchanged: 2 });
    const [event, ...others] = await auditEvents(library, {
      event: 'user.status.changed',
      subject_user_ref: ada.ref,
    });
    expect([event?.actor_user_ref, event?.metadata, others]).toEqual([
      clerk.ref,
      { status: 'disabled', reason: 'on leave' },
      [],
    ]);
  });

  test('get a role by its code or its id', async () => {
    const [cleo, dora] = await library.joinAll('cleo', 'dora');
    await run(root, [cleo], { kind: 'set_role', role: 'viewer' });
    const { items } = await root.ok('listRoles', { query: {} });
    const role_id = items.find(({ code }) => code === 'viewer')?.id ?? '';
    await run(root, [dora], { kind: 'set_role', role_id });
    expect([(await shown(cleo)).role, (await shown(dora)).role]).toEqual(['viewer', 'viewer']);
  });

  test('join a team, change their role in it, and leave it', async () => {
    const [eva, finn] = await library.joinAll('eva', 'finn');
    const team = await addTeam(library, 'film');
    const joined = await run(root, [eva, finn], { kind: 'add_to_team', team_id: team });
    expect(joined).toMatchObject({ changed: 2 });
    expect(await rolesIn(team)).toEqual([
      [eva.ref, 'member'],
      [finn.ref, 'member'],
    ]);
    // TEAM-9
    const { items } = await eva.ok('listNotifications', { query: {} });
    expect(items.map(({ kind }) => kind)).toContain('team_member_added');
    expect(await run(root, [eva, finn], { kind: 'add_to_team', team_id: team })).toMatchObject({
      unchanged: 2,
    });
    await run(root, [eva], { kind: 'add_to_team', team_id: team, role: 'lead' });
    expect((await rolesIn(team))[0]).toEqual([eva.ref, 'lead']);
    expect(await run(root, [eva, clerk], { kind: 'remove_from_team', team_id: team })).toMatchObject({
      changed: 1,
      unchanged: 1,
    });
    expect(await rolesIn(team)).toEqual([[finn.ref, 'member']]);
  });

  test('expire at a time, or never', async () => {
    const [gus] = await library.joinAll('gus');
    const expires_at = inAnHour();
    await run(clerk, [gus], { kind: 'set_expiry', expires_at });
    expect((await shown(gus)).expires_at).toBe(expires_at);
    expect(await run(clerk, [gus], { kind: 'set_expiry', expires_at })).toMatchObject({ unchanged: 1 });
    await run(clerk, [gus], { kind: 'set_expiry', expires_at: null });
    expect((await shown(gus)).expires_at).toBeNull();
  });

  test('are signed out', async () => {
    const [hal, ida] = await library.joinAll('hal', 'ida');
    const other = await anotherSession(library, hal);
    await db.deleteFrom('sessions').where('user_ref', '=', ida.ref).execute();
    expect(await run(clerk, [hal, ida], { kind: 'end_sessions' })).toMatchObject({
      changed: 1,
      unchanged: 1,
    });
    expect([await hal.status('GET', '/me'), await other.status('GET', '/me')]).toEqual([401, 401]);
  });

  test('are selected by the filters of the list', async () => {
    const [jan, jill] = await library.joinAll('jan query', 'jill query');
    const id = await started(root, { query: { q: 'query', role: 'member' } }, { kind: 'end_sessions' });
    await library.runJobs();
    const { items } = await root.ok('listBatchItems', { params: { id }, query: {} });
    expect(items).toEqual([
      { id: jan.ref, outcome: 'changed' },
      { id: jill.ref, outcome: 'changed' },
    ]);
    const expired = { query: { obstacle: 'expired' as const }, action: { kind: 'end_sessions' as const } };
    expect(await root.ok('batchUsers', { body: { ...expired, dry_run: true } })).toMatchObject({
      matched: 0,
    });
  });

  test('are changed with as many statements as a few', async () => {
    const statementsFor = async (count: number) => {
      const names = Array.from({ length: count }, (_, at) => `crowd ${count} ${at}`);
      const people = await library.joinAll(...names);
      const team = await addTeam(library, `crowd-${count}`);
      const ids = people.map(({ ref }) => ref);
      const batch = await started(root, { ids }, { kind: 'add_to_team', team_id: team });
      const job = runBatchJob(library.deps, pairOf);
      return (
        await countStatements(library, async () =>
          job({ batch }, { jobId: batch, lastAttempt: true, log: library.deps.log }),
        )
      )[1];
    };
    expect(await statementsFor(8)).toBe(await statementsFor(2));
  });
});

describe('a batch of accounts refuses', () => {
  // ROLE-10
  test('accounts with more capabilities and unknown ones, and changes the others', async () => {
    const [kim] = await library.joinAll('kim');
    const people = [kim, root, { ref: 999_999 }];
    const refused = [
      { id: root.ref, reason: 'that account has capabilities that you lack' },
      { id: 999_999, reason: 'not found' },
    ];
    for (const action of [
      { kind: 'set_status', status: 'archived' },
      { kind: 'set_expiry', expires_at: inAnHour() },
      { kind: 'end_sessions' },
    ] as const) {
      expect(await dryRun(clerk, people, action)).toMatchObject({
        changes: 1,
        refused: refused.map(({ id, reason }) => ({ reason, count: 1, ids: [id] })),
      });
      expect(await run(clerk, people, action)).toMatchObject({ changed: 1, refused });
      await run(root, [kim], { kind: 'set_status', status: 'active' });
      await anotherSession(library, kim);
    }
    expect(await shown(root)).toMatchObject({ status: 'active', expires_at: null });
  });

  // BATCH-5
  test('accounts that the caller may no longer change when they are written', async () => {
    const [lou] = await library.joinAll('lou');
    await started(clerk, { ids: [lou.ref] }, { kind: 'set_status', status: 'disabled' });
    await grant(library, lou, 'posts.admin');
    await library.runJobs();
    expect((await shown(lou)).status).toBe('active');
    const temp = await library.join('temp');
    await grant(library, temp, 'users.write');
    const id = await started(temp, { ids: [clerk.ref] }, { kind: 'end_sessions' });
    await withdrawGrants(library, temp);
    await library.runJobs();
    expect((await temp.ok('getBatch', { params: { id } })).refused).toEqual([
      { id: clerk.ref, reason: expect.stringContaining('users.write') },
    ]);
    expect(await clerk.status('GET', '/me')).toBe(200);
  });

  test('the caller’s own account', async () => {
    const team = await addTeam(library, 'own');
    for (const [action, reason] of [
      [{ kind: 'set_status', status: 'pending' }, 'a batch does not change your own account'],
      [{ kind: 'set_role', role: 'viewer' }, 'a batch does not change your own account'],
      [{ kind: 'set_expiry', expires_at: inAnHour() }, 'a batch does not change your own account'],
      [{ kind: 'end_sessions' }, 'a batch does not end your own sessions'],
    ] as const)
      expect((await run(clerk, [clerk], action)).refused).toEqual([{ id: clerk.ref, reason }]);
    expect((await run(root, [root], { kind: 'add_to_team', team_id: team })).refused).toEqual([
      { id: root.ref, reason: 'nobody can add themselves to a team' },
    ]);
    expect(await clerk.status('GET', '/me')).toBe(200);
  });

  // ROLE-11
  test('the last administrator, even in a dry run', async () => {
    const [second, third] = [await library.join('second', 'admin'), await library.join('third', 'admin')];
    const passing = await library.join('passing');
    await grantForAnHour(library, passing, 'system.admin');
    const reason = 'that would leave the library without an administrator';
    const all = [root, second, third];
    for (const action of [
      { kind: 'set_status', status: 'disabled' },
      { kind: 'set_role', role: 'member' },
      { kind: 'set_expiry', expires_at: inAnHour() },
    ] as const) {
      expect(await dryRun(passing, all, action)).toMatchObject({
        changes: 2,
        refused: [{ reason, count: 1, ids: [third.ref] }],
      });
      expect(await run(passing, all, action)).toMatchObject({
        changed: 2,
        refused: [{ id: third.ref, reason }],
      });
      const { items } = await third.ok('listUsers', { query: { role: 'admin', can_sign_in: true } });
      expect(items.filter(({ expires_at }) => expires_at === null).map(({ ref }) => ref)).toEqual([
        third.ref,
      ]);
      for (const back of [
        { kind: 'set_status', status: 'active' },
        { kind: 'set_role', role: 'admin' },
        { kind: 'set_expiry', expires_at: null },
      ] as const)
        await run(third, [root, second], back);
    }
    await run(root, [second, third], { kind: 'set_role', role: 'member' });
    expect((await run(root, [root], { kind: 'set_status', status: 'disabled' })).refused).toEqual([
      { id: root.ref, reason },
    ]);
  });

  test('an action that the caller may not do, before it starts', async () => {
    const [mia] = await library.joinAll('mia');
    const team = await addTeam(library, 'closed', [mia]);
    const ids = [mia.ref];
    const refusalOf = async (who: Visitor, body: object) => {
      const { status, text } = await who.send('/admin/users/batch', { method: 'POST', body });
      return [status, text];
    };
    for (const [who, action, status] of [
      // ROLE-9
      [clerk, { kind: 'set_role', role: 'admin' }, 403],
      [clerk, { kind: 'add_to_team', team_id: team }, 403],
      [clerk, { kind: 'remove_from_team', team_id: team }, 403],
      [root, { kind: 'set_role', role: 'unknown' }, 404],
      [root, { kind: 'set_role', role_id: nowhere }, 404],
      [root, { kind: 'add_to_team', team_id: nowhere }, 404],
      [root, { kind: 'add_to_team', team_id: team, role: 'boss' }, 400],
      [root, { kind: 'set_expiry', expires_at: '2020-01-01T00:00:00Z' }, 400],
      [root, { kind: 'set_expiry' }, 400],
      [root, { kind: 'set_role' }, 400],
      [root, { kind: 'set_role', role: 'viewer', role_id: nowhere }, 400],
      [root, { kind: 'end_sessions', status: 'active' }, 400],
    ] as const)
      expect(await refusalOf(who, { ids, action }), JSON.stringify(action)).toEqual([
        status,
        expect.any(String),
      ]);
    const action = { kind: 'end_sessions' };
    expect((await refusalOf(root, { action }))[0]).toBe(400);
    expect((await refusalOf(root, { ids, query: {}, action }))[0]).toBe(400);
    expect((await refusalOf(root, { ids: [1, 'x'], action }))[0]).toBe(400);
    const writer = await library.join('writer');
    await grant(library, writer, 'users.write');
    expect((await refusalOf(writer, { query: {}, action }))[0]).toBe(403);
    expect((await refusalOf(writer, { ids, action, dry_run: true }))[0]).toBe(200);
    const acting = await actAs(library, root, clerk);
    expect((await refusalOf(acting, { ids, action }))[0]).toBe(403);
  });
});

const undone = async (who: Visitor, id: string) => {
  const { job_id } = await who.ok('undoBatch', { params: { id } });
  await library.runJobs();
  return who.ok('getBatch', { params: { id: job_id } });
};

// BATCH-9, BATCH-14
describe('undoing a batch of accounts', () => {
  test('returns the status, role, expiry and membership that each account had', async () => {
    const [opal, pia] = await library.joinAll('opal', 'pia');
    const team = await addTeam(library, 'undo', [opal]);
    const expires_at = inAnHour();
    await run(root, [opal], { kind: 'set_expiry', expires_at });
    await run(root, [pia], { kind: 'set_status', status: 'pending' });
    await run(root, [pia], { kind: 'set_role', role: 'viewer' });
    const before = [await shown(opal), await shown(pia), await rolesIn(team)];
    const actions = [
      { kind: 'set_status', status: 'archived' },
      { kind: 'set_role', role: 'admin' },
      { kind: 'add_to_team', team_id: team, role: 'lead' },
      { kind: 'remove_from_team', team_id: team },
      { kind: 'set_expiry', expires_at: null },
    ] as const;
    for (const action of actions) {
      const done = await run(root, [opal, pia], action);
      expect(done.undo_until, action.kind).toBeDefined();
      expect(await undone(root, done.id), action.kind).toMatchObject({
        kind: 'undo',
        state: 'done',
        changed: done.changed,
        refused: [],
      });
    }
    expect([await shown(opal), await shown(pia), await rolesIn(team)]).toEqual(before);
  });

  test('returns what a provider gave to the provider', async () => {
    const [quin] = await library.joinAll('quin');
    const team = await addTeam(library, 'given');
    const given = { role_provider: 'corp', status_provider: 'corp' };
    await db.updateTable('users').set(given).where('ref', '=', quin.ref).execute();
    await db
      .insertInto('team_members')
      .values({ team_id: team, user_ref: quin.ref, provider: 'corp' })
      .execute();
    for (const action of [
      { kind: 'set_status', status: 'disabled' },
      { kind: 'set_role', role: 'viewer' },
      { kind: 'add_to_team', team_id: team, role: 'viewer' },
      { kind: 'remove_from_team', team_id: team },
    ] as const) {
      const done = await run(root, [quin], action);
      expect(await undone(root, done.id), action.kind).toMatchObject({ changed: 1 });
    }
    const columns = ['role_provider', 'status_provider'] as const;
    const kept = db.selectFrom('users').select(columns).where('ref', '=', quin.ref);
    expect(await kept.executeTakeFirst()).toEqual(given);
    const member = db.selectFrom('team_members').select(['provider', 'role']).where('team_id', '=', team);
    expect(await member.executeTakeFirst()).toEqual({ provider: 'corp', role: 'member' });
  });

  test('refuses what was changed since, and leaves alone what the batch did not change', async () => {
    const [rex, sue, tom] = await library.joinAll('rex', 'sue', 'tom');
    const action = { kind: 'set_status', status: 'disabled' } as const;
    await run(root, [tom], action);
    const done = await run(root, [rex, sue, tom], action);
    await run(root, [sue], { kind: 'set_status', status: 'archived' });
    expect(await undone(root, done.id)).toMatchObject({
      total: 2,
      changed: 1,
      refused: [{ id: sue.ref, reason: 'changed since' }],
    });
    const statuses = await Promise.all([rex, sue, tom].map(async (one) => (await shown(one)).status));
    expect(statuses).toEqual(['active', 'archived', 'disabled']);
  });

  // ROLE-9, ROLE-10, TEAM-9
  test('checks the rights that the account has then', async () => {
    const [uma, vic] = await library.joinAll('uma', 'vic');
    const helper = await library.join('helper');
    await grant(library, helper, ['users.write', 'teams.write', 'fields.admin']);
    const { id: role } = await root.ok('createRole', {
      body: { code: 'tagger', name: 'Tagger', capabilities: ['fields.admin'] },
    });
    await run(root, [uma], { kind: 'set_role', role: 'tagger' });
    const team = await addTeam(library, 'left', [helper]);
    const demoted = await run(helper, [uma], { kind: 'set_role', role: 'viewer' });
    const left = await run(helper, [helper], { kind: 'remove_from_team', team_id: team });
    const disabled = await run(helper, [vic], { kind: 'set_status', status: 'disabled' });
    await grant(library, vic, 'posts.admin');
    const reasonOf = async (id: string) => (await undone(helper, id)).refused.map(({ reason }) => reason);
    expect(await reasonOf(left.id)).toEqual(['nobody can add themselves to a team']);
    expect(await reasonOf(disabled.id)).toEqual(['that account has capabilities that you lack']);
    await withdrawGrants(library, helper);
    await grant(library, helper, 'users.write');
    expect(await reasonOf(demoted.id)).toEqual([expect.stringContaining('do not hold')]);
    expect((await shown(uma)).role).toBe('viewer');
    await run(root, [vic], { kind: 'set_role', role: 'tagger' });
    const again = await run(root, [vic], { kind: 'set_role', role: 'viewer' });
    await root.ok('deleteRole', { params: { id: role } });
    expect((await undone(root, again.id)).refused).toEqual([{ id: vic.ref, reason: 'role not found' }]);
  });

  // ROLE-11
  test('keeps the last administrator', async () => {
    const [wes] = await library.joinAll('wes');
    const passing = await library.join('steward');
    await grantForAnHour(library, passing, 'system.admin');
    const made = await run(passing, [wes], { kind: 'set_role', role: 'admin' });
    await run(passing, [root], { kind: 'set_role', role: 'member' });
    expect((await undone(passing, made.id)).refused).toEqual([
      { id: wes.ref, reason: 'that would leave the library without an administrator' },
    ]);
    await run(wes, [root], { kind: 'set_role', role: 'admin' });
    await run(root, [wes], { kind: 'set_role', role: 'member' });
  });

  test('is possible once, with the scope admin, and not for ended sessions or another account', async () => {
    const [xen] = await library.joinAll('xen');
    const done = await run(clerk, [xen], { kind: 'set_status', status: 'disabled' });
    const undo = async (who: Visitor, id: string) =>
      (await who.send(`/jobs/${id}/undo`, { method: 'POST' })).status;
    expect(await undo(root, done.id)).toBe(404);
    expect(await undo(await bearer(library, clerk, ['assets.write']), done.id)).toBe(403);
    expect(await undo(await actAs(library, root, clerk), done.id)).toBe(403);
    expect(await undo(await bearer(library, clerk, ['admin']), done.id)).toBe(202);
    expect(await undo(clerk, done.id)).toBe(409);
    await library.runJobs();
    expect((await shown(xen)).status).toBe('active');
    await anotherSession(library, xen);
    const ended = await run(clerk, [xen], { kind: 'end_sessions' });
    expect(ended).toMatchObject({ changed: 1 });
    expect(ended).not.toHaveProperty('undo_until');
    expect(await undo(clerk, ended.id)).toBe(409);
  });
});

// BATCH-6, BATCH-7, BATCH-14
test('a batch of accounts is shown to its creator, and cancelled with the scope admin', async () => {
  const [ned] = await library.joinAll('ned');
  const id = await started(clerk, { ids: [ned.ref] }, { kind: 'set_status', status: 'disabled' });
  expect((await ned.refused('getBatch', { params: { id } })).status).toBe(404);
  const writer = await bearer(library, clerk, ['read', 'assets.write', 'posts.write']);
  expect((await writer.refused('cancelBatch', { params: { id } })).status).toBe(403);
  const script = await bearer(library, clerk, ['admin']);
  expect(await script.ok('cancelBatch', { params: { id } })).toMatchObject({ state: 'cancelled' });
  await library.runJobs();
  expect((await shown(ned)).status).toBe('active');
});
