import { sql } from 'kysely';
import { refreshTeamAudience } from '../../access/mirrored-audience.ts';
import { ownTeam } from '../../access/teams.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { recordEvent } from '../audit/record.ts';
import type { RedirectProvider } from '../identity/provider-registry.ts';
import { hasAdministrator } from '../roles/last-administrator.ts';

type Mapped = Pick<RedirectProvider, 'name' | 'settings'>;

/** Returns the code of the role for these groups: of the first mapping that applies, else the default (SSO-30). */
export function mappedRole({ settings }: Mapped, groups: readonly string[]): string {
  const found = settings.role_mapping.find(({ group }) => groups.includes(group));
  return found?.role ?? settings.default_role;
}

/** Returns the ids of the teams for these groups, whether or not they still exist. */
export function mappedTeams({ settings }: Mapped, groups: readonly string[]): string[] {
  const found = settings.team_mapping.filter(({ group }) => groups.includes(group));
  return [...new Set(found.map(({ team_id }) => team_id))];
}

interface Assigned {
  role_id: string;
  role_provider: string | null;
}

async function setRole(tx: Tx, userRef: number, { role_id, role_provider }: Assigned): Promise<void> {
  // A trigger keeps the provider only if the role was nobody's before (migration 0300).
  await tx.updateTable('users').set({ role_provider: null }).where('ref', '=', userRef).execute();
  await tx
    .updateTable('users')
    .set({ role_id, role_provider, updated_at: sql`now()` })
    .where('ref', '=', userRef)
    .execute();
}

/** SSO-30, SSO-32. A role that a person gave is never changed. */
async function applyRole(
  tx: Tx,
  provider: Mapped,
  userRef: number,
  { groups, keepsAdministrator }: { groups: readonly string[]; keepsAdministrator: boolean },
): Promise<void> {
  const code = mappedRole(provider, groups);
  const before = await tx
    .selectFrom('users')
    .select(['role_id', 'role_provider'])
    .where('ref', '=', userRef)
    .executeTakeFirstOrThrow();
  const role = await tx.selectFrom('roles').select('id').where('code', '=', code).executeTakeFirst();
  // A role that was deleted since changes nothing.
  if (before.role_provider !== provider.name || role === undefined || role.id === before.role_id) return;
  await setRole(tx, userRef, { role_id: role.id, role_provider: provider.name });
  const isKept = !keepsAdministrator || (await hasAdministrator(tx));
  if (!isKept) await setRole(tx, userRef, before);
  await recordEvent(tx, null, {
    event: isKept ? 'user.role.changed' : 'provider.last_admin_kept',
    subjectUserRef: userRef,
    metadata: { role: code, provider: provider.name },
  });
}

/** SSO-31. Ends only memberships that this provider gave. */
async function applyTeams(
  tx: Tx,
  provider: Mapped,
  userRef: number,
  groups: readonly string[],
): Promise<void> {
  const wanted = mappedTeams(provider, groups);
  const { rows: added } = await sql<{ id: string }>`
    insert into team_members (team_id, user_ref, provider)
    select t.id, ${userRef}, ${provider.name} from teams t where t.id = any(${wanted}::uuid[]) and ${ownTeam}
    on conflict do nothing returning team_id as id`.execute(tx);
  const removed = await tx
    .deleteFrom('team_members')
    .where('user_ref', '=', userRef)
    .where('provider', '=', provider.name)
    .$if(wanted.length > 0, (query) => query.where('team_id', 'not in', wanted))
    .returning('team_id as id')
    .execute();
  for (const [event, teams] of [
    ['team.member.added', added],
    ['team.member.removed', removed],
  ] as const) {
    for (const { id } of teams) {
      await refreshTeamAudience(tx, id);
      await recordEvent(tx, null, {
        event,
        subjectUserRef: userRef,
        target: { kind: 'team', id },
        metadata: { provider: provider.name },
      });
    }
  }
}

/** SCIM-21: the groups that the last sign-in named, and those in which the directory has the account. */
async function groupsOf(tx: Tx, { name }: Mapped, userRef: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct unnest(i.groups) as name from user_identities i
    where i.user_ref = ${userRef} and i.provider = ${name}
    union select g.display_name from scim_members m join scim_groups g on g.id = m.group_id
    where m.user_ref = ${userRef} and g.provider = ${name}`.execute(tx);
  return rows.map((row) => row.name);
}

/**
 * Gives an account the role and the teams of its groups. The transaction holds the lock `administrators`.
 * With `keepsAdministrator`, the last administrator keeps the role; otherwise the caller checks that one remains.
 */
export async function applyMapping(
  tx: Tx,
  provider: Mapped,
  userRef: number,
  { keepsAdministrator }: { keepsAdministrator: boolean },
): Promise<void> {
  const groups = await groupsOf(tx, provider, userRef);
  await applyRole(tx, provider, userRef, { groups, keepsAdministrator });
  await applyTeams(tx, provider, userRef, groups);
}
