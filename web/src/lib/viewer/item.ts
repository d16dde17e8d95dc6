import routes from 'virtual:first-routes';
import type { Asset, ShownAsset } from '@vitrine/contract/assets';
import type { AssetMedia } from '@vitrine/contract/media';
import { fileType, nameOf } from '#lib/assets/labels.ts';
import { downloadAddress, variantAddress } from '#lib/assets/pictures.ts';
import { renditionMark } from '#lib/assets/renditions.ts';
import type { Service } from '#lib/service.ts';

/** A file in the viewer. */
export interface ViewerItem {
  readonly id: string;
  readonly name: string;
  /** The file type for display: `JPEG`. */
  readonly type: string;
  readonly bytes: number | null;
  /** Size in pixels, for pictures. */
  readonly width: number | null;
  readonly height: number | null;
  readonly thumbhash: string | null;
  readonly pending: boolean;
  /** The asset, if the viewer may show more about it than a link does. */
  readonly asset?: ShownAsset;
  /** The post from which it was opened. */
  readonly postId?: string;
}

/** Media facts of a file, with properties that only some files have. */
export interface ViewerMedia extends Pick<AssetMedia, 'mime' | 'kind' | 'facts' | 'variants'> {
  /** The state of the versions for browsers. `progress` is the fraction that is done. */
  readonly transcoding?: {
    readonly state: 'waiting' | 'running' | 'done' | 'failed';
    readonly progress: number;
  } | null;
  /** The number of the version of the file; absent behind a link. */
  readonly version?: number;
  /** Deep Zoom tiles of a large picture. */
  readonly tiles?: TileFacts | null;
  /** Tracks of a video behind a link. In the library, they are part of the asset. */
  readonly subtitles?: readonly { readonly lang: string; readonly label: string }[];
}

export interface TileFacts {
  readonly width: number;
  readonly height: number;
  readonly tile_size: number;
  readonly overlap: number;
  readonly levels: number;
}

/** The addresses and facts of items; links have their own addresses. */
export interface ViewerSource {
  media(item: ViewerItem, signal: AbortSignal): Promise<ViewerMedia>;
  variant(item: ViewerItem, key: string): string;
  /** A Deep Zoom tile; undefined if there are none. */
  tile(item: ViewerItem, level: number, column: number, row: number): string | undefined;
  /** The original for display in the page; undefined if it is not available. */
  original(item: ViewerItem): string | undefined;
  /** The download address; undefined if downloads are not allowed. */
  download(item: ViewerItem): string | undefined;
  /** Why a film or a sound without a playable version cannot be played here; undefined if there is no special reason. */
  unplayable?(media: ViewerMedia): string | undefined;
  /** A subtitle track as WebVTT. */
  subtitle(item: ViewerItem, lang: string): string;
}

/** Returns an asset as an item, or undefined if its columns are withheld. */
export function itemOf(asset: Asset, postId?: string): ViewerItem[] {
  if (asset.restricted) return [];
  return [
    {
      id: asset.id,
      name: nameOf(asset),
      type: fileType(asset),
      bytes: asset.file_size_bytes,
      width: asset.pixel_width,
      height: asset.pixel_height,
      thumbhash: asset.thumbhash,
      pending: asset.processing_status === 'pending',
      asset,
      ...(postId === undefined ? {} : { postId }),
    },
  ];
}

/** The source of files of the library, for signed-in users and visitors. */
export function librarySource({ client }: Service): ViewerSource {
  return {
    media: (item, signal) => client.call('getAssetMedia', { params: { id: item.id }, signal }),
    variant: (item, key) => {
      const hash = item.asset === undefined ? null : renditionMark(item.asset);
      // Playlists reference streams in the same directory.
      return key.startsWith('hls/')
        ? `/api/v1/assets/${item.id}/variants/${key}`
        : variantAddress(item.id, key, hash);
    },
    tile: (item, level, column, row) =>
      `/api/v1/assets/${item.id}/tiles/${level}/${column}_${row}?v=${item.asset === undefined ? '' : (renditionMark(item.asset) ?? '')}`,
    original: (item) => {
      const hash = item.asset?.file_hash;
      return hash == null ? undefined : `/api/v1${routes.getAssetFile[1].replace('{id}', item.id)}?v=${hash}`;
    },
    download: (item) => (item.asset?.file_hash == null ? undefined : downloadAddress(item.id)),
    subtitle: (item, lang) => `/api/v1/assets/${item.id}/subtitles/${encodeURIComponent(lang)}`,
  };
}
