import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { openToVisitors, readableAssets, servedAssets, shownAssets } from './assets.ts';
import { type Caller, holds, teamsWith } from './caller.ts';
import { readableCollections } from './collections.ts';
import { feedKeeps, hidesRestricted } from './feed.ts';
import { appliesToAsset, filterableFields, holdsCode, readableFields } from './field-values.ts';
import { disclosedIdentity } from './identities.ts';
import { listedPosts } from './posts.ts';
import { onNewestPost, onShownAsset, taggedPosts, worthAsking } from './tags.ts';

/**
 * What is searched is what is read: a row under the rule of its kind, and of its words those the caller reads.
 * Predicates speak of `posts p`, `assets a`, `collections c`, `users u` and `tags t`, gates of their gated documents
 * under the alias `g`. Documents hold words that everybody reads who reads the row (migration 0013).
 */
type Predicate = RawBuilder<boolean>;

/** Posts as the caller's feed has them, so no draft to anybody (spec 2.2 rule 4; spec 2.11, feed_filters). */
function searchablePosts(caller: Caller): Predicate {
  return hidesRestricted(caller)
    ? sql`(${listedPosts(caller)} and ${feedKeeps(caller)})`
    : listedPosts(caller);
}

/** Tags on something the caller reads; a name alone is nobody's to find. */
function searchableTags(caller: Caller): Predicate {
  return sql`(${worthAsking(caller)} and (${onShownAsset(caller)} or ${onNewestPost(caller)} or ${taggedPosts(caller, 1)} > 0))`;
}

/** Rows of this kind that the caller may find. An asset is found by its columns, so it is shown (spec 2.5). */
export function searchable(caller: Caller, kind: SearchKind): Predicate {
  switch (kind) {
    case 'post':
      return searchablePosts(caller);
    case 'asset':
      // The read rule is part of the other; said alone, the index of the newest assets answers it.
      return sql`(${readableAssets(caller)} and ${shownAssets(caller)})`;
    case 'collection':
      return readableCollections(caller);
    case 'user':
      return disclosedIdentity(caller, 'u');
    case 'tag':
      return searchableTags(caller);
  }
}

/** Columns of a document `d` with the words the caller reads: a full name is never told to anonymous (spec 2.3). */
export function readableWords(caller: Caller, kind: SearchKind): { document: string; names: string } {
  return kind === 'user' && caller.kind === 'user'
    ? { document: 'd.full_document', names: 'd.full_names' }
    : { document: 'd.document', names: 'd.names' };
}

/** Gated documents of a row the caller is given: which of them they read too. Null when there can be none. */
export function openGates(caller: Caller, kind: SearchKind): Predicate | null {
  if (caller.kind === 'anonymous') return null;
  if (kind === 'collection') return holdsCode(caller, sql`g.gate`, kind);
  if (kind !== 'asset') return null;
  return sql`(case when g.gate = 'mature' then ${servedAssets(caller)} else ${holdsCode(caller, sql`g.gate`, kind)} end)`;
}

/** The same of a collection the caller reads. */
export function searchedCollectionValues(caller: Caller): Predicate {
  return sql`(${readableFields(caller, 'collection')} and d.searchable)`;
}

/** Names of files are told with their bytes. */
export const toldFileName = servedAssets;

/** Values of `fields d` that are words of an asset `a` the caller is shown (spec 2.7 rule 3). */
export function searchedValues(caller: Caller): Predicate {
  return sql`(${readableFields(caller, 'asset')} and d.searchable and d.mirrors_column is null and ${appliesToAsset})`;
}

/** Values of `fields d` that hits divide by: those a filter may name. */
export function countedValues(caller: Caller): Predicate {
  return sql`(${filterableFields(caller, 'asset')} and d.type in ('select', 'multi_select', 'tree') and ${appliesToAsset})`;
}

/** The names of teams are for whoever holds `teams.read`. */
export function readsTeams(caller: Caller): boolean {
  return holds(caller, 'teams.read');
}

/** Teams of which something may be the caller's to see because of what they are or hold there. */
function teamsOf(ref: number, given: readonly string[], above: readonly string[]): RawBuilder<unknown> {
  const more = [
    ...(given.length === 0 ? [] : [sql` union all select unnest(${given}::uuid[])`]),
    ...(above.length === 0
      ? []
      : [sql` union all select ancestor_id from team_closure where descendant_id = any(${above}::uuid[])`]),
  ];
  return sql`array(select team_id from team_members where user_ref = ${ref}${sql.join(more, sql``)})`;
}

/**
 * Where everything is that the caller may find of a kind, in terms that indexes answer: for a caller who finds almost
 * nothing of what there is, the plan begins here. It spares time and decides nothing: `searchable` is asked of each row.
 * Null where it would leave nothing out.
 */
export function whereaboutsOf(caller: Caller, kind: SearchKind): Predicate | null {
  if (kind === 'asset') {
    if (caller.kind === 'anonymous') return sql`(a.deleted_at is null and ${openToVisitors})`;
    if (holds(caller, 'assets.admin') || holds(caller, 'content.read.all')) return null;
    const held = [...teamsWith(caller, 'assets.admin'), ...teamsWith(caller, 'content.read.all')];
    return sql`(a.deleted_at is null and (a.sensitivity in ('public', 'org')
      or (a.sensitivity = 'posts' and a.exposure <> 'none') or a.owner_user_ref = ${caller.ref}
      or a.id = any(array(select asset_id from asset_shares where user_ref = ${caller.ref}))
      or a.team_id = any(${teamsOf(caller.ref, held, teamsWith(caller, 'teams.write'))})))`;
  }
  if (kind !== 'post') return null;
  const live = sql`p.deleted_at is null and not p.draft`;
  if (caller.kind === 'anonymous') return sql`(${live} and p.visibility = 'public')`;
  if (holds(caller, 'posts.admin')) return null;
  const administered = teamsWith(caller, 'posts.admin');
  const ofTeams = administered.length === 0 ? sql`` : sql` or p.team_id = any(${administered}::uuid[])`;
  return sql`(${live} and (p.visibility in ('public', 'org-only', 'followers') or p.author_user_ref = ${caller.ref}
    or p.id = any(array(select post_id from post_shares where user_ref = ${caller.ref}))${ofTeams}))`;
}
