/**
 * The addresses and widths of the first pictures of pages. Both sides use them: the service names the pictures in the page
 * (APP-5), and the browser would load others if the page's scripts chose differently.
 */

/** A picture in its full size, in pixels; null if unknown. */
export interface PixelSize {
  readonly pixel_width: number | null;
  readonly pixel_height: number | null;
}

/** A size of a picture with its longest edge. */
interface SizeOf {
  readonly edge: number;
  readonly address: string;
}

/** An address of a picture with its width in pixels, or 0 if that is unknown. */
export interface Candidate {
  readonly width: number;
  readonly address: string;
}

/** The attributes of an image for which the browser chooses among all widths; `srcset` is empty if they are unknown. */
export interface Sources {
  readonly src: string;
  readonly srcset: string;
}

/** Returns the width in pixels of a picture scaled into a square of `edge`, never enlarged. */
function containedWidth(width: number, height: number, edge: number): number {
  return Math.max(1, Math.round(width * Math.min(1, edge / Math.max(width, height))));
}

/** Returns the sizes of a picture with their widths. All sizes above its own contain the same pixels: only the first is used. */
export function candidatesIn(picture: PixelSize, sizes: readonly SizeOf[]): Candidate[] {
  const { pixel_width: width, pixel_height: height } = picture;
  const [first] = sizes;
  if (first === undefined) return [];
  if (width === null || height === null) return [{ width: 0, address: first.address }];
  const byWidth = new Map<number, string>();
  for (const { edge, address } of sizes) {
    const wide = containedWidth(width, height, edge);
    if (!byWidth.has(wide)) byWidth.set(wide, address);
  }
  return [...byWidth].map(([width, address]) => ({ width, address }));
}

/** Returns the attributes of an image; undefined without a size. */
export function sourcesIn(candidates: readonly Candidate[]): Sources | undefined {
  const [first] = candidates;
  if (first === undefined) return undefined;
  const widths = candidates.filter(({ width }) => width > 0);
  return {
    src: first.address,
    srcset: widths.map(({ width, address }) => `${address} ${width}w`).join(', '),
  };
}

/** Returns the aspect ratio of what shows a picture on the page of a post on a phone. */
export function stageRatioIn({ pixel_width: width, pixel_height: height }: PixelSize): number {
  return Math.min(1.8, Math.max(0.75, width === null || height === null ? 1 : width / height));
}

/** Returns the width at which the page of a post shows a picture of known size, as a `sizes` attribute. */
export function postPictureSizes(picture: PixelSize): string {
  const ratio = (picture.pixel_width ?? 1) / (picture.pixel_height ?? 1);
  const share = Math.min(100, (100 * ratio) / stageRatioIn(picture)).toFixed(1);
  return `(width >= 64rem) min(100vw - 27rem, ${(90 * ratio).toFixed(1)}vh), min(${share}vw, ${(72 * ratio).toFixed(1)}vh)`;
}

/** The sizes that pages of links show, with their longest edges, smallest first. */
export const linkSizes = [
  { key: 'preview', edge: 1024 },
  { key: 'screen', edge: 2048 },
  { key: 'hires', edge: 4096 },
] as const;

/** The first pictures of the page of a link, which are shown at once and without a fade. */
export const FIRST_LINKED = 3;

interface LinkedPicture extends PixelSize {
  readonly id: string;
  readonly variants: readonly string[];
}

/** Returns the address of a rendition on the page of a link. */
export function linkedVariant(token: string, assetId: string, key: string): string {
  return `/api/v1/links/${encodeURIComponent(token)}/assets/${assetId}/variants/${key}`;
}

/** Returns the picture of a link in all widths; undefined if there are none. A picture that is alone may be larger. */
export function linkedSources(token: string, asset: LinkedPicture, isAlone: boolean): Sources | undefined {
  const largest = isAlone ? 4096 : 2048;
  const sizes = linkSizes
    .filter(({ key, edge }) => asset.variants.includes(key) && edge <= largest)
    .map(({ key, edge }) => ({ edge, address: linkedVariant(token, asset.id, key) }));
  return sourcesIn(candidatesIn(asset, sizes));
}

/** Returns the aspect ratio of a tile of a link: the picture's own within limits, or square if unknown. */
export function linkedRatio({ pixel_width: width, pixel_height: height }: PixelSize): number {
  if (width === null || height === null) return 1;
  return Math.min(3, Math.max(0.5, width / height));
}

/** Returns the width of a tile of a link as a `sizes` attribute, before the visitor chooses a layout. */
export function linkedWidths(picture: PixelSize, isAlone: boolean): string {
  const ratio = linkedRatio(picture);
  return isAlone ? '100vw' : `(width < 40rem) ${Math.round(ratio * 11)}rem, ${Math.round(ratio * 22)}rem`;
}
