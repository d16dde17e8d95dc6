import routes from 'virtual:routes';
import { createContext } from 'svelte';
import type { DrawPlaceholder } from './placeholder.ts';
import type { Rung } from './renditions.ts';

/** What showing a picture takes: the configured ladder and the drawer of placeholders. */
export interface Pictures {
  /** Empty until the server has said which ladder it keeps. */
  readonly ladder: readonly Rung[];
  readonly placeholder: DrawPlaceholder;
}

export const [getPictures, setPictures] = createContext<Pictures>();

function bytesAddress(path: string, assetId: string, key: string, hash: string | null): string {
  const filled = path.replace('{id}', encodeURIComponent(assetId)).replace('{key}', encodeURIComponent(key));
  return `/api/v1${filled}${hash === null ? '' : `?v=${hash}`}`;
}

/** Where a rendition is found; the hash makes the address good for ever. */
export function variantAddress(assetId: string, key: string, hash: string | null): string {
  return bytesAddress(routes.getAssetVariant[1], assetId, key, hash);
}

/** Where the original bytes are found, to be saved as a file. */
export function downloadAddress(assetId: string): string {
  return `${bytesAddress(routes.getAssetFile[1], assetId, '', null)}?download=true`;
}
