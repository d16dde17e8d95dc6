import type { Client } from '@vitrine/contract/client';
import type { LinkedAsset, LinkView } from '@vitrine/contract/link-visits';
import type { Operations } from '@vitrine/contract/operations';
import { linkedVariant } from '@vitrine/contract/picture-sources';
import type { ViewerItem, ViewerMedia, ViewerSource } from '#lib/viewer/item.ts';
import { downloadAddress, nameOf, originalAddress, subtitleAddress, tileAddress } from './addresses.ts';

/** Returns an asset of a link as a viewer item, with nothing about people and no references to other content. */
export function linkedItem(asset: LinkedAsset): ViewerItem {
  return {
    id: asset.id,
    name: nameOf(asset),
    type: asset.file_extension?.toUpperCase() ?? 'File',
    bytes: asset.file_size_bytes ?? null,
    width: asset.pixel_width,
    height: asset.pixel_height,
    thumbhash: asset.thumbhash,
    pending: asset.processing_status === 'pending',
  };
}

/** The files of a link: the original only if downloads are allowed and there is no watermark. */
export function linkSource(
  client: Client<Operations>,
  token: string,
  view: LinkView,
  find: (id: string) => LinkedAsset | undefined,
): ViewerSource {
  return {
    media: ({ id }, signal) => client.call('getLinkMedia', { params: { token, id }, signal }),
    variant: (item, key) => linkedVariant(token, item.id, key),
    original: (item) =>
      view.allow_download && !view.watermarked && view.presets === undefined
        ? originalAddress(token, item.id)
        : undefined,
    download: (item) => {
      const asset = find(item.id);
      return asset === undefined ? undefined : downloadAddress(token, view, asset);
    },
    unplayable: ({ kind }) => unplayable(view, kind),
    tile: (item, level, column, row) => tileAddress(token, item.id, level, column, row),
    subtitle: (item, lang) => subtitleAddress(token, item.id, lang),
  };
}

/** Returns why a link does not play a film or a sound of which it serves no playable version. */
export function unplayable(
  view: Pick<LinkView, 'watermarked'>,
  kind: ViewerMedia['kind'],
): string | undefined {
  if (kind !== 'video' && kind !== 'audio') return undefined;
  return view.watermarked
    ? 'This link shows pictures with a watermark. Films and sounds cannot have one, so they cannot be played here.'
    : 'This link does not allow downloads, and there is no other version that browsers can play.';
}
