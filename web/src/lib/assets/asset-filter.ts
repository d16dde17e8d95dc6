import type { AssetQuery, AssetSort, ShownAsset } from '@vitrine/contract/assets';
import type { AssetSelection } from '@vitrine/contract/batches';
import type { OriginFilter } from '@vitrine/contract/federation';
import { readOrigin } from '#lib/federation/origin.ts';
import { readFilter } from '#lib/fields/filter.ts';

type Status = ShownAsset['status'];

const statuses: readonly Status[] = ['draft', 'active', 'archived'];

/** The orders of the list (ASSET-34). */
export const sorts: readonly { readonly value: AssetSort; readonly label: string }[] = [
  { value: 'newest', label: 'Newest first' },
  { value: 'oldest', label: 'Oldest first' },
  { value: 'title', label: 'Title, A to Z' },
  { value: 'title_desc', label: 'Title, Z to A' },
  { value: 'largest', label: 'Largest first' },
  { value: 'smallest', label: 'Smallest first' },
  { value: 'taken', label: 'Taken, newest first' },
  { value: 'taken_oldest', label: 'Taken, oldest first' },
];

/** ASSET-22: at most 10 tags. */
const mostTags = 10;

/** The limits of the service for the number and length of field filters. */
const mostFilters = 20;
const longestFilter = 10_000;

/** The filters of the library page. `everyone`: not only the user's own assets. */
export interface AssetFilter {
  readonly everyone: boolean;
  readonly type?: number;
  readonly status?: Status;
  /** The code of a state of the asset workflow. */
  readonly state?: string;
  readonly tags: readonly string[];
  readonly team?: string;
  /** Only assets made here, at any peer, or at one peer. */
  readonly origin?: OriginFilter;
  /** Filters by field, each `field:<code><op><value>` (VALUE-13). */
  readonly fields?: readonly string[];
  /** Newest first if absent. */
  readonly sort?: AssetSort;
  /** Shows every file of a stack, and not only the top. */
  readonly stacks?: 'all';
}

export const ownAssets: AssetFilter = { everyone: false, tags: [] };

/** Returns whether there are filters other than the owner. */
export function isNarrowed({ type, status, state, tags, team, origin, fields = [] }: AssetFilter): boolean {
  return (
    type !== undefined ||
    status !== undefined ||
    state !== undefined ||
    tags.length > 0 ||
    team !== undefined ||
    origin !== undefined ||
    fields.length > 0
  );
}

/** Returns the filter in an address; ignores invalid parts. */
export function readAssetFilter(params: Pick<URLSearchParams, 'get' | 'getAll'>): AssetFilter {
  const type = Number(params.get('type'));
  const status = statuses.find((known) => known === params.get('status'));
  const state = params.get('state') ?? '';
  const team = params.get('team');
  const sort = sorts.find(({ value }) => value === params.get('sort'))?.value;
  const fields = params
    .getAll('filter')
    .filter((text) => text.length <= longestFilter && readFilter(text) !== undefined);
  const tags = params.getAll('tag').filter((tag) => tag !== '' && [...tag].length <= 64);
  return {
    everyone: params.get('of') === 'everyone',
    ...(Number.isSafeInteger(type) && type > 0 && type < 2 ** 31 ? { type } : {}),
    ...(status === undefined ? {} : { status }),
    ...(state === '' || state.length > 100 ? {} : { state }),
    tags: [...new Set(tags)].slice(0, mostTags),
    ...(team !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(team) ? { team } : {}),
    ...readOrigin(params),
    ...(fields.length === 0 ? {} : { fields: [...new Set(fields)].slice(0, mostFilters) }),
    ...(sort === undefined || sort === 'newest' ? {} : { sort }),
    ...(params.get('stacks') === 'all' ? { stacks: 'all' } : {}),
  };
}

/** Returns the address of the library page with this filter. */
export function libraryAddress({
  everyone,
  type,
  status,
  state,
  tags,
  team,
  origin,
  fields = [],
  sort,
  stacks,
}: AssetFilter): string {
  const params = new URLSearchParams();
  if (everyone) params.set('of', 'everyone');
  if (type !== undefined) params.set('type', String(type));
  if (status !== undefined) params.set('status', status);
  if (state !== undefined) params.set('state', state);
  for (const tag of tags) params.append('tag', tag);
  if (team !== undefined) params.set('team', team);
  if (origin !== undefined) params.set('origin', origin);
  for (const text of fields) params.append('filter', text);
  if (sort !== undefined) params.set('sort', sort);
  if (stacks !== undefined) params.set('stacks', stacks);
  const text = params.toString();
  return text === '' ? '/assets' : `/assets?${text}`;
}

/** Returns the query of the list; `ownRef` is the user whose assets are "own". */
export function assetQueryOf(filter: AssetFilter, ownRef: number): AssetQuery {
  const { sort } = filter;
  return { ...assetFiltersOf(filter, ownRef), ...(sort === undefined ? {} : { sort }) };
}

/** Returns the filters for the service, without the order. */
export function assetFiltersOf(
  { everyone, type, status, state, tags, team, origin, fields = [] }: AssetFilter,
  ownRef: number,
): Omit<AssetQuery, 'sort' | 'stacks' | 'limit' | 'cursor' | 'include_deleted'> {
  return {
    ...(everyone ? {} : { owner_ref: ownRef }),
    ...(type === undefined ? {} : { asset_type: type }),
    ...(status === undefined ? {} : { status }),
    ...(state === undefined ? {} : { state }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(origin === undefined ? {} : { origin }),
    ...(fields.length === 0 ? {} : { filter: [...fields] }),
  };
}

/**
 * Returns what selects the same assets for a batch; undefined if it cannot. `states` have the ids of the codes, and are
 * empty until they are loaded.
 */
export function assetSelectionOf(
  { everyone, type, status, state, tags, team, origin, fields = [] }: AssetFilter,
  ownRef: number,
  states: readonly { readonly id: string; readonly code: string }[],
): AssetSelection | undefined {
  const stateId = states.find(({ code }) => code === state)?.id;
  if (origin !== undefined || (state !== undefined && stateId === undefined)) return undefined;
  return {
    ...(everyone ? {} : { owner_ref: ownRef }),
    ...(type === undefined ? {} : { asset_type: type }),
    ...(status === undefined ? {} : { status }),
    ...(stateId === undefined ? {} : { state_id: stateId }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(fields.length === 0 ? {} : { filter: [...fields] }),
  };
}
