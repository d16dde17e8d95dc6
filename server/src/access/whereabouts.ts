import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { openToVisitors } from './assets.ts';
import { type Caller, holds, type SignedIn, teamsWith } from './caller.ts';

/**
 * Where to begin for callers who are given almost nothing of what there is: conditions that indexes answer and that
 * hold for every row the caller may be given. They save time and decide nothing: the rule is still applied to each row.
 */
type Predicate = RawBuilder<boolean>;

/** Teams through which the caller may be given something: as a member, or by what they hold there or below. */
function teamsOf(ref: number, held: readonly string[], above: readonly string[]): RawBuilder<unknown> {
  const more = [
    ...(held.length === 0 ? [] : [sql` union all select unnest(${held}::uuid[])`]),
    ...(above.length === 0
      ? []
      : [sql` union all select ancestor_id from team_closure where descendant_id = any(${above}::uuid[])`]),
  ];
  return sql`array(select team_id from team_members where user_ref = ${ref}${sql.join(more, sql``)})`;
}

/** Assets that are the caller's because of who they are, whatever the sensitivity. */
function personal(caller: SignedIn): RawBuilder<unknown> {
  const held = [...teamsWith(caller, 'assets.admin'), ...teamsWith(caller, 'content.read.all')];
  return sql`a.owner_user_ref = ${caller.ref}
    or a.id = any(array(select asset_id from asset_shares where user_ref = ${caller.ref}))
    or a.team_id = any(${teamsOf(caller.ref, held, teamsWith(caller, 'teams.write'))})`;
}

/** Where `readableAssets` has its rows: in one of these sets, or in one of these teams. Each has an index by time. */
export interface ReadableParts {
  sets: readonly Predicate[];
  /** An array of team ids. */
  teams: RawBuilder<unknown>;
}

/** The parts for a caller who is not given everything, and is not a visitor, who has one index. Null otherwise. */
export function readableParts(caller: Caller): ReadableParts | null {
  if (caller.kind === 'anonymous' || holds(caller, 'assets.admin')) return null;
  return {
    sets: [
      sql`(a.deleted_at is null and (a.sensitivity <> 'posts' or a.exposure in ('public', 'org-only')))`,
      sql`(a.deleted_at is null and a.sensitivity = 'posts' and a.exposure = 'narrow')`,
      sql`(a.owner_user_ref = ${caller.ref})`,
      sql`(a.id = any(array(select asset_id from asset_shares where user_ref = ${caller.ref})))`,
    ],
    teams: teamsOf(caller.ref, teamsWith(caller, 'assets.admin'), []),
  };
}

/** Superset of `shownAssets`; null where it would leave nothing out. */
function whereShownAssets(caller: Caller): Predicate | null {
  if (caller.kind === 'anonymous') return sql`(a.deleted_at is null and ${openToVisitors})`;
  if (holds(caller, 'assets.admin')) return null;
  const disclosed = holds(caller, 'content.read.all')
    ? sql`a.sensitivity <> 'posts'`
    : sql`a.sensitivity in ('public', 'org')`;
  return sql`(a.deleted_at is null and (${disclosed}
    or (a.sensitivity = 'posts' and a.exposure <> 'none') or ${personal(caller)}))`;
}

/** Superset of `listedPosts`; null where it would leave nothing out. */
function whereListedPosts(caller: Caller): Predicate | null {
  const live = sql`p.deleted_at is null and not p.draft`;
  if (caller.kind === 'anonymous') return sql`(${live} and p.visibility = 'public')`;
  if (holds(caller, 'posts.admin')) return null;
  const administered = teamsWith(caller, 'posts.admin');
  const ofTeams = administered.length === 0 ? sql`` : sql` or p.team_id = any(${administered}::uuid[])`;
  return sql`(${live} and (p.visibility in ('public', 'org-only', 'followers') or p.author_user_ref = ${caller.ref}
    or p.id = any(array(select post_id from post_shares where user_ref = ${caller.ref}))${ofTeams}))`;
}

/** Superset of what a search may find of a kind; null where it would leave nothing out. */
export function whereaboutsOf(caller: Caller, kind: SearchKind): Predicate | null {
  if (kind === 'asset') return whereShownAssets(caller);
  if (kind === 'post') return whereListedPosts(caller);
  return null;
}
