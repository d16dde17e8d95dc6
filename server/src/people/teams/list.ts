import { getTeam, listFollowedTeams, listMyTeams, listTeams } from '@vitrine/contract/teams';
import { sql } from 'kysely';
import { liveTeam, shownTeams } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { containsPattern } from '../../platform/database/like.ts';
import { nameCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { showTeams } from './show.ts';

/** HTTP-9: the limit of a plain array. */
const MOST = 200;

const byName = sql`order by lower(t.name), t.id`;

export const list = handle(listTeams, async ({ db }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const key = nameCursor.read(query.cursor);
  const q = query.q?.trim() ?? '';
  const pattern = containsPattern(q);
  const conditions = [
    shownTeams(caller),
    key === null
      ? sql<boolean>`true`
      : sql<boolean>`(lower(t.name), t.id) > (lower(${key.name}), ${key.id}::uuid)`,
    q === '' ? sql<boolean>`true` : sql<boolean>`(t.name ilike ${pattern} or t.slug ilike ${pattern})`,
  ];
  const rest = sql`${byName} limit ${limit + 1}`;
  const rows = await showTeams(db, sql`${sql.join(conditions, sql` and `)}`, { rest, withCounts: true });
  return { status: 200, body: cutPage(rows, limit, (last) => nameCursor.after(last)) };
});

export const get = handle(getTeam, async ({ db }, { caller, params }) => {
  const [team] = await showTeams(db, sql`t.id = ${params.id} and ${shownTeams(caller)}`);
  if (team === undefined) throw notFound();
  return { status: 200, body: team };
});

export const mine = handle(listMyTeams, async ({ db }, { caller }) => ({
  status: 200,
  body: await showTeams(
    db,
    sql`${liveTeam} and exists (select from team_members m where m.team_id = t.id and m.user_ref = ${caller.ref})`,
    { rest: sql`${byName} limit ${MOST}` },
  ),
}));

/** TEAM-10: lists the followed teams by name, without closed ones. Following is not membership. */
export const followed = handle(listFollowedTeams, async ({ db }, { caller }) => ({
  status: 200,
  body: await showTeams(
    db,
    sql`${shownTeams(caller)} and exists (select from team_follows f where f.team_id = t.id and f.user_ref = ${caller.ref})`,
    { rest: sql`${byName} limit ${MOST}` },
  ),
}));
