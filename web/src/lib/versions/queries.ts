import { keepPreviousData, queryOptions } from '@tanstack/svelte-query';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { AssetVersion } from '@vitrine/contract/versions';
import { showChanged } from '#lib/assets/queries.ts';
import { readAtEveryVisit, type Service } from '#lib/service.ts';

/** Reads the versions of an asset, newest first; again whenever the asset changes. */
export function versionsQuery(
  { client }: Service,
  { id, updated_at }: Pick<ShownAsset, 'id' | 'updated_at'>,
) {
  return queryOptions<readonly AssetVersion[]>({
    queryKey: ['versions', id, updated_at],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await client.call('listAssetVersions', { params: { id }, signal })).items,
  });
}

/** Shows the present state of an asset and its versions everywhere. */
export async function showVersions(service: Service, id: string): Promise<void> {
  const asset = await service.client.call('getAsset', { params: { id } });
  await service.queries.invalidateQueries({ queryKey: ['versions', id] });
  if (!asset.restricted) await showChanged(service, asset);
  // The page polls while previews are being made.
  await service.queries.invalidateQueries({ queryKey: ['asset', id] });
}

export async function restoreVersion(service: Service, id: string, number: number): Promise<void> {
  await service.client.call('restoreAssetVersion', { params: { id, number } });
  await showVersions(service, id);
}

export async function deleteVersion(service: Service, id: string, number: number): Promise<void> {
  await service.client.call('deleteAssetVersion', { params: { id, number } });
  await showVersions(service, id);
}

/** Reads how many earlier versions files keep. */
export function keptQuery({ client }: Service) {
  return queryOptions({
    queryKey: ['admin', 'versions'],
    staleTime: readAtEveryVisit,
    queryFn: ({ signal }) => client.call('getVersionSettings', { signal }),
  });
}
