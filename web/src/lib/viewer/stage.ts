import { type RenditionKey, type RenditionName, renditionNameOf } from '@vitrine/contract/renditions';
import type { ViewerItem, ViewerMedia } from './item.ts';

/** The kinds of stages that show files. */
export type Stage =
  | 'image'
  | 'animation'
  | 'video'
  | 'audio'
  | 'pages'
  | 'text'
  | 'model'
  | 'font'
  | 'archive'
  | 'file';

/** One size of a complete picture. */
export interface Level {
  readonly width: number;
  readonly height: number;
  readonly url: string;
}

/** Types that every current browser displays from the original bytes. */
const drawnByBrowsers = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif']);

/** The maximum number of pixels of an original that is decoded as a whole; larger ones need tiles. */
const mostPixels = 100_000_000;

/** Returns whether a file has this rendition, or this size of the default ladder. */
export function hasRendition(media: ViewerMedia, key: RenditionKey | 'preview' | 'screen'): boolean {
  return media.variants.some((variant) => variant.key === key);
}

/** The stage that a rendition opens a file in; null if it only adds to a stage. */
const stageOfRendition: Readonly<Record<RenditionName, Stage | null>> = {
  poster: null,
  'sprites.jpg': null,
  'sprites.vtt': null,
  'hls/master.m3u8': 'video',
  'hls/{name}': null,
  'motion.mp4': null,
  'film.mp4': null,
  'audio.m4a': 'audio',
  'waveform.png': null,
  'waveform.json': null,
  'page-{n}': 'pages',
  'text.html': 'text',
  'contents.json': 'archive',
  'model.glb': 'model',
  tiles: null,
};

/** Returns the rendition with the film of a photograph: of a live photo, or of a motion photo; null if it has none. */
export function filmOf(media: ViewerMedia): 'film.mp4' | 'motion.mp4' | null {
  if (media.facts.motion !== true) return null;
  return (['film.mp4', 'motion.mp4'] as const).find((key) => hasRendition(media, key)) ?? null;
}

type Variant = ViewerMedia['variants'][number];

/** Returns whether a rendition is a size of the preview ladder, which shows the complete picture. */
function isPicture({ key, type, width, height }: Variant): boolean {
  return (
    type.startsWith('image/') && renditionNameOf(key) === null && width !== undefined && height !== undefined
  );
}

/** Returns the numbers of the pages that have a rendition, in order. */
export function pagesOf({ variants }: ViewerMedia): Variant[] {
  const numberOf = (key: string) => Number(/^page-(\d+)$/.exec(key)?.[1] ?? 0);
  return variants.filter(({ key }) => numberOf(key) > 0).sort((a, b) => numberOf(a.key) - numberOf(b.key));
}

/** Returns the stage for a file, depending on what is currently available. */
export function stageOf(media: ViewerMedia, hasOriginal: boolean): Stage {
  const opens = (stage: Stage) =>
    media.variants.some(({ key }) => {
      const name = renditionNameOf(key);
      return name !== null && stageOfRendition[name] === stage;
    });
  if (media.kind === 'video' && (hasOriginal || opens('video'))) return 'video';
  if (media.kind === 'audio' && (hasOriginal || opens('audio'))) return 'audio';
  if (opens('model') || (media.mime === 'model/gltf-binary' && hasOriginal)) return 'model';
  if (opens('text')) return 'text';
  if (opens('archive')) return 'archive';
  if (media.kind === 'font' && hasOriginal) return 'font';
  if (pagesOf(media).length > (media.kind === 'document' ? 0 : 1)) return 'pages';
  if (media.facts.animated === true && hasOriginal && drawnByBrowsers.has(media.mime)) return 'animation';
  return media.variants.some(isPicture) ? 'image' : 'file';
}

/**
 * Returns the complete picture in all available sizes, smallest first: the renditions of its aspect ratio, and the
 * original if browsers display it and it is larger.
 */
export function levelsOf(
  media: ViewerMedia,
  item: Pick<ViewerItem, 'width' | 'height'>,
  address: { readonly variant: (key: string) => string; readonly original: string | undefined },
): Level[] {
  const pictures = media.variants.filter(isPicture);
  const largest = Math.max(0, ...pictures.map(({ width = 0 }) => width));
  const shape = shapeOf(item, pictures);
  const levels = new Map<number, Level>();
  for (const { key, width = 0, height = 0 } of pictures) {
    // Excludes the square crop for lists. Small renditions are rounded to whole pixels.
    const off = Math.abs(width / height / shape - 1);
    if (off > 0.02 && Math.abs(width - height * shape) > 1.5 && Math.abs(height - width / shape) > 1.5)
      continue;
    if (!levels.has(width)) levels.set(width, { width, height, url: address.variant(key) });
  }
  const { width, height } = item;
  const isDrawn = address.original !== undefined && drawnByBrowsers.has(media.mime);
  if (isDrawn && width !== null && height !== null && width > largest && width * height <= mostPixels)
    levels.set(width, { width, height, url: address.original });
  return [...levels.values()].sort((a, b) => a.width - b.width);
}

function shapeOf(
  { width, height }: Pick<ViewerItem, 'width' | 'height'>,
  pictures: readonly Variant[],
): number {
  if (width !== null && height !== null) return width / height;
  const largest = pictures.reduce<Variant | undefined>(
    (best, variant) =>
      (variant.width ?? 0) * (variant.height ?? 0) > (best?.width ?? 0) * (best?.height ?? 0)
        ? variant
        : best,
    undefined,
  );
  return (largest?.width ?? 1) / (largest?.height ?? 1);
}

/** Returns the smallest level that is sharp in a container, in device pixels; otherwise the largest. */
export function levelFor(
  levels: readonly Level[],
  room: { width: number; height: number },
): Level | undefined {
  const shown = (level: Level) => Math.min(room.width, (room.height * level.width) / level.height);
  return levels.find((level) => level.width >= shown(level) * 0.9) ?? levels.at(-1);
}

/** Returns whether a picture is so tall that it is read from top to bottom. */
export function isTall({ width, height }: { width: number; height: number }): boolean {
  return height > 2.4 * width;
}

/** Media types of Office documents, whose pages the server makes with LibreOffice. */
const officeType =
  /^application\/(?:vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\.|msword$|rtf$|vnd\.ms-(?:excel|powerpoint)$)/;

/** Returns what the server needs to show files of this type; undefined if it can show none of them. */
export function neededProgram(mime: string): string | undefined {
  if (officeType.test(mime))
    return 'Pages of Office documents need LibreOffice on the server. It is missing, or cannot read this file.';
  if (mime === 'application/postscript' || mime === 'application/eps')
    return 'PostScript needs Ghostscript on the server. It is missing, or cannot read this file.';
  return undefined;
}
