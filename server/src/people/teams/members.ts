import type { PostAuthor } from '@vitrine/contract/identity';
import { addTeamMember, listTeamMembers, removeTeamMember, type TeamRole } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import { checkUser } from '../../access/known-accounts.ts';
import { refreshTeamAudience } from '../../access/mirrored-audience.ts';
import { checkMayAddMember, checkMayGiveRole, shownTeams } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { enqueueAll } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvents } from '../audit/record.ts';
import { lockTeam } from './write.ts';

interface MemberRow {
  user_ref: number;
  user: PostAuthor | null;
  role: TeamRole;
  joined_at: string;
}

export const list = handle(listTeamMembers, async ({ db }, { caller, params, query }) => {
  const teams = await db
    .selectFrom('teams as t')
    .where('t.id', '=', params.id)
    .where(shownTeams(caller))
    .execute();
  if (teams.length === 0) throw notFound();
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = refCursor.read(query.cursor)?.ref ?? 0;
  const { rows } = await sql<MemberRow>`
    select m.user_ref, ${identityJson(caller, 'u')} as user, m.role, m.created_at as joined_at
    from team_members m left join users u on u.ref = m.user_ref
    where m.team_id = ${params.id} and m.user_ref > ${after} order by m.user_ref limit ${limit + 1}`.execute(
    db,
  );
  const shown = rows.map(({ user, ...member }) => (user === null ? member : { ...member, user }));
  return { status: 200, body: cutPage(shown, limit, (last) => refCursor.after({ ref: last.user_ref })) };
});

/** A team, and accounts that join it or change their role in it. */
interface Joining {
  readonly team: string;
  readonly refs: readonly number[];
  readonly role: TeamRole;
}

/** Records the same event of several members. */
async function recordOfMembers(
  tx: Tx,
  caller: SignedIn,
  event: 'added' | 'removed' | 'role.changed',
  { team, refs, role }: Pick<Joining, 'team' | 'refs'> & { role?: TeamRole },
): Promise<void> {
  const events = refs.map((ref) => ({
    event: `team.member.${event}`,
    subjectUserRef: ref,
    target: { kind: 'team' as const, id: team },
    ...(role === undefined ? {} : { metadata: { role } }),
  }));
  await recordEvents(tx, caller, events);
}

/**
 * Adds accounts to a team that is locked, and returns those that were not members. The members are notified, since the new
 * ones read what they share with the team (TEAM-9).
 */
export async function addMembers(tx: Tx, caller: SignedIn, { team, refs, role }: Joining): Promise<number[]> {
  const { rows } = await sql<{ user_ref: number; created_at: string }>`
    insert into team_members (team_id, user_ref, role)
    select ${team}, ref, ${role} from unnest(${[...refs]}::bigint[]) ref on conflict do nothing
    returning user_ref, created_at`.execute(tx);
  const added = rows.map(({ user_ref }) => user_ref);
  if (added.length === 0) return [];
  await refreshTeamAudience(tx, team);
  await recordOfMembers(tx, caller, 'added', { team, refs: added, role });
  const jobs = rows.map(({ user_ref: member, created_at: at }) => ({
    payload: { what: 'member' as const, actor: caller.ref, team, member, at },
    key: `announce:member:${team}:${member}:${at}`,
  }));
  await enqueueAll(tx, 'announce', jobs);
  return added;
}

/**
 * Makes memberships ones that a person gave, so that no provider ends them, even if one gave them first (SSO-31). With
 * `provider` they belong to that provider again. Changes the role if one is given (TEAM-16).
 */
export async function keepMembers(
  tx: Tx,
  caller: SignedIn,
  {
    team,
    refs,
    role,
    provider = null,
  }: Omit<Joining, 'role'> & { role: TeamRole | null; provider?: string | null },
): Promise<void> {
  const members = sql`team_id = ${team} and user_ref = any(${[...refs]}::bigint[])`;
  await sql`update team_members set provider = ${provider} where ${members}
    and provider is distinct from ${provider}`.execute(tx);
  if (role === null) return;
  const { rows } = await sql<{ user_ref: number }>`update team_members set role = ${role}
    where ${members} and role <> ${role} returning user_ref`.execute(tx);
  const changed = rows.map(({ user_ref }) => user_ref);
  await recordOfMembers(tx, caller, 'role.changed', { team, refs: changed, role });
}

/** Removes accounts from a team that is locked, and returns those that were members. */
export async function removeMembers(
  tx: Tx,
  caller: SignedIn,
  { team, refs }: Pick<Joining, 'team' | 'refs'>,
): Promise<number[]> {
  const { rows } = await sql<{ user_ref: number }>`delete from team_members
    where team_id = ${team} and user_ref = any(${[...refs]}::bigint[]) returning user_ref`.execute(tx);
  const removed = rows.map(({ user_ref }) => user_ref);
  if (removed.length === 0) return [];
  await refreshTeamAudience(tx, team);
  await recordOfMembers(tx, caller, 'removed', { team, refs: removed });
  return removed;
}

/** Idempotent. */
export const add = handle(addTeamMember, async ({ db }, { caller, params, body }) => {
  const given = body?.role ?? null;
  const role = given ?? 'member';
  await db.transaction().execute(async (tx) => {
    await lockTeam(tx, caller, params.id);
    checkMayAddMember(caller, params.user_ref);
    await checkUser(tx, params.user_ref);
    checkMayGiveRole(caller, params.id, role);
    const joining = { team: params.id, refs: [params.user_ref] };
    const added = await addMembers(tx, caller, { ...joining, role });
    if (added.length === 0) await keepMembers(tx, caller, { ...joining, role: given });
  });
  return { status: 204 };
});

export const remove = handle(removeTeamMember, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    // Members may leave; removing others requires the right to change the team.
    if (params.user_ref !== caller.ref) await lockTeam(tx, caller, params.id);
    else await tx.selectFrom('teams').where('id', '=', params.id).forNoKeyUpdate().execute();
    const removed = await removeMembers(tx, caller, { team: params.id, refs: [params.user_ref] });
    if (removed.length === 0) throw notFound();
  });
  return { status: 204 };
});
