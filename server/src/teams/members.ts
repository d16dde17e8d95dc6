import type { PostAuthor } from '@vitrine/contract/identity';
import { addTeamMember, listTeamMembers, removeTeamMember } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import { identityJson } from '../access/identities.ts';
import { liveTeam } from '../access/teams.ts';
import { recordEvent } from '../audit/record.ts';
import { handle } from '../platform/http/bind.ts';
import { readRefCursor, refCursorAfter } from '../platform/http/cursor.ts';
import { notFound, refuse } from '../platform/http/refuse.ts';
import { lockTeam } from './write.ts';

/** choices, lists: the default page. */
const DEFAULT_LIMIT = 50;

interface Row {
  user_ref: number;
  user: PostAuthor | null;
  joined_at: string;
}

export const list = handle(listTeamMembers, async ({ db }, { caller, params, query }) => {
  const { rows: teams } = await sql`select from teams t where t.id = ${params.id} and ${liveTeam}`.execute(
    db,
  );
  if (teams.length === 0) throw notFound();
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = readRefCursor(query.cursor) ?? 0;
  const { rows } = await sql<Row>`
    select m.user_ref, ${identityJson(caller, 'u')} as user, m.created_at as joined_at
    from team_members m left join users u on u.ref = m.user_ref
    where m.team_id = ${params.id} and m.user_ref > ${after} order by m.user_ref limit ${limit + 1}`.execute(
    db,
  );
  const items = rows
    .slice(0, limit)
    .map(({ user, ...member }) => (user === null ? member : { ...member, user }));
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { status: 200, body: { items, next_cursor: more ? refCursorAfter(last.user_ref) : null } };
});

/** Being a member twice is being one. */
export const add = handle(addTeamMember, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    await lockTeam(tx, caller, params.id);
    const user = await tx
      .selectFrom('users')
      .select('ref')
      .where('ref', '=', params.user_ref)
      .executeTakeFirst();
    if (user === undefined) throw refuse(404, 'user not found');
    const inserted = await tx
      .insertInto('team_members')
      .values({ team_id: params.id, user_ref: user.ref })
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_ref')
      .execute();
    if (inserted.length === 0) return;
    await recordEvent(tx, caller, {
      event: 'team.member.added',
      subjectUserRef: user.ref,
      target: { kind: 'team', id: params.id },
    });
  });
  return { status: 204 };
});

export const remove = handle(removeTeamMember, async ({ db }, { caller, params }) => {
  await db.transaction().execute(async (tx) => {
    // Whoever is a member may leave; anybody else needs the right to change the team.
    if (params.user_ref !== caller.ref) await lockTeam(tx, caller, params.id);
    const { numDeletedRows } = await tx
      .deleteFrom('team_members')
      .where('team_id', '=', params.id)
      .where('user_ref', '=', params.user_ref)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordEvent(tx, caller, {
      event: 'team.member.removed',
      subjectUserRef: params.user_ref,
      target: { kind: 'team', id: params.id },
    });
  });
  return { status: 204 };
});
