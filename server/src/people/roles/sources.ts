import type { CapabilitySource } from '@vitrine/contract/roles';
import { sql } from 'kysely';
import { leadRights } from '../../access/caller.ts';
import { confers } from '../../access/capabilities.ts';
import { unexpired } from '../../access/live.ts';
import type { Database } from '../../platform/database/pool.ts';

interface SourceRow {
  capability: string;
  source: 'role' | 'grant' | 'team_role' | 'revoke';
  role: string | null;
  team_id: string | null;
  expires_at: string | null;
}

/** ROLE-24: returns what gives and takes the capabilities of an account, by capability. */
export async function sourcesOf(db: Database, userRef: number): Promise<CapabilitySource[]> {
  const { rows } = await sql<SourceRow>`
    with recursive chain (role_id) as (
      select role_id from users where ref = ${userRef}
      union
      select r.parent_id from roles r join chain c on r.id = c.role_id where r.parent_id is not null
    )
    select rc.capability, 'role' as source, r.code as role, null::uuid as team_id, null::timestamptz as expires_at
      from chain c join roles r on r.id = c.role_id join role_capabilities rc on rc.role_id = r.id
    union all
    select g.capability, 'grant', null, g.team_id, g.expires_at from user_capability_grants g
      where g.user_ref = ${userRef} and ${unexpired('g')}
        and ${confers(sql`g.capability`)}
    union all
    select l.capability, 'team_role', null, tm.team_id, null from team_members tm
      cross join unnest(${leadRights}::text[]) l (capability)
      where tm.user_ref = ${userRef} and tm.role = 'lead'
    union all
    select r.capability, 'revoke', null, r.team_id, r.expires_at from user_capability_revokes r
      where r.user_ref = ${userRef} and ${unexpired('r')}
    order by capability, source desc, role, team_id`.execute(db);
  return rows.map(({ capability, source, role, team_id, expires_at }) => ({
    capability,
    source,
    ...(role === null ? {} : { role }),
    ...(team_id === null ? {} : { team_id }),
    ...(expires_at === null ? {} : { expires_at }),
  }));
}
