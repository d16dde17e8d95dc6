import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { openToVisitors } from './assets.ts';
import { type Caller, holds, type SignedIn, teamsWith } from './caller.ts';
import { thePost } from './posts.ts';
import { candidatesFor, openForVisitors } from './visibilities.ts';

/**
 * Starting points for callers who see little of what exists: indexed conditions that hold for every row the caller may
 * see. They save time and decide nothing: the rule still applies to each row.
 */
type Predicate = RawBuilder<boolean>;

/** Teams that may give the caller access: by membership, or by a capability there or below. */
function teamsOf(ref: number, held: readonly string[], above: readonly string[]): RawBuilder<unknown> {
  const more = [
    ...(held.length === 0 ? [] : [sql` union all select unnest(${held}::uuid[])`]),
    ...(above.length === 0
      ? []
      : [sql` union all select ancestor_id from team_closure where descendant_id = any(${above}::uuid[])`]),
  ];
  return sql`array(select team_id from team_members where user_ref = ${ref}${sql.join(more, sql``)})`;
}

/** Assets the caller has access to personally, whatever the sensitivity. */
function personal(caller: SignedIn): RawBuilder<unknown> {
  const held = [...teamsWith(caller, 'assets.admin'), ...teamsWith(caller, 'content.read.all')];
  return sql`a.owner_user_ref = ${caller.ref}
    or a.id = any(array(select asset_id from asset_shares where user_ref = ${caller.ref}))
    or a.team_id = any(${teamsOf(caller.ref, held, teamsWith(caller, 'teams.write'))})`;
}

/** Contains all rows of `readableAssets`: one of these sets, or one of these teams. Each has an index by time. */
export interface ReadableParts {
  sets: readonly Predicate[];
  /** An array of team ids. */
  teams: RawBuilder<unknown>;
}

/**
 * The sets for a signed-in caller who does not see everything; null otherwise. Anonymous callers have an index of their
 * own.
 */
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

/** Superset of `shownAssets`; null where it would exclude nothing. */
function whereShownAssets(caller: Caller): Predicate | null {
  if (caller.kind === 'anonymous') return sql`(a.deleted_at is null and ${openToVisitors})`;
  if (holds(caller, 'assets.admin')) return null;
  const disclosed = holds(caller, 'content.read.all')
    ? sql`a.sensitivity <> 'posts'`
    : sql`a.sensitivity in ('public', 'org')`;
  return sql`(a.deleted_at is null and (${disclosed}
    or (a.sensitivity = 'posts' and a.exposure <> 'none') or ${personal(caller)}))`;
}

/** Superset of `listedPosts`; null where it would exclude nothing. */
function whereListedPosts(caller: Caller): Predicate | null {
  const live = sql`p.deleted_at is null and not p.draft`;
  if (caller.kind === 'anonymous') return sql`(${live} and ${openForVisitors(thePost)})`;
  if (holds(caller, 'posts.admin')) return null;
  const administered = teamsWith(caller, 'posts.admin');
  const ofTeams = administered.length === 0 ? sql`` : sql` or p.team_id = any(${administered}::uuid[])`;
  return sql`(${live} and (${candidatesFor(caller)} or p.author_user_ref = ${caller.ref}${ofTeams}))`;
}

/** Superset of what a search may find of a kind; null where it would exclude nothing. */
export function searchCandidates(caller: Caller, kind: SearchKind): Predicate | null {
  if (kind === 'asset') return whereShownAssets(caller);
  if (kind === 'post') return whereListedPosts(caller);
  return null;
}
