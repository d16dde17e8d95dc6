import type { ShownAsset } from '@vitrine/contract/assets';

/** One rung of the preview ladder, as `GET /previews` gives it. */
export interface Rung {
  readonly key: string;
  readonly fit: 'cover' | 'contain';
  readonly max_dim: number;
}

/** The ladder of a new install, used until the configured one has arrived (MEDIA-2). */
export const usualLadder: readonly Rung[] = [
  { key: 'col', fit: 'cover', max_dim: 320 },
  { key: 'preview', fit: 'contain', max_dim: 1024 },
  { key: 'screen', fit: 'contain', max_dim: 2048 },
  { key: 'hires', fit: 'contain', max_dim: 4096 },
];

type AddressOf = (assetId: string, key: string, hash: string | null) => string;

interface Sources {
  readonly src: string;
  readonly srcset: string;
}

/** One address of a picture, with how many pixels wide it is there. */
interface Candidate {
  readonly width: number;
  readonly address: string;
}

/** Width in pixels of a picture inside a square of `max`, never enlarged. */
function containedWidth(width: number, height: number, max: number): number {
  return Math.max(1, Math.round(width * Math.min(1, max / Math.max(width, height))));
}

/**
 * An asset's whole picture in every width there is, smallest first, or in one of unknown width (0); empty while there
 * is nothing to show. `largest` leaves out rungs above that edge, except when nothing else is left.
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
  const address = (rung: Rung) => addressOf(asset.id, rung.key, asset.file_hash);
  const { pixel_width: width, pixel_height: height } = asset;
  if (width === null || height === null) return [{ width: 0, address: address(first) }];

  // Rungs above the picture's own size hold the same pixels: the first of them is enough.
  const byWidth = new Map<number, string>();
  for (const rung of rungs) {
    const wide = containedWidth(width, height, rung.max_dim);
    if (!byWidth.has(wide)) byWidth.set(wide, address(rung));
  }
  return [...byWidth].map(([width, address]) => ({ width, address }));
}

/** What an image is given where the browser is to choose among all widths; undefined while there is nothing to show. */
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

/** What an image is given that is so many device pixels wide: the smallest that is sharp, or the largest there is. */
export function sourceAt(
  deviceWidth: number,
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
  largest = Number.POSITIVE_INFINITY,
): Sources | undefined {
  const candidates = candidatesOf(asset, ladder, addressOf, largest);
  // A tenth too few cannot be seen.
  const chosen = candidates.find(({ width }) => width >= deviceWidth * 0.9) ?? candidates.at(-1);
  return chosen === undefined ? undefined : { src: chosen.address, srcset: '' };
}

/** The address of the small square picture, if there is one. */
export function squareOf(
  asset: ShownAsset,
  ladder: readonly Rung[],
  addressOf: AddressOf,
): string | undefined {
  const rung = ladder.find((one) => one.fit === 'cover');
  if (rung === undefined || !asset.preview_available) return undefined;
  return addressOf(asset.id, rung.key, asset.file_hash);
}
