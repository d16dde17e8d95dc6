import type { DownloadFormat } from '@vitrine/contract/limits';
import type { LinkedAsset, LinkView } from '@vitrine/contract/link-visits';
import { linkedVariant, linkSizes } from '@vitrine/contract/picture-sources';

/** The forms of a link. */
type LinkForms = NonNullable<LinkView['presets']>;

function below(token: string, assetId: string): string {
  return `/api/v1/links/${encodeURIComponent(token)}/assets/${assetId}`;
}

/** Returns the address of a Deep Zoom tile, for a link that allows originals. */
export function tileAddress(
  token: string,
  assetId: string,
  level: number,
  column: number,
  row: number,
): string {
  return `${below(token, assetId)}/tiles/${level}/${column}_${row}`;
}

/** Returns the address of a subtitle track. */
export function subtitleAddress(token: string, assetId: string, lang: string): string {
  return `${below(token, assetId)}/subtitles/${encodeURIComponent(lang)}`;
}

/** Returns the address of the original, for a link that allows originals. */
export function originalAddress(token: string, assetId: string): string {
  return `${below(token, assetId)}/file`;
}

/** Returns the address of the archive with all files of the link, converted by a preset if one is given. */
export function archiveAddress(token: string, preset?: string): string {
  const query = preset === undefined ? '' : `?preset=${preset}`;
  return `/api/v1/links/${encodeURIComponent(token)}/archive${query}`;
}

/** Whether a file of this media type can probably be made into the format; the service decides. */
function isFitting(format: DownloadFormat, mediaType: string): boolean {
  if (format === 'original') return true;
  if (format === 'pdf') return mediaType === 'application/pdf';
  return mediaType.startsWith(format === 'mp4' ? 'video/' : 'image/');
}

/** Returns the forms of the link in which an asset can be downloaded. */
export function formsOf({ allow_download, watermarked, presets }: LinkView, asset: LinkedAsset): LinkForms {
  if (!allow_download || watermarked || presets === undefined) return [];
  return presets.filter(({ format }) => isFitting(format, asset.media_type));
}

/** Returns the address of a file in a form of the link. */
export function formAddress(token: string, assetId: string, preset: string): string {
  return `${originalAddress(token, assetId)}?preset=${preset}`;
}

/**
 * Returns the download address of an asset: its original, its first form on a link with forms, or its largest rendition
 * if originals are not allowed.
 */
export function downloadAddress(token: string, view: LinkView, asset: LinkedAsset): string | undefined {
  if (!view.allow_download) return undefined;
  // A watermark is drawn into pictures only.
  if (view.watermarked && /^(?:video|audio)\//.test(asset.media_type)) return undefined;
  if (!view.watermarked && view.presets !== undefined) {
    const [form] = formsOf(view, asset);
    return form === undefined ? undefined : formAddress(token, asset.id, form.key);
  }
  if (!view.watermarked) return `${originalAddress(token, asset.id)}?download=true`;
  const key = linkSizes.findLast((rung) => asset.variants.includes(rung.key))?.key;
  return key === undefined ? undefined : `${linkedVariant(token, asset.id, key)}?download=true`;
}

/** Returns the title of an asset for display. */
export function nameOf(asset: LinkedAsset): string {
  return asset.title.trim() || 'Untitled';
}
