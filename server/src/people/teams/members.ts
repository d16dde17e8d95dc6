import type { PostAuthor } from '@vitrine/contract/identity';
import { addTeamMember, listTeamMembers, removeTeamMember, type TeamRole } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { identityJson } from '../../access/identities.ts';
import { checkUser } from '../../access/known-accounts.ts';
import { refreshTeamAudience } from '../../access/mirrored-audience.ts';
import { checkMayAddMember, checkMayGiveRole, shownTeams } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { recordEvent } from '../audit/record.ts';
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

/**
 * Changes the role of a member if one is given (TEAM-16). SSO-31: a membership that a person gives is theirs to end, even if a
 * provider gave it first.
 */
async function changeMember(
  tx: Tx,
  caller: SignedIn,
  { id, user_ref }: { id: string; user_ref: number },
  given: TeamRole | null,
): Promise<void> {
  const member = tx.updateTable('team_members').where('team_id', '=', id).where('user_ref', '=', user_ref);
  await member.set({ provider: null }).execute();
  if (given === null) return;
  const { numUpdatedRows } = await member.set({ role: given }).where('role', '<>', given).executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  await recordEvent(tx, caller, {
    event: 'team.member.role.changed',
    subjectUserRef: user_ref,
    target: { kind: 'team', id },
    metadata: { role: given },
  });
}

/** Idempotent. The members are notified, since the new one reads what they share with the team (TEAM-9). */
export const add = handle(addTeamMember, async ({ db }, { caller, params, body }) => {
  const given = body?.role ?? null;
  await db.transaction().execute(async (tx) => {
    await lockTeam(tx, caller, params.id);
    checkMayAddMember(caller, params.user_ref);
    await checkUser(tx, params.user_ref);
    checkMayGiveRole(caller, params.id, given ?? 'member');
    const inserted = await tx
      .insertInto('team_members')
      .values({ team_id: params.id, user_ref: params.user_ref, role: given ?? 'member' })
      .onConflict((conflict) => conflict.doNothing())
      .returning('created_at')
      .executeTakeFirst();
    if (inserted === undefined) {
      await changeMember(tx, caller, params, given);
      return;
    }
    await refreshTeamAudience(tx, params.id);
    await recordEvent(tx, caller, {
      event: 'team.member.added',
      subjectUserRef: params.user_ref,
      target: { kind: 'team', id: params.id },
      metadata: { role: given ?? 'member' },
    });
    const joined = { team: params.id, member: params.user_ref, at: inserted.created_at };
    await enqueue(
      tx,
      'announce',
      { what: 'member', actor: caller.ref, ...joined },
      { key: `announce:member:${Object.values(joined).join(':')}` },
    );
  });
  return { status: 204 };
});

export const remove = handle(removeTeamMember, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    // Members may leave; removing others requires the right to change the team.
    if (params.user_ref !== caller.ref) await lockTeam(tx, caller, params.id);
    else await tx.selectFrom('teams').where('id', '=', params.id).forNoKeyUpdate().execute();
    const { numDeletedRows } = await tx
      .deleteFrom('team_members')
      .where('team_id', '=', params.id)
      .where('user_ref', '=', params.user_ref)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await refreshTeamAudience(tx, params.id);
    await recordEvent(tx, caller, {
      event: 'team.member.removed',
      subjectUserRef: params.user_ref,
      target: { kind: 'team', id: params.id },
    });
  });
  return { status: 204 };
});
