import type { AssetSelection, PostSelection } from '@vitrine/contract/batches';
import type { OriginFilter } from '@vitrine/contract/federation';
import type { SavedQuery, SearchKind } from '@vitrine/contract/search';
import { readOrigin } from '#lib/federation/origin.ts';

export type Sort = NonNullable<SavedQuery['sort']>;

/** A search, as encoded in the address of the search page. */
export interface SearchCriteria {
  readonly q: string;
  readonly kind?: SearchKind;
  readonly type?: number;
  readonly tags: readonly string[];
  readonly team?: string;
  readonly origin?: OriginFilter;
  readonly owner?: number;
  /** Each `field:<code><op><value>`. */
  readonly filters: readonly string[];
  readonly sort?: Sort;
}

export const kinds: readonly SearchKind[] = ['post', 'asset', 'collection', 'user', 'tag'];
const sorts: readonly Sort[] = ['relevance', 'newest', 'oldest'];

export const noCriteria: SearchCriteria = { q: '', tags: [], filters: [] };

/** The limits of the service. */
const most = { words: 1000, tags: 10, filters: 20, filter: 10_000 } as const;

function wholeNumber(text: string | null): number | undefined {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 && number < 2 ** 31 ? number : undefined;
}

/** Returns the search in an address; ignores invalid parts. */
export function readCriteria(params: Pick<URLSearchParams, 'get' | 'getAll'>): SearchCriteria {
  const kind = kinds.find((known) => known === params.get('kind'));
  const sort = sorts.find((known) => known === params.get('sort'));
  const type = wholeNumber(params.get('type'));
  const owner = wholeNumber(params.get('owner'));
  const team = params.get('team');
  const tags = params.getAll('tag').filter((tag) => tag !== '' && [...tag].length <= 64);
  const filters = params.getAll('filter').filter((filter) => filter !== '' && filter.length <= most.filter);
  return {
    q: (params.get('q') ?? '').trim().slice(0, most.words),
    ...(kind === undefined ? {} : { kind }),
    ...(type === undefined ? {} : { type }),
    tags: [...new Set(tags)].slice(0, most.tags),
    ...(team !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(team) ? { team } : {}),
    ...readOrigin(params),
    ...(owner === undefined ? {} : { owner }),
    filters: [...new Set(filters)].slice(0, most.filters),
    ...(sort === undefined ? {} : { sort }),
  };
}

/** Returns the address of the search page for a search. */
export function searchAddress({
  q,
  kind,
  type,
  tags,
  team,
  origin,
  owner,
  filters,
  sort,
}: SearchCriteria): string {
  const params = new URLSearchParams();
  if (q.trim() !== '') params.set('q', q.trim());
  if (kind !== undefined) params.set('kind', kind);
  if (type !== undefined) params.set('type', String(type));
  for (const tag of tags) params.append('tag', tag);
  if (team !== undefined) params.set('team', team);
  if (origin !== undefined) params.set('origin', origin);
  if (owner !== undefined) params.set('owner', String(owner));
  for (const filter of filters) params.append('filter', filter);
  if (sort !== undefined) params.set('sort', sort);
  const text = params.toString();
  return text === '' ? '/search' : `/search?${text}`;
}

/** Returns the query for the service, which is also what a saved search stores. */
export function savedQueryOf({
  q,
  kind,
  type,
  tags,
  team,
  origin,
  owner,
  filters,
  sort,
}: SearchCriteria): SavedQuery {
  return {
    ...(q === '' ? {} : { q }),
    ...(kind === undefined ? {} : { kind }),
    ...(type === undefined ? {} : { asset_type: type }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(origin === undefined ? {} : { origin }),
    ...(owner === undefined ? {} : { owner_ref: owner }),
    ...(filters.length === 0 ? {} : { filter: [...filters] }),
    ...(sort === undefined ? {} : { sort }),
  };
}

/** Returns the search of a saved one. */
export function criteriaOf(asked: SavedQuery): SearchCriteria {
  const { q = '', kind, asset_type, tag = [], team_id, origin, owner_ref, filter = [], sort } = asked;
  return {
    q,
    ...(kind === undefined ? {} : { kind }),
    ...(asset_type === undefined ? {} : { type: asset_type }),
    tags: tag,
    ...(team_id === undefined ? {} : { team: team_id }),
    ...(origin === undefined ? {} : { origin }),
    ...(owner_ref === undefined ? {} : { owner: owner_ref }),
    filters: filter,
    ...(sort === undefined ? {} : { sort }),
  };
}

/** Returns the number of filters besides the words. */
export function filterCount({ type, tags, team, origin, owner, filters }: SearchCriteria): number {
  const single = [type, team, origin, owner].filter((value) => value !== undefined).length;
  return single + tags.length + filters.length;
}

/** Returns whether the search is not empty. */
export function hasCriteria(criteria: SearchCriteria): boolean {
  return criteria.q !== '' || filterCount(criteria) > 0;
}

/** Returns the search without one of its parts. */
export function without(
  criteria: SearchCriteria,
  part: 'kind' | 'type' | 'team' | 'origin' | 'owner' | 'sort',
): SearchCriteria {
  const { [part]: _, ...rest } = criteria;
  return rest;
}

/** The longest words of a batch. */
const longestWords = 500;

/** Returns what selects the same posts for a batch; undefined if no query does. */
export function postSelectionOf(criteria: SearchCriteria): PostSelection | undefined {
  const { q, type, tags, team, origin, owner, filters } = criteria;
  if (origin !== undefined || type !== undefined || filters.length > 0 || q.length > longestWords)
    return undefined;
  return {
    ...(q === '' ? {} : { q }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(owner === undefined ? {} : { owner_ref: owner }),
  };
}

/** Returns what selects the same assets for a batch; undefined if no query does. */
export function assetSelectionOf(criteria: SearchCriteria): AssetSelection | undefined {
  const { type, filters, ...rest } = criteria;
  const shared = postSelectionOf({ ...rest, filters: [] });
  if (shared === undefined) return undefined;
  return {
    ...shared,
    ...(type === undefined ? {} : { asset_type: type }),
    ...(filters.length === 0 ? {} : { filter: [...filters] }),
  };
}
