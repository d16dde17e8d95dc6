import type { Capability } from '@vitrine/contract/capabilities';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { accountHolds, loadCapabilitiesOf } from '../../src/access/capabilities.ts';
import { must } from '../access/cells.ts';
import { openLibrary } from '../support/library.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary();
const { db } = library.deps;
const above = await addTeam(library, 'above');
const team = await addTeam(library, 'team');
const elsewhere = await addTeam(library, 'elsewhere');
await db.insertInto('team_parents').values({ team_id: team, parent_id: above }).execute();

/** Where a grant or a revoke counts, if there is one. */
const places = [
  { where: 'nowhere', row: null },
  { where: 'everywhere', row: { team_id: null, expires_at: null } },
  { where: 'in the team', row: { team_id: team, expires_at: null } },
  { where: 'in the team above', row: { team_id: above, expires_at: null } },
  { where: 'in another team', row: { team_id: elsewhere, expires_at: null } },
  { where: 'until last year', row: { team_id: null, expires_at: '2025-01-01T00:00:00Z' } },
];

/** Every combination of a role, a membership of the team, a grant and a revoke. */
const states = ['member', 'admin'].flatMap((role) =>
  (['none', 'member', 'lead'] as const).flatMap((membership) =>
    places.flatMap((granted) => places.map((revoked) => ({ role, membership, granted, revoked }))),
  ),
);

/** Creates an account in each state. */
async function addAccounts(capability: Capability) {
  const made = await db
    .insertInto('users')
    .values(
      states.map(({ role }, nth) => ({
        username: `${capability} ${nth}`,
        role_id: sql<string>`(select id from roles where code = ${role})`,
      })),
    )
    .returning('ref')
    .execute();
  const accounts = states.map((state, nth) => ({ ...state, user_ref: must(made[nth], 'account').ref }));
  const members = accounts.flatMap(({ user_ref, membership }) =>
    membership === 'none' ? [] : [{ team_id: team, user_ref, role: membership }],
  );
  await db.insertInto('team_members').values(members).execute();
  const rowsOf = (kind: 'granted' | 'revoked') =>
    accounts.flatMap(({ user_ref, [kind]: { row } }) =>
      row === null ? [] : [{ user_ref, capability, ...row }],
    );
  await db.insertInto('user_capability_grants').values(rowsOf('granted')).execute();
  await db.insertInto('user_capability_revokes').values(rowsOf('revoked')).execute();
  return accounts;
}

// ROLE-6, TEAM-16, FED-58
test.each<Capability>(['assets.admin', 'system.admin', 'jobs.read'])(
  'the statement about many accounts agrees with what each account learns about %s',
  async (capability) => {
    const accounts = await addAccounts(capability);
    const refs = accounts.map(({ user_ref }) => user_ref);
    const { rows } = await sql<{ ref: number }>`select u.ref from users u where u.ref = any(${refs}::bigint[])
      and ${accountHolds(sql`u.ref`, capability, sql`${team}::uuid`)}`.execute(db);
    const holders = new Set(rows.map(({ ref }) => ref));
    const learned = await loadCapabilitiesOf(db, refs);
    const learns = (ref: number) => {
      const { everywhere, inTeams } = must(learned.get(ref), 'account');
      const isEverywhere = everywhere.has('system.admin') || everywhere.has(capability);
      return isEverywhere || inTeams.get(capability)?.includes(team) === true;
    };
    const named = (holds: (ref: number) => boolean) =>
      accounts
        .filter(({ user_ref }) => holds(user_ref))
        .map(
          ({ role, membership, granted, revoked }) =>
            `${role}, ${membership} of the team, granted ${granted.where}, revoked ${revoked.where}`,
        );
    expect(named((ref) => holders.has(ref))).toEqual(named(learns));
    expect(holders.size).toBeGreaterThan(20);
    expect(holders.size).toBeLessThan(states.length - 20);
  },
);
