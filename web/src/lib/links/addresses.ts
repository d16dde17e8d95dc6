import type { LinkedAsset, LinkView } from '@vitrine/contract/link-visits';

/** The whole-picture rungs of the ladder with their longest edges, smallest first. */
const rungs = [
  { key: 'preview', edge: 1024 },
  { key: 'screen', edge: 2048 },
  { key: 'hires', edge: 4096 },
] as const;

function below(token: string, assetId: string): string {
  return `/api/v1/links/${encodeURIComponent(token)}/assets/${assetId}`;
}

/** Where a rendition is. */
export function variantAddress(token: string, assetId: string, key: string): string {
  return `${below(token, assetId)}/variants/${key}`;
}

/** Where a Deep Zoom tile is, on a link that gives originals. */
export function tileAddress(
  token: string,
  assetId: string,
  level: number,
  column: number,
  row: number,
): string {
  return `${below(token, assetId)}/tiles/${level}/${column}_${row}`;
}

/** Where a subtitle track is. */
export function subtitleAddress(token: string, assetId: string, lang: string): string {
  return `${below(token, assetId)}/subtitles/${encodeURIComponent(lang)}`;
}

/** Where the original is, on a link that gives originals. */
export function originalAddress(token: string, assetId: string): string {
  return `${below(token, assetId)}/file`;
}

/** Where the archive of everything is. */
export function archiveAddress(token: string): string {
  return `/api/v1/links/${encodeURIComponent(token)}/archive`;
}

/** Where a visitor downloads an asset from: its original, or its largest rendition where originals are not given. */
export function downloadAddress(token: string, view: LinkView, asset: LinkedAsset): string | undefined {
  if (!view.allow_download) return undefined;
  if (!view.watermarked) return `${originalAddress(token, asset.id)}?download=true`;
  const key = rungs.findLast((rung) => asset.variants.includes(rung.key))?.key;
  return key === undefined ? undefined : `${variantAddress(token, asset.id, key)}?download=true`;
}

/** The picture in every width there is, for an image element; undefined while there is nothing to show. */
export function picturesOf(
  token: string,
  asset: LinkedAsset,
  largest: number,
): { src: string; srcset: string | undefined } | undefined {
  const there = rungs.filter(({ key, edge }) => asset.variants.includes(key) && edge <= largest);
  const [first] = there;
  if (first === undefined) return undefined;
  const address = (key: string) => variantAddress(token, asset.id, key);
  const { pixel_width: width, pixel_height: height } = asset;
  if (width === null || height === null) return { src: address(first.key), srcset: undefined };
  const widths = new Map<number, string>();
  for (const { key, edge } of there) {
    const wide = Math.max(1, Math.round(width * Math.min(1, edge / Math.max(width, height))));
    if (!widths.has(wide)) widths.set(wide, address(key));
  }
  const srcset = [...widths].map(([wide, at]) => `${at} ${wide}w`).join(', ');
  return { src: address(first.key), srcset };
}

/** The shape a tile is given: the picture's own, within limits, and square for what has none. */
export function ratioOf({ pixel_width: width, pixel_height: height }: LinkedAsset): number {
  if (width === null || height === null) return 1;
  return Math.min(3, Math.max(0.5, width / height));
}

/** What an asset is called on the page. */
export function nameOf(asset: LinkedAsset): string {
  return asset.title.trim() || 'Untitled';
}
