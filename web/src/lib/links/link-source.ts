import type { LinkedAsset, LinkView } from '@vitrine/contract/links';
import type { ViewerItem, ViewerMedia, ViewerSource } from '../viewer/item.ts';
import { downloadAddress, nameOf, originalAddress, rungs, variantAddress } from './addresses.ts';

/** An asset of a link as the viewer takes it: nothing about people, and nothing that leads elsewhere. */
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

/** The types that only some part of a media type tells. */
function kindOf(mime: string): ViewerMedia['kind'] {
  const [family] = mime.split('/');
  if (
    family === 'image' ||
    family === 'video' ||
    family === 'audio' ||
    family === 'font' ||
    family === 'model'
  )
    return family;
  return family === 'text' || mime === 'application/pdf' ? 'document' : 'other';
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html',
  json: 'application/json',
  glb: 'model/gltf-binary',
};

/** A file of a link in the shape that the library uses. */
function mediaOf(asset: LinkedAsset): ViewerMedia {
  const { media_type: mime, pixel_width: width, pixel_height: height } = asset;
  const variants = asset.variants.map((key) => {
    const type = types[key.split('.').at(-1) ?? ''] ?? 'image/webp';
    const edge = rungs.find((rung) => rung.key === key)?.edge;
    if (edge === undefined || width === null || height === null) return { key, type, bytes: 0 };
    const scale = Math.min(1, edge / Math.max(width, height));
    const size = (pixels: number) => Math.max(1, Math.round(pixels * scale));
    return { key, type, bytes: 0, width: size(width), height: size(height) };
  });
  return { mime, kind: kindOf(mime), facts: {}, variants };
}

/** Bytes as a link gives them: the original only where it may be downloaded and is not watermarked. */
export function linkSource(
  token: string,
  view: LinkView,
  find: (id: string) => LinkedAsset | undefined,
): ViewerSource {
  return {
    media: async (item) => {
      const asset = find(item.id);
      if (asset === undefined) throw new Error('the link shows no such file');
      return mediaOf(asset);
    },
    variant: (item, key) => variantAddress(token, item.id, key),
    original: (item) =>
      view.allow_download && !view.watermarked ? originalAddress(token, item.id) : undefined,
    download: (item) => {
      const asset = find(item.id);
      return asset === undefined ? undefined : downloadAddress(token, view, asset);
    },
    tile: () => undefined,
    subtitle: () => undefined,
  };
}
