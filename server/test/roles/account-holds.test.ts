import type { Capability } from '@vitrine/contract/capabilities';
import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { accountHolds, loadCapabilitiesOf } from '../../src/access/capabilities.ts';
import { openLibrary } from '../support/library.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary();
const { db } = library.deps;
const above = await addTeam(library, 'above');
const team = await addTeam(library, 'team');
const elsewhere = await addTeam(library, 'elsewhere');
await db.insertInto('team_parents').values({ team_id: team, parent_id: above }).execute();

/** Where a grant or a revoke counts, if there is one. */
const places: Record<string, { team_id: string | null; expires_at?: RawBuilder<string> } | undefined> = {
  none: undefined,
  everywhere: { team_id: null },
  'in the team': { team_id: team },
  'in the team above': { team_id: above },
  'in another team': { team_id: elsewhere },
  'until yesterday': { team_id: null, expires_at: sql`now() - interval '1 day'` },
};

// ROLE-6, TEAM-16, FED-58
test.each<Capability>(['assets.admin', 'system.admin', 'jobs.read'])(
  'one statement about many accounts agrees with the capabilities of each about %s',
  async (capability) => {
    const names = new Map<number, string>();
    for (const role of ['member', 'admin'])
      for (const membership of ['none', 'member', 'lead'] as const)
        for (const [granted, grant] of Object.entries(places))
          for (const [revoked, revoke] of Object.entries(places)) {
            const name = `${role}, ${membership}, granted ${granted}, revoked ${revoked}`;
            const { ref } = await db
              .insertInto('users')
              .values({
                username: `${capability} ${names.size}`,
                role_id: sql<string>`(select id from roles where code = ${role})`,
              })
              .returning('ref')
              .executeTakeFirstOrThrow();
            names.set(ref, name);
            const held = { user_ref: ref, capability };
            if (membership !== 'none')
              await db
                .insertInto('team_members')
                .values({ team_id: team, user_ref: ref, role: membership })
                .execute();
            if (grant !== undefined)
              await db
                .insertInto('user_capability_grants')
                .values({ ...held, ...grant })
                .execute();
            if (revoke !== undefined)
              await db
                .insertInto('user_capability_revokes')
                .values({ ...held, ...revoke })
                .execute();
          }
    const refs = [...names.keys()];
    const { rows } = await sql<{ ref: number; holds: boolean }>`
      select u.ref, ${accountHolds(sql`u.ref`, capability, sql`${team}::uuid`)} as holds
      from users u where u.ref = any(${refs}::bigint[])`.execute(db);
    const learned = await loadCapabilitiesOf(db, refs);
    const holding = (ref: number) => {
      const { everywhere, inTeams } = learned.get(ref) ?? { everywhere: new Set(), inTeams: new Map() };
      const isHeld = everywhere.has('system.admin') || everywhere.has(capability);
      return isHeld || inTeams.get(capability)?.includes(team) === true;
    };
    expect(rows.map(({ ref, holds }) => [names.get(ref), holds])).toEqual(
      rows.map(({ ref }) => [names.get(ref), holding(ref)]),
    );
    expect(rows.some(({ holds }) => holds) && rows.some(({ holds }) => !holds)).toBe(true);
  },
);
