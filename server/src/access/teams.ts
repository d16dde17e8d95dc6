import { type RawBuilder, sql } from 'kysely';
import { type Caller, holds, teamsWith } from './caller.ts';

/** Teams are for everybody with `teams.read` to see; these are about changing them. Alias `t`. */
type Predicate = RawBuilder<boolean>;

export const liveTeam: Predicate = sql`(t.deleted_at is null)`;

/** Teams the caller may change: any for `teams.write`, else those it was given for, with all below them. */
export function writableTeams(caller: Caller): Predicate {
  if (holds(caller, 'teams.write')) return liveTeam;
  const teams = teamsWith(caller, 'teams.write');
  return teams.length === 0 ? sql`false` : sql`(t.deleted_at is null and t.id = any(${teams}::uuid[]))`;
}

/**
 * spec 2.9: the asset that stands for a team, derived anew on every read: public, owned by the team, not deleted,
 * and rendered. Speaks of `assets a` and `files f` for a team `t`.
 */
export const admissibleHero: Predicate = sql`(a.id = t.hero_asset_id and a.team_id = t.id and a.deleted_at is null
  and a.status = 'active' and a.processing_status in ('ready', 'pending') and a.sensitivity = 'public' and not a.mature and f.renditions ? 'col')`;
