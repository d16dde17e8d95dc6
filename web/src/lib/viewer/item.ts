import routes from 'virtual:routes';
import type { Asset, ShownAsset } from '@vitrine/contract/assets';
import type { AssetMedia } from '@vitrine/contract/media';
import { fileType, nameOf } from '#lib/assets/labels.ts';
import { downloadAddress, variantAddress } from '#lib/assets/pictures.ts';
import type { Service } from '#lib/service.ts';

/** One file in the viewer. */
export interface ViewerItem {
  readonly id: string;
  readonly name: string;
  /** The file type as people write it, `JPEG`. */
  readonly type: string;
  readonly bytes: number | null;
  /** Pixels, for pictures. */
  readonly width: number | null;
  readonly height: number | null;
  readonly thumbhash: string | null;
  readonly pending: boolean;
  /** The asset behind it, where the viewer may say more about it than a link does. */
  readonly asset?: ShownAsset;
  /** The post that it was opened from. */
  readonly postId?: string;
}

/** What is known of a file: as the library tells it, with what only some files have. */
export interface ViewerMedia extends Pick<AssetMedia, 'mime' | 'kind' | 'facts' | 'variants'> {
  /** How far the versions for browsers are. `progress` is the part that is done. */
  readonly transcoding?: {
    readonly state: 'waiting' | 'running' | 'done' | 'failed';
    readonly progress: number;
  } | null;
  /** Deep Zoom tiles of a large picture. */
  readonly tiles?: TileFacts | null;
  /** Tracks of a link's video; those of the library are part of its asset. */
  readonly subtitles?: readonly { readonly lang: string; readonly label: string }[];
}

export interface TileFacts {
  readonly width: number;
  readonly height: number;
  readonly tile_size: number;
  readonly overlap: number;
  readonly levels: number;
}

/** Where the bytes of items are found, and what is known of them: links have their own addresses. */
export interface ViewerSource {
  media(item: ViewerItem, signal: AbortSignal): Promise<ViewerMedia>;
  variant(item: ViewerItem, key: string): string;
  /** A Deep Zoom tile; undefined where there are none. */
  tile(item: ViewerItem, level: number, column: number, row: number): string | undefined;
  /** The original, to be shown in the page; undefined where originals are not given. */
  original(item: ViewerItem): string | undefined;
  /** The file to be saved; undefined where downloads are not allowed. */
  download(item: ViewerItem): string | undefined;
  /** A subtitle track as WebVTT. */
  subtitle(item: ViewerItem, lang: string): string;
}

/** An asset as an item, or nothing when its columns are withheld. */
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

/** Bytes of the library, as the signed-in caller or a visitor is given them. */
export function librarySource({ client }: Service): ViewerSource {
  return {
    media: (item, signal) => client.call('getAssetMedia', { params: { id: item.id }, signal }),
    variant: (item, key) => {
      const hash = item.asset?.file_hash ?? null;
      // Playlists name their streams beside themselves.
      return key.startsWith('hls/')
        ? `/api/v1/assets/${item.id}/variants/${key}`
        : variantAddress(item.id, key, hash);
    },
    tile: (item, level, column, row) =>
      `/api/v1/assets/${item.id}/tiles/${level}/${column}_${row}?v=${item.asset?.file_hash ?? ''}`,
    original: (item) => {
      const hash = item.asset?.file_hash;
      return hash == null ? undefined : `/api/v1${routes.getAssetFile[1].replace('{id}', item.id)}?v=${hash}`;
    },
    download: (item) => (item.asset?.file_hash == null ? undefined : downloadAddress(item.id)),
    subtitle: (item, lang) => `/api/v1/assets/${item.id}/subtitles/${encodeURIComponent(lang)}`,
  };
}
