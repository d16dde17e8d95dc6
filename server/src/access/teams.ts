import { type RawBuilder, sql } from 'kysely';
import { intact, liveAsset, shownAssets } from './assets.ts';
import { type Caller, holds, teamsWith } from './caller.ts';
import { live } from './live.ts';
import { readablePosts } from './posts.ts';

/** `teams.read` sees all teams; these predicates are about changing them. Alias `t`. */
type Predicate = RawBuilder<boolean>;

export const liveTeam: Predicate = live('t');

/** Teams of this library. Teams of peers are changed only there, and have no members here (FED-64). */
export const ownTeam: Predicate = sql`(${liveTeam} and t.origin_server_id is null)`;

/** Teams that the caller may know of: those of peers only through something of theirs that the caller is shown (FED-64). */
export function shownTeams(caller: Caller): Predicate {
  return sql`(${liveTeam} and (t.origin_server_id is null
    or exists (select from posts p where p.team_id = t.id and ${readablePosts(caller)})
    or exists (select from assets a where a.team_id = t.id and ${shownAssets(caller)})))`;
}

/** Teams the caller may change: any for `teams.write`, otherwise those in which they hold it, with all below them. */
export function writableTeams(caller: Caller): Predicate {
  if (holds(caller, 'teams.write')) return ownTeam;
  const teams = teamsWith(caller, 'teams.write');
  return teams.length === 0 ? sql`false` : sql`(${ownTeam} and t.id = any(${teams}::uuid[]))`;
}

/** TEAM-7: assets `a` that may be the picture of a team `t`: public, owned by the team, not deleted. */
export const choosableHero: Predicate = sql`(a.team_id = t.id and ${liveAsset} and a.sensitivity = 'public'
  and not a.mature)`;

/**
 * TEAM-8: the picture of a team, evaluated on every read: still eligible and rendered. Refers to `assets a` and `files
 * f` for a team `t`.
 */
export const admissibleHero: Predicate = sql`(a.id = t.hero_asset_id and ${choosableHero}
  and a.status = 'active' and ${intact} and f.renditions ? 'col')`;
