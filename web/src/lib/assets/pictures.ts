import routes from 'virtual:first-routes';
import { createContext } from 'svelte';
import type { DrawPlaceholder } from './placeholder.ts';
import type { Rung } from './renditions.ts';

/** What is needed to show pictures: the configured ladder and the placeholder renderer. */
export interface Pictures {
  /** Empty until the ladder is loaded. */
  readonly ladder: readonly Rung[];
  readonly placeholder: DrawPlaceholder;
}

/** Pages of share links have no pictures of their own. */
export const [getPictures, setPictures, hasPictures] = createContext<Pictures>();

function bytesAddress(path: string, assetId: string, key: string, hash: string | null): string {
  const filled = path.replace('{id}', encodeURIComponent(assetId)).replace('{key}', encodeURIComponent(key));
  return `/api/v1${filled}${hash === null ? '' : `?v=${hash}`}`;
}

/** Returns the address of a rendition. With the hash, it can be cached permanently. */
export function variantAddress(assetId: string, key: string, hash: string | null): string {
  return bytesAddress(routes.getAssetVariant[1], assetId, key, hash);
}

/** Returns the address of the file in the form of a preset. */
export function formAddress(assetId: string, preset: string): string {
  return `${bytesAddress(routes.getAssetFile[1], assetId, '', null)}?preset=${preset}`;
}

/** Returns the download address of the original. */
export function downloadAddress(assetId: string): string {
  return `${bytesAddress(routes.getAssetFile[1], assetId, '', null)}?download=true`;
}
