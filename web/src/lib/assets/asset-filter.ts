import type { AssetQuery, ShownAsset } from '@vitrine/contract/assets';
import { readFilter } from '#lib/fields/filter.ts';

type Status = ShownAsset['status'];

const statuses: readonly Status[] = ['draft', 'active', 'archived'];

/** ASSET-22: at most 10 tags narrow a list. */
const mostTags = 10;

/** As many field filters as the service takes at once, and as long as each may be. */
const mostFilters = 20;
const longestFilter = 10_000;

/** What the library page is narrowed to. `everyone`: not only one's own. */
export interface AssetFilter {
  readonly everyone: boolean;
  readonly type?: number;
  readonly status?: Status;
  /** The code of a state of the asset workflow. */
  readonly state?: string;
  readonly tags: readonly string[];
  readonly team?: string;
  /** What fields have to say, each `field:<code><op><value>` (VALUE-13). */
  readonly fields?: readonly string[];
}

export const ownAssets: AssetFilter = { everyone: false, tags: [] };

/** Whether anything narrows the list beyond whose it is. */
export function isNarrowed({ type, status, state, tags, team, fields = [] }: AssetFilter): boolean {
  return (
    type !== undefined ||
    status !== undefined ||
    state !== undefined ||
    tags.length > 0 ||
    team !== undefined ||
    fields.length > 0
  );
}

/** The filter an address asks for; what it cannot mean is left out. */
export function readAssetFilter(params: Pick<URLSearchParams, 'get' | 'getAll'>): AssetFilter {
  const type = Number(params.get('type'));
  const status = statuses.find((one) => one === params.get('status'));
  const state = params.get('state') ?? '';
  const team = params.get('team');
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
    ...(fields.length === 0 ? {} : { fields: [...new Set(fields)].slice(0, mostFilters) }),
  };
}

/** The address of the library page with this filter. */
export function libraryAddress({
  everyone,
  type,
  status,
  state,
  tags,
  team,
  fields = [],
}: AssetFilter): string {
  const params = new URLSearchParams();
  if (everyone) params.set('of', 'everyone');
  if (type !== undefined) params.set('type', String(type));
  if (status !== undefined) params.set('status', status);
  if (state !== undefined) params.set('state', state);
  for (const tag of tags) params.append('tag', tag);
  if (team !== undefined) params.set('team', team);
  for (const text of fields) params.append('filter', text);
  const text = params.toString();
  return text === '' ? '/assets' : `/assets?${text}`;
}

/** What the service is asked for; `ownRef` is whose library "my own" means. */
export function assetQueryOf(
  { everyone, type, status, state, tags, team, fields = [] }: AssetFilter,
  ownRef: number,
): AssetQuery {
  return {
    ...(everyone ? {} : { owner_ref: ownRef }),
    ...(type === undefined ? {} : { asset_type: type }),
    ...(status === undefined ? {} : { status }),
    ...(state === undefined ? {} : { state }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
    ...(fields.length === 0 ? {} : { filter: [...fields] }),
  };
}
