import type { ShownAsset } from '@vitrine/contract/assets';
import { type Candidate, candidatesIn, type Sources, sourcesIn } from '@vitrine/contract/picture-sources';

/** One size of the preview ladder, as returned by `GET /previews`. */
export interface Rung {
  readonly key: string;
  readonly fit: 'cover' | 'contain';
  readonly max_dim: number;
}

/** The default ladder, used until the configured one is loaded (MEDIA-2). */
export const usualLadder: readonly Rung[] = [
  { key: 'col', fit: 'cover', max_dim: 320 },
  { key: 'preview', fit: 'contain', max_dim: 1024 },
  { key: 'screen', fit: 'contain', max_dim: 2048 },
  { key: 'hires', fit: 'contain', max_dim: 4096 },
];

type AddressOf = (assetId: string, key: string, hash: string | null) => string;

/**
 * Returns what tells the renditions of an asset apart in addresses: the hash of its file. While a new version is prepared,
 * the renditions of the version before are shown, whose address must differ from that of the later ones.
 */
export function renditionMark({
  file_hash: hash,
  processing_status,
}: Pick<ShownAsset, 'file_hash' | 'processing_status'>): string | null {
  return hash !== null && processing_status === 'pending' ? `${hash}-pending` : hash;
}

/**
 * Returns the uncropped renditions of an asset, smallest first, or one of unknown width (0); empty if there are none.
 * `largest` excludes sizes above that edge unless there is no other.
 */
function candidatesOf(
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
  largest: number,
): Candidate[] {
  if (!asset.ladder_available) return [];
  const contained = ladder.filter((rung) => rung.fit === 'contain').sort((a, b) => a.max_dim - b.max_dim);
  const fitting = contained.filter((rung) => rung.max_dim <= largest);
  const rungs = fitting.length > 0 ? fitting : contained.slice(0, 1);
  const sizes = rungs.map(({ key, max_dim: edge }) => ({
    edge,
    address: addressOf(asset.id, key, renditionMark(asset)),
  }));
  return candidatesIn(asset, sizes);
}

/** Returns the attributes of an image for which the browser chooses among all widths; undefined if there are none. */
export function sourcesOf(
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
  largest = Number.POSITIVE_INFINITY,
): Sources | undefined {
  return sourcesIn(candidatesOf(asset, ladder, addressOf, largest));
}

/**
 * Returns the attributes of an image with this width in device pixels: the smallest sharp rendition, or the largest.
 */
export function sourceAt(
  deviceWidth: number,
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
  largest = Number.POSITIVE_INFINITY,
): Sources | undefined {
  const candidates = candidatesOf(asset, ladder, addressOf, largest);
  // A width that is 10 % too small is not visible.
  const chosen = candidates.find(({ width }) => width >= deviceWidth * 0.9) ?? candidates.at(-1);
  return chosen === undefined ? undefined : { src: chosen.address, srcset: '' };
}

/** Returns the address of the small square picture, if there is one. */
export function squareOf(
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
): string | undefined {
  const rung = ladder.find((variant) => variant.fit === 'cover');
  if (rung === undefined || !asset.preview_available) return undefined;
  return addressOf(asset.id, rung.key, renditionMark(asset));
}
