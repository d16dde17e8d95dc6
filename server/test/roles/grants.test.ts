import type { CapabilityChange } from '@vitrine/contract/roles';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expire } from '../../src/sweep/expired.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary } from '../support/library.ts';
import { addTeam } from '../support/teams.ts';

const UNKNOWN_USER = 999_999;
const HOUR = 3_600_000;
const inAnHour = () => new Date(Date.now() + HOUR).toISOString();

let library: Library;
let root: Account;
/** A member with `users.write`. */
let manager: Account;
let mara: Account;
let team: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  manager = await library.join('manager');
  mara = await library.join('mara');
  team = await addTeam(library, 'print');
  await library.deps.db
    .insertInto('user_capability_grants')
    .values({ user_ref: manager.ref, capability: 'users.write' })
    .execute();
});

beforeEach(async () => {
  const { db } = library.deps;
  await db.deleteFrom('user_capability_grants').where('user_ref', '=', mara.ref).execute();
  await db.deleteFrom('user_capability_revokes').where('user_ref', '=', mara.ref).execute();
});

const held = async () => (await mara.ok('getMe')).capabilities ?? [];
const kinds = [
  {
    kind: 'grants',
    table: 'user_capability_grants',
    put: 'grantCapability',
    remove: 'removeGrant',
    event: 'grant',
  },
  {
    kind: 'revokes',
    table: 'user_capability_revokes',
    put: 'revokeCapability',
    remove: 'removeRevoke',
    event: 'revoke',
  },
] as const;
type Put = (typeof kinds)[number]['put'];
type Remove = (typeof kinds)[number]['remove'];

const put = (operation: Put, body: CapabilityChange, visitor: Visitor = root) =>
  visitor.ok(operation, { params: { ref: mara.ref }, body });
const refusal = async (operation: Put | Remove, body: CapabilityChange, visitor: Visitor = root) =>
  (await visitor.refused(operation, { params: { ref: mara.ref }, body })).status;
const statusOf = async (kind: string, method: 'POST' | 'DELETE', body: unknown, visitor: Visitor = root) =>
  (await visitor.send(`/admin/users/${mara.ref}/${kind}`, { method, body })).status;

/** Moves ends within the next hour into the past. */
async function letRunOut(table: (typeof kinds)[number]['table']): Promise<void> {
  await sql`update ${sql.table(table)} set expires_at = now() - interval '1 second'
    where user_ref = ${mara.ref} and expires_at is not null`.execute(library.deps.db);
}

describe.each(kinds)('POST and DELETE /admin/users/{ref}/$kind', ({ kind, put: putting, remove, event }) => {
  const records = async () => (await mara.ok('getMyCapabilities'))[kind];

  // HTTP-2, ROLE-12
  test('POST answers 201, then 200; DELETE 204, then 404', async () => {
    const body = { capability: 'jobs.read' };
    expect(await statusOf(kind, 'POST', body)).toBe(201);
    expect(await statusOf(kind, 'POST', body)).toBe(200);
    expect(await records()).toHaveLength(1);
    expect(await statusOf(kind, 'DELETE', body)).toBe(204);
    expect(await statusOf(kind, 'DELETE', body)).toBe(404);
    expect(await statusOf(kind, 'POST', body)).toBe(201);
  });

  // ROLE-12
  test('a repeated POST changes note and expiry', async () => {
    const first = await put(putting, { capability: 'jobs.read', note: 'for now', expires_at: inAnHour() });
    const second = await put(putting, { capability: 'jobs.read', note: 'for good' }, root);
    expect(second).toEqual({ ...first, note: 'for good', expires_at: null });
    expect(await records()).toEqual([second]);
  });

  test('ten concurrent POSTs create one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => statusOf(kind, 'POST', { capability: 'jobs.read' })),
    );
    expect(answers.sort()).toEqual([...Array<number>(9).fill(200), 201]);
    expect(await records()).toHaveLength(1);
  });

  test('one with a team and one without are separate', async () => {
    const everywhere = { capability: 'posts.admin' } as const;
    const inTeam = { ...everywhere, team_id: team };
    await put(putting, everywhere);
    await put(putting, inTeam);
    expect((await records()).map(({ team_id }) => team_id).sort()).toEqual([team, null].sort());
    const other = await addTeam(library, `other for ${kind}`);
    expect(await statusOf(kind, 'DELETE', { ...everywhere, team_id: other })).toBe(404);
    expect(await statusOf(kind, 'DELETE', everywhere)).toBe(204);
    expect((await records()).map(({ team_id }) => team_id)).toEqual([team]);
    expect(await statusOf(kind, 'DELETE', inTeam)).toBe(204);
    expect(await records()).toEqual([]);
  });

  // ROLE-1
  test.each([
    { capability: 'no.such.capability' },
    { capability: '' },
    { capability: 'Posts.Admin' },
    { capability: null },
    {},
    { capability: 'jobs.read', team_id: 'print' },
    { capability: 'jobs.read', note: 'x'.repeat(501) },
    { capability: 'jobs.read', note: 'a\u0000' },
    { capability: 'jobs.read', role: 'admin' },
    { capability: ['jobs.read'] },
  ])('%j is 400', async (body) => {
    expect(await statusOf(kind, 'POST', body)).toBe(400);
    expect(await records()).toEqual([]);
  });

  // ROLE-12
  test.each([
    ['long ago', '2020-01-01T00:00:00Z'],
    ['this moment', () => new Date().toISOString()],
    ['a leap second that is over', '2016-12-31T23:59:60Z'],
    ['no time', 'tomorrow'],
    ['a day', '2099-01-01'],
    ['a time without a zone', '2099-01-01T00:00:00'],
    ['no time either', 'infinity'],
  ])('an end that is %s is 400', async (_, at) => {
    const expires_at = typeof at === 'string' ? at : at();
    expect(await statusOf(kind, 'POST', { capability: 'jobs.read', expires_at })).toBe(400);
    expect(await records()).toEqual([]);
  });

  // ROLE-12
  test('accepts an expiry in another time zone and a note of 500 characters', async () => {
    const record = await put(putting, {
      capability: 'jobs.read',
      note: 'x'.repeat(500),
      expires_at: '2099-01-01T01:00:00+02:00',
    });
    expect(Date.parse(record?.expires_at ?? '')).toBe(Date.parse('2098-12-31T23:00:00Z'));
  });

  test('answers 404 for an unknown or deleted team and an unknown account', async () => {
    const gone = await addTeam(library, `gone for ${kind}`);
    const deleted = { deleted_at: '2026-01-01T00:00:00Z' };
    await library.deps.db.updateTable('teams').set(deleted).where('id', '=', gone).execute();
    for (const team_id of [gone, '00000000-0000-4000-8000-00000000aaaa']) {
      expect(await refusal(putting, { capability: 'posts.admin', team_id })).toBe(404);
    }
    const params = { ref: UNKNOWN_USER };
    const body = { capability: 'posts.admin' } as const;
    expect((await root.refused(putting, { params, body })).status).toBe(404);
    expect((await root.refused(remove, { params, body })).status).toBe(404);
    expect(await records()).toEqual([]);
  });

  // ROLE-9
  test('requires that the caller has the capability, in the team or globally', async () => {
    const beyond = { capability: 'posts.admin' } as const;
    expect(await refusal(putting, beyond, manager)).toBe(403);
    expect(await refusal(putting, { ...beyond, team_id: team }, manager)).toBe(403);
    await put(putting, { ...beyond, team_id: team });
    expect(await refusal(remove, { ...beyond, team_id: team }, manager)).toBe(403);
    await root.ok(remove, { params: { ref: mara.ref }, body: { ...beyond, team_id: team } });
    await put(putting, { capability: 'posts.comment' }, manager);
    await manager.ok(remove, { params: { ref: mara.ref }, body: { capability: 'posts.comment' } });
  });

  test('refuses to raise the caller’s own account', async () => {
    const params = { ref: manager.ref };
    const body = { capability: 'system.admin' } as const;
    expect((await manager.refused(putting, { params, body })).status).toBe(403);
    expect((await manager.refused(remove, { params, body })).status).toBe(403);
  });

  // ROLE-10
  test('refuses accounts with more capabilities than the caller', async () => {
    const params = { ref: root.ref };
    const body = { capability: 'posts.comment' } as const;
    expect((await manager.refused(putting, { params, body })).status).toBe(403);
    expect((await manager.refused(remove, { params, body })).status).toBe(403);
    await library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: mara.ref, capability: 'assets.admin', team_id: team })
      .execute();
    expect(await refusal(putting, body, manager)).toBe(403);
  });

  test('writes an audit event each time', async () => {
    const expires_at = inAnHour();
    const body = { capability: 'jobs.read', team_id: team, note: 'On call', expires_at } as const;
    await put(putting, body);
    await root.ok(remove, { params: { ref: mara.ref }, body: { capability: 'jobs.read', team_id: team } });
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'subject_user_ref', 'metadata'])
      .where('event', 'like', `capability.${event}.%`)
      .orderBy('occurred_at', 'desc')
      .limit(2)
      .execute();
    const by = { actor_user_ref: root.ref, subject_user_ref: mara.ref };
    expect(events).toEqual([
      { ...by, event: `capability.${event}.removed`, metadata: { capability: 'jobs.read', team_id: team } },
      { ...by, event: `capability.${event}.added`, metadata: body },
    ]);
  });
});

// ROLE-3, ROLE-4
describe('what counts, from one request to the next', () => {
  const about = { capability: 'system.config.read' } as const;
  const revokeToken = (operation: Remove, body: CapabilityChange) =>
    root.ok(operation, { params: { ref: mara.ref }, body });

  test('a grant takes effect at once and ends at its expiry', async () => {
    expect((await mara.refused('getPublicMode')).status).toBe(403);
    await put('grantCapability', about);
    expect(await held()).toContain('system.config.read');
    await mara.ok('getPublicMode');
    await revokeToken('removeGrant', about);
    expect((await mara.refused('getPublicMode')).status).toBe(403);
  });

  // ROLE-3
  test('a revoke overrides role and grants until it is deleted', async () => {
    await put('grantCapability', about);
    await put('grantCapability', { capability: 'posts.comment' });
    for (const capability of ['system.config.read', 'posts.comment'] as const) {
      await put('revokeCapability', { capability });
      expect(await held()).not.toContain(capability);
    }
    await put('grantCapability', about);
    expect((await mara.refused('getPublicMode')).status).toBe(403);
    await revokeToken('removeRevoke', about);
    await mara.ok('getPublicMode');
    await revokeToken('removeRevoke', { capability: 'posts.comment' });
    expect(await held()).toContain('posts.comment');
  });

  test('a revoke of `system.admin` keeps the other capabilities of the role', async () => {
    const vice = await library.join('vice', 'admin');
    const params = { ref: vice.ref };
    await root.ok('revokeCapability', { params, body: { capability: 'system.admin' } });
    const { capabilities = [] } = await vice.ok('getMe');
    expect(capabilities).not.toContain('system.admin');
    expect(capabilities).toContain('users.write');
    expect(
      (await vice.refused('removeRevoke', { params, body: { capability: 'system.admin' } })).status,
    ).toBe(403);
    const body = { role_id: '00000000-0000-4000-8000-000000000102' };
    await root.ok('setUserRole', { params, body });
  });

  test('a grant in a team is not a global capability', async () => {
    await put('grantCapability', { ...about, team_id: team });
    expect(await held()).not.toContain('system.config.read');
    expect((await mara.refused('getPublicMode')).status).toBe(403);
  });

  test('expired grants and revokes have no effect and are not listed', async () => {
    await put('grantCapability', { ...about, expires_at: inAnHour() });
    await put('revokeCapability', { capability: 'posts.comment', expires_at: inAnHour() });
    expect(await held()).toContain('system.config.read');
    expect(await held()).not.toContain('posts.comment');
    await letRunOut('user_capability_grants');
    await letRunOut('user_capability_revokes');
    expect((await mara.refused('getPublicMode')).status).toBe(403);
    expect(await held()).toContain('posts.comment');
    expect(await mara.ok('getMyCapabilities')).toMatchObject({ grants: [], revokes: [] });
  });

  test('an expired one can be created again with another expiry', async () => {
    await put('grantCapability', { ...about, expires_at: inAnHour() });
    await letRunOut('user_capability_grants');
    await put('grantCapability', { ...about, expires_at: inAnHour() });
    await mara.ok('getPublicMode');
  });
});

describe('the sweeper', () => {
  test('removes and audits expired ones only', async () => {
    const expiring = { capability: 'jobs.read', expires_at: inAnHour() } as const;
    await put('grantCapability', expiring);
    await put('grantCapability', { ...expiring, team_id: team });
    await put('revokeCapability', { ...expiring, capability: 'posts.comment' });
    await letRunOut('user_capability_grants');
    await letRunOut('user_capability_revokes');
    await put('grantCapability', { capability: 'caps.read', expires_at: inAnHour() });
    await put('grantCapability', { capability: 'roles.read' });
    await put('revokeCapability', { capability: 'posts.create' });
    expect(await expire(library.deps.db)).toBe(3);
    expect(await expire(library.deps.db)).toBe(0);
    const left = async (table: (typeof kinds)[number]['table']) => {
      const rows = await library.deps.db
        .selectFrom(table)
        .select('capability')
        .where('user_ref', '=', mara.ref)
        .execute();
      return rows.map(({ capability }) => capability).sort();
    };
    expect(await left('user_capability_grants')).toEqual(['caps.read', 'roles.read']);
    expect(await left('user_capability_revokes')).toEqual(['posts.create']);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'subject_user_ref', 'metadata'])
      .where('event', 'like', 'capability.%.expired')
      .execute();
    const about = { actor_user_ref: null, subject_user_ref: mara.ref };
    expect(events).toHaveLength(3);
    expect(events).toEqual(
      expect.arrayContaining([
        { ...about, event: 'capability.grant.expired', metadata: { capability: 'jobs.read', team_id: null } },
        { ...about, event: 'capability.grant.expired', metadata: { capability: 'jobs.read', team_id: team } },
        {
          ...about,
          event: 'capability.revoke.expired',
          metadata: { capability: 'posts.comment', team_id: null },
        },
      ]),
    );
  });
});
