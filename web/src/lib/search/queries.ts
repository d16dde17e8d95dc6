import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/svelte-query';
import type { Asset } from '@vitrine/contract/assets';
import type { Collection } from '@vitrine/contract/collections';
import type { PostAuthor } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';
import type { Highlight, SearchHit, SearchKind } from '@vitrine/contract/search';
import type { Tag } from '@vitrine/contract/tags';
import { byCursor, type PageParams, pageParams } from '#lib/paging.ts';
import type { ReadKeys } from '#lib/selection/read-keys.ts';
import type { Service } from '#lib/service.ts';
import { type SearchCriteria, savedQueryOf, without } from './criteria.ts';

/** A page of hits of one kind. */
export interface FoundPage<T> {
  readonly items: T[];
  /** The highlights of each hit, by its key. */
  readonly matches: Readonly<Record<string, readonly Highlight[]>>;
  /** True if no hit contains the words themselves. */
  readonly fuzzy: boolean;
  readonly next_cursor: string | null;
}

/** A hit of the requested kind with its key. */
type Take<T> = (hit: SearchHit) => readonly [key: string, item: T] | undefined;

async function readPage<T>(
  { client }: Service,
  criteria: SearchCriteria,
  kind: SearchKind,
  take: Take<T>,
  turn: PageParams,
  signal: AbortSignal | null,
): Promise<FoundPage<T>> {
  const page = await client.call('search', {
    query: { ...savedQueryOf({ ...criteria, kind }), ...turn },
    ...(signal === null ? {} : { signal }),
  });
  const items: T[] = [];
  const matches: Record<string, readonly Highlight[]> = {};
  for (const hit of page.items) {
    const taken = take(hit);
    if (taken === undefined) continue;
    items.push(taken[1]);
    matches[taken[0]] = hit.highlights;
  }
  const fuzzy = page.items.length > 0 && page.items.every((hit) => hit.fuzzy);
  return { items, matches, fuzzy, next_cursor: page.next_cursor };
}

// The keys are below those of the lists of each kind, so that likes and processed pictures are updated here too.

/** Searches posts. */
export function foundPostsQuery(service: Service, criteria: SearchCriteria, limit: number) {
  return infiniteQueryOptions({
    queryKey: ['feed', { search: { ...criteria, kind: 'post' }, limit }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      readPage<Post>(
        service,
        criteria,
        'post',
        (hit) => (hit.kind === 'post' ? [hit.post.id, hit.post] : undefined),
        pageParams(pageParam, limit),
        signal,
      ),
  });
}

/** Searches assets. */
export function foundAssetsQuery(service: Service, criteria: SearchCriteria, limit: number) {
  return infiniteQueryOptions({
    queryKey: ['assets', { search: { ...criteria, kind: 'asset' }, limit }],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      readPage<Asset>(
        service,
        criteria,
        'asset',
        (hit) => (hit.kind === 'asset' ? [hit.asset.id, hit.asset] : undefined),
        pageParams(pageParam, limit),
        signal,
      ),
  });
}

/** Returns a function that reads the ids of the posts or assets that a search finds, without placeholders. */
export function foundIds(service: Service, criteria: SearchCriteria, kind: 'post' | 'asset'): ReadKeys {
  const take: Take<string> = (hit) => {
    if (hit.kind === 'post') return [hit.post.id, hit.post.id];
    return hit.kind === 'asset' && !hit.asset.restricted ? [hit.asset.id, hit.asset.id] : undefined;
  };
  return (page) => readPage(service, criteria, kind, take, page, null);
}

/** Searches collections. */
export function foundCollectionsQuery(service: Service, criteria: SearchCriteria, limit: number) {
  return infiniteQueryOptions({
    queryKey: ['search', 'collection', criteria, limit],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      readPage<Collection>(
        service,
        criteria,
        'collection',
        (hit) => (hit.kind === 'collection' ? [hit.collection.id, hit.collection] : undefined),
        pageParams(pageParam, limit),
        signal,
      ),
  });
}

/** Searches people. */
export function foundPeopleQuery(service: Service, criteria: SearchCriteria, limit: number) {
  return infiniteQueryOptions({
    queryKey: ['search', 'user', criteria, limit],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      readPage<PostAuthor>(
        service,
        criteria,
        'user',
        (hit) => (hit.kind === 'user' ? [String(hit.user.ref), hit.user] : undefined),
        pageParams(pageParam, limit),
        signal,
      ),
  });
}

/** Searches tags. */
export function foundTagsQuery(service: Service, criteria: SearchCriteria, limit: number) {
  return infiniteQueryOptions({
    queryKey: ['search', 'tag', criteria, limit],
    ...byCursor,
    queryFn: ({ pageParam, signal }) =>
      readPage<Tag>(
        service,
        criteria,
        'tag',
        (hit) => (hit.kind === 'tag' ? [hit.tag.tag, hit.tag] : undefined),
        pageParams(pageParam, limit),
        signal,
      ),
  });
}

/** Reads the number of hits, the facets and the first hits of each kind. */
export function overviewQuery({ client }: Service, criteria: SearchCriteria) {
  const asked = savedQueryOf(without(criteria, 'sort'));
  return queryOptions({
    queryKey: ['search', 'overview', asked],
    queryFn: ({ signal }) => client.call('search', { query: { ...asked, facets: true, limit: 12 }, signal }),
    placeholderData: keepPreviousData,
  });
}

/** Reads suggestions for a prefix. */
export function suggestionsQuery({ client }: Service, q: string) {
  return queryOptions({
    queryKey: ['search', 'suggest', q],
    queryFn: async ({ signal }) => (await client.call('suggest', { query: { q }, signal })).items,
    placeholderData: keepPreviousData,
  });
}

/** Lists the saved searches by name. */
export function savedSearchesQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['saved-searches'],
    queryFn: ({ signal }) => client.call('listSearches', { signal }),
  });
}

/** Invalidates the saved searches. */
export function refreshSaved({ queries }: Service): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['saved-searches'] });
}

/** Reads a profile by ref. */
export function personQuery({ client }: Service, ref: number) {
  return queryOptions({
    queryKey: ['person', ref],
    queryFn: ({ signal }) => client.call('getUser', { params: { ref }, signal }),
  });
}

/** Returns the highlights of all loaded hits. */
export function matchesIn(
  pages: readonly Pick<FoundPage<unknown>, 'matches'>[],
): Readonly<Record<string, readonly Highlight[]>> {
  return Object.fromEntries(pages.flatMap(({ matches }) => Object.entries(matches)));
}
