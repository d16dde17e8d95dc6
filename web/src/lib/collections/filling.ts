import type { AssetSelection } from '@vitrine/contract/batches';
import type { SearchCriteria } from '#lib/search/criteria.ts';

/** Returns the query of a smart collection for a search of files. The library that files come from is not part of it. */
export function fillingOf({ q, type, tags, team, owner, filters }: SearchCriteria): AssetSelection {
  return {
    ...(q === '' ? {} : { q }),
    ...(type === undefined ? {} : { asset_type: type }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(owner === undefined ? {} : { owner_ref: owner }),
    ...(filters.length === 0 ? {} : { filter: [...filters] }),
  };
}

/** Returns the search of files that finds what a query selects; undefined if the query has conditions that it has not. */
export function searchOf(query: AssetSelection): SearchCriteria | undefined {
  const { q = '', asset_type: type, tag = [], team_id: team, owner_ref: owner, filter = [], ...rest } = query;
  if (Object.keys(rest).length > 0) return undefined;
  return {
    q,
    kind: 'asset',
    ...(type === undefined ? {} : { type }),
    tags: tag,
    ...(team === undefined ? {} : { team }),
    ...(owner === undefined ? {} : { owner }),
    filters: filter,
    sort: 'newest',
  };
}
