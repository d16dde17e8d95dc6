import { type Static, Type } from 'typebox';
import { ShownAsset } from './assets.ts';
import { Collection } from './collections.ts';
import { OriginFilter } from './federation.ts';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Post } from './posts.ts';
import { Tag, TagName } from './tags.ts';
import { Count, closed, nullable, pageQuery, Ref, Timestamp, Uuid, Visibility } from './values.ts';

/** The kinds of things that search finds. */
export const SearchKind = Type.Enum(['post', 'asset', 'collection', 'user', 'tag']);
export type SearchKind = Static<typeof SearchKind>;

/** Counting hits stops at this number. */
export const COUNTED_HITS = 1000;

/**
 * The number of newest hits of each kind that are ranked and counted for facets; `newest` and `oldest` list all hits.
 */
export const RANKED_HITS = 1001;

/** SEARCH-3: words, "phrases" and -exclusions; the last word also matches as a prefix. */
export const SearchText = Type.String({ maxLength: 1000 });

/** Repeatable; all filters must match: `field:<code><op><value>` (VALUE-13). */
export const SearchFilters = Type.Array(Type.String({ minLength: 1, maxLength: 10_000 }), { maxItems: 20 });

const asked = {
  q: Type.Optional(SearchText),
  /** Limits the search to one kind. Without it, searches every kind that supports the other parameters. */
  kind: Type.Optional(SearchKind),
  /** Only assets can be filtered by field. */
  filter: Type.Optional(SearchFilters),
  tag: Type.Optional(Type.Array(TagName, { maxItems: 10 })),
  asset_type: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  team_id: Type.Optional(Uuid),
  /** Posts, assets and collections by where they were made: here, at any peer, or at the peer with this id. */
  origin: Type.Optional(OriginFilter),
  owner_ref: Type.Optional(Ref),
  /** `relevance` by default, or `newest` without words. */
  sort: Type.Optional(Type.Enum(['relevance', 'newest', 'oldest'])),
};

export const SearchQuery = Type.Object({ ...pageQuery, ...asked, facets: Type.Optional(Type.Boolean()) });
export type SearchQuery = Static<typeof SearchQuery>;

/** A match in `text`, in UTF-16 code units; the end is exclusive. */
const Range = closed({ start: Count, end: Count });

/** A piece of text that the caller may read, verbatim, with the matches in it. Never markup. */
export const Highlight = closed({
  /** The source of the text; `field` is a value of the field `field_code`. */
  source: Type.Enum(['title', 'description', 'tags', 'file_name', 'comment', 'name', 'field']),
  field_code: Type.Optional(Type.String()),
  field_label: Type.Optional(Type.String()),
  text: Type.String(),
  ranges: Type.Array(Range),
});
export type Highlight = Static<typeof Highlight>;

const found = {
  highlights: Type.Array(Highlight),
  /** Comparable within one response; 0 when hits are not ranked. */
  score: Type.Number(),
  /** True if only similar words were found, not the words themselves. */
  fuzzy: Type.Boolean(),
};

/** A hit. Every branch is a closed object, so that a serialiser never mistakes one for another. */
export const SearchHit = Type.Union([
  closed({ kind: Type.Literal('post'), post: Post, ...found }),
  closed({ kind: Type.Literal('asset'), asset: ShownAsset, ...found }),
  closed({ kind: Type.Literal('collection'), collection: Collection, ...found }),
  closed({ kind: Type.Literal('user'), user: PostAuthor, ...found }),
  closed({ kind: Type.Literal('tag'), tag: Tag, ...found }),
]);
export type SearchHit = Static<typeof SearchHit>;

/** The number of hits with this value. */
export const FacetValue = closed({ value: Type.String(), label: Type.String(), count: Count });

/** Up to 20 values of a facet, the most frequent first. */
function facet<V extends Parameters<typeof Type.Array>[0]>(value: V) {
  return Type.Array(closed({ value, label: Type.String(), count: Count }), { maxItems: 20 });
}

/** Facet counts over the newest thousand or so hits of each kind. */
export const SearchFacets = closed({
  kind: facet(SearchKind),
  asset_type: facet(Type.Integer()),
  tag: facet(Type.String()),
  visibility: facet(Visibility),
  /** Present for callers with `teams.read`. */
  team: facet(Uuid),
  /** select, multi_select and tree fields of assets that the caller may read. */
  fields: Type.Array(closed({ code: Type.String(), label: Type.String(), values: facet(Type.String()) }), {
    maxItems: 20,
  }),
});
export type SearchFacets = Static<typeof SearchFacets>;

export const SearchPage = closed({
  items: Type.Array(SearchHit),
  next_cursor: nullable(Type.String()),
  /** Exact up to 1,000. */
  total: Type.Integer({ minimum: 0, maximum: COUNTED_HITS }),
  /** True if there are more hits than `total`. */
  total_capped: Type.Boolean(),
  facets: Type.Optional(SearchFacets),
});
export type SearchPage = Static<typeof SearchPage>;

export const search = operation({
  id: 'search',
  method: 'GET',
  path: '/search',
  tag: 'Search',
  summary: 'Search',
  description:
    'Finds posts, assets, collections, people and tags by text that the caller may read. All words must match; quotes ask for a phrase and a minus excludes. `filter` finds assets by their fields: `field:<code><op><value>`. Totals are exact up to 1,000.',
  door: 'public',
  scope: 'read',
  query: SearchQuery,
  replica: true,
  responses: { 200: SearchPage },
  errors: [
    'filter-field-not-found',
    'filter-malformed',
    'filter-operator-not-for-type',
    'filter-value-invalid',
  ],
});

export const Suggestion = closed({
  kind: SearchKind,
  text: Type.String(),
  /** The title of a post, asset or collection. */
  id: Type.Optional(Uuid),
  user: Type.Optional(PostAuthor),
});
export type Suggestion = Static<typeof Suggestion>;

export const suggest = operation({
  id: 'suggest',
  method: 'GET',
  path: '/search/suggest',
  tag: 'Search',
  summary: 'Suggest search terms',
  description:
    'Offers up to ten titles, tags, people and collections that begin with the text and that the caller may read.',
  door: 'public',
  scope: 'read',
  query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })) }),
  replica: true,
  responses: { 200: closed({ items: Type.Array(Suggestion, { maxItems: 10 }) }) },
  errors: [],
});

/** The maximum number of saved searches of an account. */
export const MOST_SEARCHES = 100;

/** The parameters of a search, without paging. */
export const SavedQuery = closed(asked);
export type SavedQuery = Static<typeof SavedQuery>;

export const SavedSearch = closed({
  id: Uuid,
  name: Type.String({ maxLength: 100 }),
  query: SavedQuery,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type SavedSearch = Static<typeof SavedSearch>;

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const idParams = closed({ id: Uuid });

export const listSearches = operation({
  id: 'listSearches',
  method: 'GET',
  path: '/account/searches',
  tag: 'Account',
  summary: 'List saved searches',
  description: 'Lists the saved searches of the account by name.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: Type.Array(SavedSearch, { maxItems: MOST_SEARCHES }) },
  errors: [],
});

export const createSearch = operation({
  id: 'createSearch',
  method: 'POST',
  path: '/account/searches',
  tag: 'Account',
  summary: 'Save a search',
  description: 'Returns 409 if the name is taken or the account already has 100 saved searches.',
  door: 'signedIn',
  scope: 'admin',
  example: { name: 'Harbours', query: { q: 'harbour', kind: 'asset' } },
  body: closed({ name: Name, query: SavedQuery }),
  seenBy: 'caller',
  responses: { 201: SavedSearch },
  errors: ['name-not-storable', 'name-taken', 'too-many-saved'],
});

export const updateSearch = operation({
  id: 'updateSearch',
  method: 'PATCH',
  path: '/account/searches/{id}',
  tag: 'Account',
  summary: 'Change a saved search',
  description: 'Renames the search or replaces its query. Returns 409 if the name is taken.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  example: { name: 'Harbours' },
  body: closed({ name: Type.Optional(nullable(Name)), query: Type.Optional(nullable(SavedQuery)) }),
  seenBy: 'caller',
  responses: { 200: SavedSearch },
  errors: ['name-not-storable', 'name-taken', 'not-found'],
});

export const deleteSearch = operation({
  id: 'deleteSearch',
  method: 'DELETE',
  path: '/account/searches/{id}',
  tag: 'Account',
  summary: 'Delete a saved search',
  description: 'Returns 404 for a search of another account.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** Languages with stemming; `simple` does not stem. All are part of PostgreSQL 15. */
export const searchLanguages = [
  'simple',
  'arabic',
  'armenian',
  'basque',
  'catalan',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'greek',
  'hindi',
  'hungarian',
  'indonesian',
  'irish',
  'italian',
  'lithuanian',
  'nepali',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'serbian',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
  'yiddish',
] as const;
export const SearchLanguage = Type.Enum([...searchLanguages]);
export type SearchLanguage = Static<typeof SearchLanguage>;

export const SearchSettings = closed({
  language: SearchLanguage,
  languages: Type.Array(SearchLanguage),
  /** The new language while the index is being rewritten, otherwise null. Until then both languages match. */
  progress: nullable(closed({ done: Count, total: Count })),
});
export type SearchSettings = Static<typeof SearchSettings>;

export const getSearchSettings = operation({
  id: 'getSearchSettings',
  method: 'GET',
  path: '/admin/system/search',
  tag: 'System',
  summary: 'Get the search language',
  description: 'Returns the language and the progress of a change of language.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: SearchSettings },
  errors: [],
});

export const updateSearchSettings = operation({
  id: 'updateSearchSettings',
  method: 'PATCH',
  path: '/admin/system/search',
  tag: 'System',
  summary: 'Change the search language',
  description:
    'A job rewrites the index; searches in both languages work until it is done. Returns 409 while an earlier change is in progress.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({ language: Type.Optional(nullable(SearchLanguage)) }),
  responses: { 200: SearchSettings },
  errors: ['search-language-changing'],
});
