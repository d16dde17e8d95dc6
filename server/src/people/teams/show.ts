import type { Origin } from '@vitrine/contract/federation';
import type { Team } from '@vitrine/contract/teams';
import { type RawBuilder, sql } from 'kysely';
import { liveAsset, renderedHash } from '../../access/assets.ts';
import { originAt } from '../../access/identities.ts';
import { live } from '../../access/live.ts';
import { admissibleHero } from '../../access/teams.ts';
import type { Database } from '../../platform/database/pool.ts';

interface TeamRow extends Omit<Team, 'hero_asset_id' | 'origin' | 'member_count' | 'content_count'> {
  hero_asset_id: string | null;
  origin: Origin | null;
  member_count?: number;
  content_count?: number;
}

/** TEAM-6: lists include counts: direct members, and live assets regardless of the caller's access. */
const counts = sql`,
  (select count(*) from team_members m where m.team_id = t.id) as member_count,
  (select count(*) from assets a where a.team_id = t.id and ${liveAsset}) as content_count`;

function show({ hero_asset_id, origin, ...team }: TeamRow): Team {
  return {
    ...team,
    ...(hero_asset_id === null ? {} : { hero_asset_id }),
    ...(origin === null ? {} : { origin }),
  };
}

/** Returns teams `t` that meet a condition, in one statement; `withCounts` for the list only. */
export async function showTeams(
  db: Database,
  which: RawBuilder<boolean>,
  { rest = sql``, withCounts = false }: { rest?: RawBuilder<unknown>; withCounts?: boolean } = {},
): Promise<Team[]> {
  const { rows } = await sql<TeamRow>`
    select t.id, t.slug, t.name, t.description, t.origin_server_id,
      ${originAt(sql`t.origin_server_id`, sql`null`)} as origin,
      (select a.id from assets a join files f on f.hash = ${renderedHash} where ${admissibleHero}) as hero_asset_id,
      coalesce((select json_agg(json_build_object('parent_id', p.id, 'parent_slug', p.slug, 'parent_name', p.name)
          order by p.name, p.id)
        from team_parents tp join teams p on p.id = tp.parent_id and ${live('p')}
        where tp.team_id = t.id), '[]') as parents,
      t.created_at, t.updated_at ${withCounts ? counts : sql``}
    from teams t where ${which} ${rest}`.execute(db);
  return rows.map(show);
}
