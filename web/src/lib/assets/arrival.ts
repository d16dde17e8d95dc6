import type { Asset } from '@vitrine/contract/assets';

/** Returns whether its renditions are still being made. */
export function isPending(asset: Asset): boolean {
  return !asset.restricted && asset.processing_status === 'pending';
}

/** How long after its upload a page waits for the metadata of a file, in milliseconds. */
const METADATA_WITHIN_MS = 60_000;

/**
 * Returns after how many milliseconds an asset and its values are read again; false if nothing is expected. Its metadata
 * may come after its renditions, because another job reads them.
 */
export function rereadAfter(asset: Asset, now = Date.now()): number | false {
  if (asset.restricted) return false;
  // Clocks differ.
  const isNew = Math.abs(now - Date.parse(asset.created_at)) < METADATA_WITHIN_MS;
  return isNew || isPending(asset) ? 2000 : false;
}
