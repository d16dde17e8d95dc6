import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import { annotationWords } from './annotations.ts';
import {
  feedKeepsBetween,
  feedPosts,
  hidesRestricted,
  liveAsset,
  readableAssets,
  servedAssets,
  shownAssets,
  type TimeRange,
} from './assets.ts';
import { type Caller, holds } from './caller.ts';
import { readableCollections } from './collections.ts';
import { appliesToAsset, filterableFields, holdsCode, ofVocabulary, readableFields } from './field-values.ts';
import { disclosedIdentity } from './identities.ts';
import { live } from './live.ts';
import { listedPosts, publishedPost } from './posts.ts';
import { isOnNewestPost, onShownAsset, possibleTags, taggedPosts } from './tags.ts';

/**
 * Search finds what the caller may read: rows by the rule of their kind, and of their words those that the caller may
 * read. Predicates refer to `posts p`, `assets a`, `collections c`, `users u` and `tags t`, and to gated documents with
 * the alias `g`. Documents contain words that every reader of the row may read (migration 0013).
 */
type Predicate = RawBuilder<boolean>;

/** Tags of something that the caller may read. A tag without such a use is not found. */
function searchableTags(caller: Caller): Predicate {
  return sql`(${possibleTags(caller)} and (${onShownAsset(caller)} or ${isOnNewestPost(caller)} or ${taggedPosts(caller, 1)} > 0))`;
}

/** Rows of this kind that the caller may find. Assets are found by their columns, so these must be shown (SEARCH-2). */
export function searchable(caller: Caller, kind: SearchKind): Predicate {
  switch (kind) {
    case 'post':
      return feedPosts(caller);
    case 'asset':
      // Implied by the other rule; stated separately so that the index of the newest assets can be used.
      return sql`(${readableAssets(caller)} and ${shownAssets(caller)})`;
    case 'collection':
      return readableCollections(caller);
    case 'user':
      return disclosedIdentity(caller, 'u');
    case 'tag':
      return searchableTags(caller);
  }
}

/** Equals `searchable` for rows of these times; for many rows of a range (see feedKeepsBetween). */
export function searchableBetween(caller: Caller, kind: SearchKind, range: TimeRange): Predicate {
  return kind === 'post' && hidesRestricted(caller)
    ? sql`(${listedPosts(caller)} and ${feedKeepsBetween(caller, range)})`
    : searchable(caller, kind);
}

/**
 * A superset of what any caller may find of a kind: the condition of the index on its time. It saves time and decides
 * nothing, because the rule still applies to each row.
 */
export function searchableByAnyone(kind: 'post' | 'asset' | 'collection'): Predicate {
  switch (kind) {
    case 'post':
      return publishedPost;
    case 'asset':
      return liveAsset;
    case 'collection':
      return live('c');
  }
}

/** Columns of a document `d` whose words the caller may read: anonymous callers never see full names (IDENTITY-2). */
export function readableWords(caller: Caller, kind: SearchKind): { document: string; names: string } {
  return kind === 'user' && caller.kind === 'user'
    ? { document: 'd.full_document', names: 'd.full_names' }
    : { document: 'd.document', names: 'd.names' };
}

/** Gated documents of a row that the caller may read as well. Null when there can be none. */
export function openGates(caller: Caller, kind: SearchKind): Predicate | null {
  if (kind === 'post') return annotationWords(caller);
  if (caller.kind === 'anonymous') return null;
  if (kind === 'collection') return holdsCode(caller, sql`g.gate`, kind);
  if (kind !== 'asset') return null;
  return sql`(case when g.gate = 'mature' then ${servedAssets(caller)} else ${holdsCode(caller, sql`g.gate`, kind)} end)`;
}

/** The same for a collection that the caller reads. */
export function searchedCollectionValues(caller: Caller): Predicate {
  return sql`(${readableFields(caller, 'collection')} and d.searchable)`;
}

/** File names are as visible as the bytes. */
export const readableFileName = servedAssets;

/** Values of `fields d` that are words of an asset `a` which the caller is shown (FIELD-11). */
export function searchedValues(caller: Caller): Predicate {
  return sql`(${readableFields(caller, 'asset')} and d.searchable and d.mirrors_column is null and ${appliesToAsset})`;
}

/** Values of `fields d` that facets may count: those that a filter may name. */
export function countedValues(caller: Caller): Predicate {
  return sql`(${filterableFields(caller, 'asset')} and ${ofVocabulary} and ${appliesToAsset})`;
}

/** Team names are visible with `teams.read`. */
export function readsTeams(caller: Caller): boolean {
  return holds(caller, 'teams.read');
}
