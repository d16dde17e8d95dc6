import { type Static, Type } from 'typebox';
import { ShownAsset } from './assets.ts';
import { Collection } from './collections.ts';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Post } from './posts.ts';
import { Tag, TagName } from './tags.ts';
import { Count, closed, nullable, pageQuery, Ref, Timestamp, Uuid, Visibility } from './values.ts';

/** What can be found. */
export const SearchKind = Type.Enum(['post', 'asset', 'collection', 'user', 'tag']);
export type SearchKind = Static<typeof SearchKind>;

/** Hits are counted up to here, and no further. */
export const COUNTED_HITS = 1000;

/** Of more hits of a kind than this the newest are ranked and divided; `newest` and `oldest` go on to the last. */
export const RANKED_HITS = 1001;

/** SEARCH-3: words, "phrases" and -exclusions; the last word is the beginning of one. */
export const SearchText = Type.String({ maxLength: 1000 });

/** Repeatable, all of them: `field:<code><op><value>` (VALUE-13). */
export const SearchFilters = Type.Array(Type.String({ minLength: 1, maxLength: 10_000 }), { maxItems: 20 });

const asked = {
  q: Type.Optional(SearchText),
  /** One kind alone; without it every kind that has what the other parameters ask for. */
  kind: Type.Optional(SearchKind),
  /** Only assets have fields to filter by. */
  filter: Type.Optional(SearchFilters),
  tag: Type.Optional(Type.Array(TagName, { maxItems: 10 })),
  asset_type: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  team_id: Type.Optional(Uuid),
  owner_ref: Type.Optional(Ref),
  /** `relevance` unless said otherwise; without words it is `newest`. */
  sort: Type.Optional(Type.Enum(['relevance', 'newest', 'oldest'])),
};

export const SearchQuery = Type.Object({ ...pageQuery, ...asked, facets: Type.Optional(Type.Boolean()) });
export type SearchQuery = Static<typeof SearchQuery>;

/** A place in `text` where the query matched: UTF-16 code units, the end not included. */
const Range = closed({ start: Count, end: Count });

/** A piece of text the caller may read, as it is, with the places that matched. Never markup. */
export const Highlight = closed({
  /** Where the text is from; `field` is a value of the field `field_code`. */
  source: Type.Enum(['title', 'description', 'tags', 'file_name', 'comment', 'name', 'field']),
  field_code: Type.Optional(Type.String()),
  field_label: Type.Optional(Type.String()),
  text: Type.String(),
  ranges: Type.Array(Range),
});
export type Highlight = Static<typeof Highlight>;

const found = {
  highlights: Type.Array(Highlight),
  /** Comparable within one answer; 0 where nothing was ranked. */
  score: Type.Number(),
  /** It does not have the words themselves but some much like them. */
  fuzzy: Type.Boolean(),
};

/** One thing found. Every branch is closed, so that a serialiser can never mistake one for another. */
export const SearchHit = Type.Union([
  closed({ kind: Type.Literal('post'), post: Post, ...found }),
  closed({ kind: Type.Literal('asset'), asset: ShownAsset, ...found }),
  closed({ kind: Type.Literal('collection'), collection: Collection, ...found }),
  closed({ kind: Type.Literal('user'), user: PostAuthor, ...found }),
  closed({ kind: Type.Literal('tag'), tag: Tag, ...found }),
]);
export type SearchHit = Static<typeof SearchHit>;

/** How many hits have a value. */
export const FacetValue = closed({ value: Type.String(), label: Type.String(), count: Count });

/** At most 20 values of a facet, the most frequent first. */
function facet<V extends Parameters<typeof Type.Array>[0]>(value: V) {
  return Type.Array(closed({ value, label: Type.String(), count: Count }), { maxItems: 20 });
}

/** How the hits divide, the newest thousand or so of each kind. */
export const SearchFacets = closed({
  kind: facet(SearchKind),
  asset_type: facet(Type.Integer()),
  tag: facet(Type.String()),
  visibility: facet(Visibility),
  /** For whoever holds `teams.read`. */
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
  /** There are more than `total`. */
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
    'Finds posts, assets, collections, people and tags by what the caller may read of them. All words must match; quotes ask for a phrase and a minus excludes. `filter` finds assets by their fields: `field:<code><op><value>`. Totals are exact up to 1,000.',
  door: 'public',
  scope: 'read',
  query: SearchQuery,
  responses: { 200: SearchPage },
  errors: [],
});

export const Suggestion = closed({
  kind: SearchKind,
  text: Type.String(),
  /** Of a post, an asset or a collection. */
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
  responses: { 200: closed({ items: Type.Array(Suggestion, { maxItems: 10 }) }) },
  errors: [],
});

/** How many searches an account may keep. */
export const MOST_SEARCHES = 100;

/** What a search asked, without its page. */
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
  description: 'An account has at most 100 saved searches with unique names: 409 otherwise.',
  door: 'signedIn',
  scope: 'admin',
  example: { name: 'Harbours', query: { q: 'harbour', kind: 'asset' } },
  body: closed({ name: Name, query: SavedQuery }),
  responses: { 201: SavedSearch },
  errors: [409],
});

export const updateSearch = operation({
  id: 'updateSearch',
  method: 'PATCH',
  path: '/account/searches/{id}',
  tag: 'Account',
  summary: 'Change a saved search',
  description: 'Renames the search or replaces its query. A name that is taken is 409.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  example: { name: 'Harbours' },
  body: closed({ name: Type.Optional(nullable(Name)), query: Type.Optional(nullable(SavedQuery)) }),
  responses: { 200: SavedSearch },
  errors: [404, 409],
});

export const deleteSearch = operation({
  id: 'deleteSearch',
  method: 'DELETE',
  path: '/account/searches/{id}',
  tag: 'Account',
  summary: 'Delete a saved search',
  description: 'A search of another account is 404.',
  door: 'signedIn',
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

/** Whose words are brought to their stems; `simple` leaves them as they are. All are part of PostgreSQL 15. */
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
  /** Null once everything is written anew in the language; meanwhile both languages find. */
  progress: nullable(closed({ done: Count, total: Count })),
});
export type SearchSettings = Static<typeof SearchSettings>;

export const getSearchSettings = operation({
  id: 'getSearchSettings',
  method: 'GET',
  path: '/admin/system/search',
  tag: 'System',
  summary: 'Get the search language',
  description: 'Answers the language and how far a change of it has come.',
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
    'A job rewrites the index; searches in both languages work until it is done. It is 409 while an earlier change is under way.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({ language: Type.Optional(nullable(SearchLanguage)) }),
  responses: { 200: SearchSettings },
  errors: [409],
});
