import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { readableAssets, servedAssets, shownAssets } from './assets.ts';
import { type Caller, holds } from './caller.ts';
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

/** Posts as the caller's feed has them, so no draft to anybody (POST-7, FEED-2). */
function searchablePosts(caller: Caller): Predicate {
  return hidesRestricted(caller)
    ? sql`(${listedPosts(caller)} and ${feedKeeps(caller)})`
    : listedPosts(caller);
}

/** Tags on something the caller reads; a name alone is nobody's to find. */
function searchableTags(caller: Caller): Predicate {
  return sql`(${worthAsking(caller)} and (${onShownAsset(caller)} or ${onNewestPost(caller)} or ${taggedPosts(caller, 1)} > 0))`;
}

/** Rows of this kind that the caller may find. An asset is found by its columns, so it is shown (SEARCH-2). */
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

/** Columns of a document `d` with the words the caller reads: a full name is never told to anonymous (IDENTITY-2). */
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

/** Values of `fields d` that are words of an asset `a` the caller is shown (FIELD-11). */
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
