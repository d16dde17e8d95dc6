import type { AssetVersion } from '@vitrine/contract/versions';
import { versionFile, versionVariant } from '#lib/versions/addresses.ts';
import type { ViewerItem, ViewerMedia, ViewerSource } from '#lib/viewer/item.ts';
import { levelsOf, pagesOf } from '#lib/viewer/stage.ts';

/** How one of two files is shown. */
export interface Shown {
  readonly kind: 'film' | 'sound' | 'picture';
  readonly address: string;
}

/** The comparison is at most 1280 pixels wide; this is sharp when zoomed in. */
const largest = 4096;

/** What is compared: a file in one of its versions, the current one if it has no others. */
export interface Compared {
  readonly item: ViewerItem;
  readonly media: ViewerMedia;
  readonly version: AssetVersion | undefined;
}

/** Returns the picture of a page or the largest one of a file; undefined if it has none. */
function pictureOf({ item, media, version }: Compared, source: ViewerSource, page: number, key: string) {
  const isPaged = pagesOf(media).length > 0;
  if (version !== undefined && !version.current)
    return versionVariant(item.id, isPaged ? `page-${page}` : key, version);
  if (isPaged) return source.variant(item, `page-${page}`);
  const address = { variant: (key: string) => source.variant(item, key), original: source.original(item) };
  const levels = levelsOf(media, item, address);
  return (levels.filter(({ width }) => width <= largest).at(-1) ?? levels[0])?.url;
}

/** Returns how a file is shown beside another; undefined if there is nothing to compare. `key` names a large rendition. */
export function shownAs(
  compared: Compared,
  source: ViewerSource,
  { page, key }: { page: number; key: string },
): Shown | undefined {
  const { item, media, version } = compared;
  const original =
    version !== undefined && !version.current ? versionFile(item.id, version) : source.original(item);
  if (media.kind === 'video' && original !== undefined) return { kind: 'film', address: original };
  if (media.kind === 'audio')
    return original === undefined ? undefined : { kind: 'sound', address: original };
  const address = pictureOf(compared, source, page, key);
  return address === undefined ? undefined : { kind: 'picture', address };
}

/** Returns the key of the largest rendition of whole pictures that a comparison needs. */
export function largeKey(ladder: readonly { key: string; fit: string; max_dim: number }[]): string {
  return (
    ladder
      .filter(({ fit, max_dim }) => fit === 'contain' && max_dim <= largest)
      .sort((a, b) => a.max_dim - b.max_dim)
      .at(-1)?.key ?? 'preview'
  );
}
