import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { holdersOf, loadCapabilities } from '../../src/access/capabilities.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { grant, revoke, setStatus } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const people: Account[] = [];

const library = await openLibrary();
const { db } = library.deps;
const enter = async (name: string, role: 'admin' | 'member' = 'member') => {
  const account = await library.join(name, role);
  people.push(account);
  return account;
};
const expires = (table: 'user_capability_grants' | 'user_capability_revokes', account: Account) =>
  db
    .updateTable(table)
    .set({ expires_at: '2026-01-01T00:00:00Z' })
    .where('user_ref', '=', account.ref)
    .execute();
const team = await addTeam(library, 'crew');
await enter('admin', 'admin');
await enter('member');
await grant(library, await enter('granted'), 'share.grant');
await grant(library, await enter('granted system'), 'system.admin');
await grant(library, await enter('in a team'), 'share.grant', team);
const ran = await enter('ran out');
await grant(library, ran, 'share.grant');
await expires('user_capability_grants', ran);
const taken = await enter('granted and revoked');
await grant(library, taken, 'share.grant');
await revoke(library, taken, 'share.grant');
const revokeRan = await enter('revoke ran out');
await grant(library, revokeRan, 'share.grant');
await revoke(library, revokeRan, 'share.grant');
await expires('user_capability_revokes', revokeRan);
const inTeam = await enter('revoked in a team');
await grant(library, inTeam, 'share.grant');
await revoke(library, inTeam, 'share.grant', team);
await revoke(library, await enter('admin without share.grant', 'admin'), 'share.grant');
await revoke(library, await enter('admin without system.admin', 'admin'), 'system.admin');
const neither = await enter('admin without either', 'admin');
await revoke(library, neither, 'system.admin');
await revoke(library, neither, 'share.grant');
const [parent, child] = [randomUUID(), randomUUID()];
await sql`insert into roles (id, code, label, parent_id)
    values (${parent}, 'sharers', 'Sharers', null), (${child}, 'juniors', 'Juniors', ${parent})`.execute(db);
await db.insertInto('role_capabilities').values({ role_id: parent, capability: 'share.grant' }).execute();
const junior = await enter('by the role above');
await db.updateTable('users').set({ role_id: child }).where('ref', '=', junior.ref).execute();

test.each(['share.grant', 'system.admin'] as const)(
  '%s: the listed deciders are exactly the active accounts with the capability',
  async (capability) => {
    const holders = new Set(await holdersOf(db, capability));
    const found: string[] = [];
    const held: string[] = [];
    for (const { ref, username } of people) {
      const { everywhere } = await loadCapabilities(db, ref);
      if (everywhere.has(capability) || everywhere.has('system.admin')) held.push(username);
      if (holders.has(ref)) found.push(username);
    }
    expect(found).toEqual(held);
    expect(found).toContain('granted system');
    expect(found).not.toContain('in a team');
    expect(found.includes('by the role above')).toBe(capability === 'share.grant');
  },
);

test('an inactive account is not notified of requests', async () => {
  const [admin] = people;
  if (admin === undefined) throw new Error('nobody');
  expect(await holdersOf(db, 'share.grant')).toContain(admin.ref);
  await setStatus(library, admin, 'disabled');
  expect(await holdersOf(db, 'share.grant')).not.toContain(admin.ref);
});
