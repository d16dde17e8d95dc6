import type { AssetQuery, ShownAsset } from '@vitrine/contract/assets';

type Status = ShownAsset['status'];

const statuses: readonly Status[] = ['draft', 'active', 'archived'];

/** choices, assets: at most 10 tags narrow a list. */
const mostTags = 10;

/** What the library page is narrowed to. `everyone`: not only one's own. */
export interface AssetFilter {
  readonly everyone: boolean;
  readonly type?: number;
  readonly status?: Status;
  readonly tags: readonly string[];
  readonly team?: string;
}

export const ownAssets: AssetFilter = { everyone: false, tags: [] };

/** Whether anything narrows the list beyond whose it is. */
export function isNarrowed({ type, status, tags, team }: AssetFilter): boolean {
  return type !== undefined || status !== undefined || tags.length > 0 || team !== undefined;
}

/** The filter an address asks for; what it cannot mean is left out. */
export function readAssetFilter(params: Pick<URLSearchParams, 'get' | 'getAll'>): AssetFilter {
  const type = Number(params.get('type'));
  const status = statuses.find((one) => one === params.get('status'));
  const team = params.get('team');
  const tags = params.getAll('tag').filter((tag) => tag !== '' && [...tag].length <= 64);
  return {
    everyone: params.get('of') === 'everyone',
    ...(Number.isSafeInteger(type) && type > 0 && type < 2 ** 31 ? { type } : {}),
    ...(status === undefined ? {} : { status }),
    tags: [...new Set(tags)].slice(0, mostTags),
    ...(team !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(team) ? { team } : {}),
  };
}

/** The address of the library page with this filter. */
export function libraryAddress({ everyone, type, status, tags, team }: AssetFilter): string {
  const params = new URLSearchParams();
  if (everyone) params.set('of', 'everyone');
  if (type !== undefined) params.set('type', String(type));
  if (status !== undefined) params.set('status', status);
  for (const tag of tags) params.append('tag', tag);
  if (team !== undefined) params.set('team', team);
  const text = params.toString();
  return text === '' ? '/assets' : `/assets?${text}`;
}

/** What the service is asked for; `ownRef` is whose library "my own" means. */
export function assetQueryOf(
  { everyone, type, status, tags, team }: AssetFilter,
  ownRef: number,
): AssetQuery {
  return {
    ...(everyone ? {} : { owner_ref: ownRef }),
    ...(type === undefined ? {} : { asset_type: type }),
    ...(status === undefined ? {} : { status }),
    ...(tags.length === 0 ? {} : { tag: [...tags] }),
    ...(team === undefined ? {} : { team_id: team }),
  };
}
