import routes from 'virtual:first-routes';
import type { AssetVersion } from '@vitrine/contract/versions';

type Version = Pick<AssetVersion, 'number' | 'file_hash'>;

/** Returns the address of a rendition of a version. */
export function versionVariant(assetId: string, key: string, { number, file_hash }: Version): string {
  const path = routes.getAssetVariant[1].replace('{id}', assetId).replace('{key}', key);
  return `/api/v1${path}?version=${number}&v=${file_hash}`;
}

/** Returns the address of the original of a version. */
export function versionFile(assetId: string, { number, file_hash }: Version): string {
  return `/api/v1${routes.getAssetFile[1].replace('{id}', assetId)}?version=${number}&v=${file_hash}`;
}

/** Returns the download address of the original of a version. */
export function versionDownload(assetId: string, { number }: Version): string {
  return `/api/v1${routes.getAssetFile[1].replace('{id}', assetId)}?version=${number}&download=true`;
}
