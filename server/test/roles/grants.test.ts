import type { Capability } from '@vitrine/contract/capabilities';
import type { CapabilityChange } from '@vitrine/contract/roles';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { grant, nowhere, withdrawGrants } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const UNKNOWN_USER = 999_999;
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

const library = await openLibrary();
const root = await library.join('root', 'admin');
/** A member with `users.write`. */
const [manager, mara] = await library.joinAll('manager', 'mara');
const team = await addTeam(library, 'print');
await grant(library, manager, 'users.write');

beforeEach(async () => {
  await withdrawGrants(library, mara);
  await library.deps.db.deleteFrom('user_capability_revokes').where('user_ref', '=', mara.ref).execute();
});

const kinds = [
  { kind: 'grants', table: 'user_capability_grants', add: 'grantCapability', remove: 'removeGrant' },
  { kind: 'revokes', table: 'user_capability_revokes', add: 'revokeCapability', remove: 'removeRevoke' },
] as const;
type Kind = (typeof kinds)[number];

const change = (operation: Kind['add'], body: CapabilityChange) =>
  root.ok(operation, { params: { ref: mara.ref }, body });
const undo = (operation: Kind['remove'], capability: Capability) =>
  root.ok(operation, { params: { ref: mara.ref }, body: { capability } });

/** Moves the ends of grants or revokes within the next hour into the past. */
async function letRunOut(table: Kind['table']): Promise<void> {
  await sql`update ${sql.table(table)} set expires_at = now() - interval '1 second'
    where user_ref = ${mara.ref} and expires_at is not null`.execute(library.deps.db);
}

describe.each(kinds)('POST and DELETE /admin/users/{ref}/$kind', ({ kind, add, remove }) => {
  const records = async () => (await mara.ok('getMyCapabilities'))[kind];
  const statusOf = (method: 'POST' | 'DELETE', body: unknown, by: Visitor = root, { ref } = mara) =>
    by.status(method, `/admin/users/${ref}/${kind}`, body);

  // HTTP-2, ROLE-12
  test('POST answers 201, then 200 with another note and expiry; DELETE 204, then 404', async () => {
    const body = { capability: 'jobs.read' } as const;
    expect(await statusOf('POST', { ...body, note: 'for now', expires_at: inAnHour() })).toBe(201);
    const [first] = await records();
    expect(await statusOf('POST', { ...body, note: 'for good' })).toBe(200);
    expect(await records()).toEqual([{ ...first, note: 'for good', expires_at: null }]);
    expect([await statusOf('DELETE', body), await statusOf('DELETE', body)]).toEqual([204, 404]);
    expect(await records()).toEqual([]);
    const made = await Promise.all(Array.from({ length: 6 }, () => statusOf('POST', body)));
    expect(made.sort()).toEqual([...Array<number>(5).fill(200), 201]);
    expect(await records()).toHaveLength(1);
  });

  test('one with a team and one without are separate', async () => {
    const everywhere = { capability: 'posts.admin' } as const;
    const inTeam = { ...everywhere, team_id: team };
    await change(add, everywhere);
    await change(add, inTeam);
    const other = await addTeam(library, `other for ${kind}`);
    expect(await statusOf('DELETE', { ...everywhere, team_id: other })).toBe(404);
    expect(await records()).toHaveLength(2);
    expect(await statusOf('DELETE', everywhere)).toBe(204);
    expect((await records()).map(({ team_id }) => team_id)).toEqual([team]);
    expect(await statusOf('DELETE', inTeam)).toBe(204);
    expect(await records()).toEqual([]);
  });

  // ROLE-1, ROLE-12
  test('returns 400 for an unknown capability, and for an expiry that is over or no time', async () => {
    for (const capability of ['no.such.capability', '', 'Posts.Admin'])
      expect([capability, await statusOf('POST', { capability })]).toEqual([capability, 400]);
    // The last is a leap second.
    const past = ['2020-01-01T00:00:00Z', new Date().toISOString(), '2016-12-31T23:59:60Z'];
    // The last has no zone.
    const noTimes = ['tomorrow', 'infinity', '2099-01-01', '2099-01-01T00:00:00'];
    for (const expires_at of [...past, ...noTimes]) {
      const status = await statusOf('POST', { capability: 'jobs.read', expires_at });
      expect([expires_at, status]).toEqual([expires_at, 400]);
    }
    expect(await records()).toEqual([]);
  });

  // ROLE-12
  test('accepts an expiry in another time zone and a note of 500 characters', async () => {
    const note = 'x'.repeat(500);
    const expires_at = '2099-01-01T01:00:00+02:00';
    const record = await change(add, { capability: 'jobs.read', note, expires_at });
    expect(record.note).toBe(note);
    expect(Date.parse(record.expires_at ?? '')).toBe(Date.parse('2098-12-31T23:00:00Z'));
  });

  test('answers 404 for an unknown or deleted team and an unknown account', async () => {
    const gone = await addTeam(library, `gone for ${kind}`);
    const deleted = { deleted_at: '2026-01-01T00:00:00Z' };
    await library.deps.db.updateTable('teams').set(deleted).where('id', '=', gone).execute();
    const body = { capability: 'posts.admin' };
    for (const team_id of [gone, nowhere]) expect(await statusOf('POST', { ...body, team_id })).toBe(404);
    for (const method of ['POST', 'DELETE'] as const)
      expect(await statusOf(method, body, root, { ...mara, ref: UNKNOWN_USER })).toBe(404);
    expect(await records()).toEqual([]);
  });

  // ROLE-9, ROLE-10
  test('requires that the caller holds the capability, and all that the account holds', async () => {
    const beyond = { capability: 'posts.admin', team_id: team } as const;
    await change(add, beyond);
    const within = { capability: 'posts.comment' };
    expect(await statusOf('DELETE', beyond, manager)).toBe(403);
    await root.ok(remove, { params: { ref: mara.ref }, body: beyond });
    expect(await statusOf('POST', beyond, manager)).toBe(403);
    expect(await statusOf('POST', within, manager)).toBe(201);
    expect(await statusOf('DELETE', within, manager)).toBe(204);
    await grant(library, mara, 'assets.admin', team);
    for (const method of ['POST', 'DELETE'] as const) {
      expect(await statusOf(method, within, manager)).toBe(403);
      expect(await statusOf(method, within, manager, root)).toBe(403);
      // Nobody raises their own account.
      expect(await statusOf(method, { capability: 'system.admin' }, manager, manager)).toBe(403);
    }
  });
});

// ROLE-3, ROLE-4
describe('what counts, from one request to the next', () => {
  const about = { capability: 'system.config.read' } as const;
  const reads = async () => (await mara.status('GET', '/system/public-mode')) === 200;
  const holds = async (capability: Capability) =>
    ((await mara.ok('getMe')).capabilities ?? []).includes(capability);

  // ROLE-3, ROLE-4
  test('a revoke overrides role and grants until it is deleted', async () => {
    expect(await reads()).toBe(false);
    await change('grantCapability', about);
    expect([await reads(), await holds(about.capability)]).toEqual([true, true]);
    await change('revokeCapability', about);
    await change('revokeCapability', { capability: 'posts.comment' });
    await change('grantCapability', about);
    const held = [await holds(about.capability), await holds('posts.comment')];
    expect([await reads(), ...held]).toEqual([false, false, false]);
    await undo('removeRevoke', about.capability);
    await undo('removeRevoke', 'posts.comment');
    expect([await reads(), await holds('posts.comment')]).toEqual([true, true]);
    await undo('removeGrant', about.capability);
    expect(await reads()).toBe(false);
  });

  test('a revoke of `system.admin` keeps the other capabilities of the role', async () => {
    const vice = await library.join('vice', 'admin');
    const input = { params: { ref: vice.ref }, body: { capability: 'system.admin' } } as const;
    await root.ok('revokeCapability', input);
    const { capabilities = [] } = await vice.ok('getMe');
    expect(capabilities).not.toContain('system.admin');
    expect(capabilities).toContain('users.write');
    expect((await vice.refused('removeRevoke', input)).status).toBe(403);
  });

  // SESSION-12
  test('a grant in a team is not a global capability', async () => {
    await change('grantCapability', { ...about, team_id: team });
    expect([await holds(about.capability), await reads()]).toEqual([false, false]);
  });

  test('expired ones have no effect, are not listed, and can be created again', async () => {
    const ending = { ...about, expires_at: inAnHour() };
    await change('grantCapability', ending);
    await change('revokeCapability', { capability: 'posts.comment', expires_at: inAnHour() });
    expect([await reads(), await holds('posts.comment')]).toEqual([true, false]);
    for (const { table } of kinds) await letRunOut(table);
    expect([await reads(), await holds('posts.comment')]).toEqual([false, true]);
    expect(await mara.ok('getMyCapabilities')).toMatchObject({ grants: [], revokes: [] });
    await change('grantCapability', ending);
    expect(await reads()).toBe(true);
  });
});

// audit/acts.test.ts proves that each is audited.
test('the sweeper removes expired ones only', async () => {
  const expiring = { capability: 'jobs.read', expires_at: inAnHour() } as const;
  await change('grantCapability', expiring);
  await change('grantCapability', { ...expiring, team_id: team });
  await change('revokeCapability', { ...expiring, capability: 'posts.comment' });
  for (const { table } of kinds) await letRunOut(table);
  await change('grantCapability', { capability: 'caps.read', expires_at: inAnHour() });
  await change('grantCapability', { capability: 'roles.read' });
  await change('revokeCapability', { capability: 'posts.create' });
  expect([await expire(library.deps.db), await expire(library.deps.db)]).toEqual([3, 0]);
  const { grants, revokes } = await mara.ok('getMyCapabilities');
  expect(grants.map(({ capability }) => capability).sort()).toEqual(['caps.read', 'roles.read']);
  expect(revokes.map(({ capability }) => capability)).toEqual(['posts.create']);
});
