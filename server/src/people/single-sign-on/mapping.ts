import { sql } from 'kysely';
import { refreshTeamAudience } from '../../access/mirrored-audience.ts';
import { ownTeam } from '../../access/teams.ts';
import type { Columns, Tx } from '../../platform/database/pool.ts';
import { recordEvents } from '../audit/record.ts';
import type { RedirectProvider } from '../identity/provider-registry.ts';
import { announceAll } from '../notifications/announce.ts';
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

interface Assigned extends Columns<'users', 'ref' | 'role_id' | 'role_provider'> {}

/** SCIM-21: an account, and the groups that its last sign-in named or in which the directory has it. */
interface Member extends Assigned {
  groups: string[];
}

async function readMembers(tx: Tx, { name }: Mapped, userRefs: readonly number[]): Promise<Member[]> {
  const { rows } = await sql<Member>`
    select u.ref, u.role_id, u.role_provider, array(
      select unnest(i.groups) from user_identities i where i.user_ref = u.ref and i.provider = ${name}
      union select g.display_name from scim_members m join scim_groups g on g.id = m.group_id
      where m.user_ref = u.ref and g.provider = ${name}) as groups
    from users u where u.ref = any(${[...userRefs]}::bigint[]) order by u.ref`.execute(tx);
  return rows;
}

async function setRoles(tx: Tx, assigned: readonly Assigned[]): Promise<void> {
  const json = JSON.stringify(assigned);
  // A trigger keeps the provider only if the role was nobody's before (migration 0300).
  await sql`update users u set role_provider = null
    from jsonb_to_recordset(${json}::jsonb) as a (ref bigint) where u.ref = a.ref`.execute(tx);
  await sql`update users u set role_id = a.role_id, role_provider = a.role_provider, updated_at = now()
    from jsonb_to_recordset(${json}::jsonb) as a (ref bigint, role_id uuid, role_provider text)
    where u.ref = a.ref`.execute(tx);
}

/** SSO-30, SSO-32. A role that a person gave is never changed. */
async function applyRoles(
  tx: Tx,
  provider: Mapped,
  members: readonly Member[],
  keepsAdministrator: boolean,
): Promise<void> {
  const codes = new Map(members.map(({ ref, groups }) => [ref, mappedRole(provider, groups)]));
  const { rows } = await sql<Columns<'roles', 'id' | 'code'>>`
    select id, code from roles where code = any(${[...new Set(codes.values())]}::text[])`.execute(tx);
  const idOf = new Map(rows.map(({ id, code }) => [code, id]));
  // A role that was deleted since changes nothing.
  const changed = members.flatMap((before) => {
    const role_id = idOf.get(codes.get(before.ref) ?? '');
    const isSame = role_id === undefined || role_id === before.role_id;
    return before.role_provider !== provider.name || isSame ? [] : [{ before, role_id }];
  });
  if (changed.length === 0) return;
  await setRoles(
    tx,
    changed.map(({ before: { ref }, role_id }) => ({ ref, role_id, role_provider: provider.name })),
  );
  const isKept = !keepsAdministrator || (await hasAdministrator(tx));
  if (!isKept)
    await setRoles(
      tx,
      changed.map(({ before: { ref, role_id, role_provider } }) => ({ ref, role_id, role_provider })),
    );
  const events = changed.map(({ before: { ref } }) => ({
    event: isKept ? 'user.role.changed' : 'provider.last_admin_kept',
    subjectUserRef: ref,
    metadata: { role: codes.get(ref), provider: provider.name },
  }));
  await recordEvents(tx, null, events);
}

interface MembershipRow extends Columns<'team_members', 'team_id' | 'user_ref'> {}
type AddedRow = MembershipRow & Columns<'team_members', 'created_at'>;

/**
 * A directory may fill a team with thousands at once. If everyone were notified of each, that would be millions of
 * notifications, so that beyond this number only the new members are notified (NOTICE-18).
 */
const FEW_MEMBERS = 20;

/** Notifies teams of the members who were added (TEAM-9). */
async function announceMembers(tx: Tx, added: readonly AddedRow[]): Promise<void> {
  const sizes = new Map<string, number>();
  for (const { team_id } of added) sizes.set(team_id, (sizes.get(team_id) ?? 0) + 1);
  const events = added.map(({ team_id: team, user_ref: member, created_at: at }) => ({
    what: 'member' as const,
    team,
    member,
    actor: null,
    at,
    joinedWithMany: (sizes.get(team) ?? 0) > FEW_MEMBERS,
  }));
  await announceAll(tx, events);
}

/** SSO-31. Ends only memberships that this provider gave. */
async function applyTeams(tx: Tx, provider: Mapped, members: readonly Member[]): Promise<void> {
  const { name } = provider;
  const wanted = members.flatMap(({ ref, groups }) =>
    mappedTeams(provider, groups).map((team_id) => ({ team_id, user_ref: ref })),
  );
  const refs = members.map(({ ref }) => ref);
  const json = JSON.stringify(wanted);
  const added = await sql<AddedRow>`
    insert into team_members (team_id, user_ref, provider)
    select t.id, w.user_ref, ${name} from jsonb_to_recordset(${json}::jsonb) as w (team_id uuid, user_ref bigint)
      join teams t on t.id = w.team_id where ${ownTeam}
    on conflict do nothing returning team_id, user_ref, created_at`.execute(tx);
  const removed = await sql<MembershipRow>`
    delete from team_members m where m.user_ref = any(${refs}::bigint[]) and m.provider = ${name}
      and not exists (select from jsonb_to_recordset(${json}::jsonb) as w (team_id uuid, user_ref bigint)
        where w.team_id = m.team_id and w.user_ref = m.user_ref)
    returning m.team_id, m.user_ref`.execute(tx);
  const moved = [...added.rows, ...removed.rows];
  for (const team of new Set(moved.map(({ team_id }) => team_id))) await refreshTeamAudience(tx, team);
  const events = moved.map(({ team_id, user_ref }, at) => ({
    event: at < added.rows.length ? 'team.member.added' : 'team.member.removed',
    subjectUserRef: user_ref,
    target: { kind: 'team' as const, id: team_id },
    metadata: { provider: name },
  }));
  await recordEvents(tx, null, events);
  await announceMembers(tx, added.rows);
}

/**
 * Gives accounts the roles and the teams of their groups; the number of statements does not depend on that of the accounts.
 * The transaction holds the lock `administrators`. With `keepsAdministrator`, nobody's role changes if that would leave no
 * administrator; otherwise the caller checks that one remains.
 */
export async function applyMapping(
  tx: Tx,
  provider: Mapped,
  userRefs: readonly number[],
  { keepsAdministrator }: { keepsAdministrator: boolean },
): Promise<void> {
  const members = await readMembers(tx, provider, userRefs);
  await applyRoles(tx, provider, members, keepsAdministrator);
  await applyTeams(tx, provider, members);
}
