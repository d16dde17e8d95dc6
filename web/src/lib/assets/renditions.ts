import type { ShownAsset } from '@vitrine/contract/assets';

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

interface Sources {
  readonly src: string;
  readonly srcset: string;
}

/** An address of a picture with its width in pixels. */
interface Candidate {
  readonly width: number;
  readonly address: string;
}

/** Returns the width in pixels of a picture scaled into a square of `max`, never enlarged. */
function containedWidth(width: number, height: number, max: number): number {
  return Math.max(1, Math.round(width * Math.min(1, max / Math.max(width, height))));
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
  const first = rungs[0];
  if (first === undefined) return [];
  const address = (rung: Rung) => addressOf(asset.id, rung.key, renditionMark(asset));
  const { pixel_width: width, pixel_height: height } = asset;
  if (width === null || height === null) return [{ width: 0, address: address(first) }];

  // All sizes above the picture's own contain the same pixels, so only the first is used.
  const byWidth = new Map<number, string>();
  for (const rung of rungs) {
    const wide = containedWidth(width, height, rung.max_dim);
    if (!byWidth.has(wide)) byWidth.set(wide, address(rung));
  }
  return [...byWidth].map(([width, address]) => ({ width, address }));
}

/** Returns the attributes of an image for which the browser chooses among all widths; undefined if there are none. */
export function sourcesOf(
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
  largest = Number.POSITIVE_INFINITY,
): Sources | undefined {
  const candidates = candidatesOf(asset, ladder, addressOf, largest);
  const [first] = candidates;
  if (first === undefined) return undefined;
  const widths = candidates.filter(({ width }) => width > 0);
  return {
    src: first.address,
    srcset: widths.map(({ width, address }) => `${address} ${width}w`).join(', '),
  };
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
