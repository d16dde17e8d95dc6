import { mediaTypes } from './ffmpeg/demuxers.ts';
import { officeTypes } from './office/types.ts';
import type { StillMaker } from './still.ts';

/** Kinds of decoder that make previews; their limits are in `decoding/kinds.ts`. */
export type PreviewDecoder = 'picture' | 'drawing' | 'document' | 'video';

interface Rendering {
  decoder: PreviewDecoder;
  /** Loads the maker that turns the file into a picture; absent if libvips opens the file itself. */
  maker?: () => Promise<StillMaker>;
}

const direct: Rendering = { decoder: 'picture' };
const video: Rendering = {
  decoder: 'video',
  maker: async () => (await import('./stills/video.ts')).makeVideo,
};

const raw: Rendering = {
  decoder: 'picture',
  maker: async () => (await import('./stills/camera.ts')).camera,
};

const jpeg2000: Rendering = {
  decoder: 'picture',
  maker: async () => (await import('./stills/jpeg2000.ts')).jpeg2000,
};

const archive: Rendering = {
  decoder: 'document',
  maker: async () => (await import('./stills/archive.ts')).archive,
};

const heif: Rendering = { decoder: 'picture', maker: async () => (await import('./stills/heif.ts')).heif };
const text: Rendering = {
  decoder: 'document',
  maker: async () => (await import('./stills/text.ts')).textStill,
};
const model: Rendering = {
  decoder: 'document',
  maker: async () => (await import('./stills/model.ts')).modelStill,
};
const office: Rendering = {
  decoder: 'document',
  maker: async () => (await import('./stills/office.ts')).officeStill,
};
const postscript: Rendering = {
  decoder: 'document',
  maker: async () => (await import('./stills/postscript.ts')).postscriptStill,
};
const font: Rendering = {
  decoder: 'document',
  maker: async () => (await import('./stills/font.ts')).fontStill,
};

/**
 * How previews are made, by media type. The type is sniffed from the bytes; it does not depend on which decoder
 * happens to open them. To support a new type, add a line here and a maker in `stills/`.
 */
const renderings: ReadonlyMap<string, Rendering> = new Map<string, Rendering>([
  ['image/jpeg', direct],
  ['image/png', direct],
  ['image/apng', direct],
  ['image/webp', direct],
  ['image/gif', direct],
  ['image/tiff', direct],
  ['image/avif', direct],
  ['image/heic', heif],
  ['image/heif', heif],
  ['image/heic-sequence', heif],
  ['image/heif-sequence', heif],
  [
    'image/vnd.adobe.photoshop',
    { decoder: 'picture', maker: async () => (await import('./stills/psd.ts')).psd },
  ],
  ['image/bmp', { decoder: 'picture', maker: async () => (await import('./stills/bmp.ts')).bmp }],
  ['image/x-icon', { decoder: 'picture', maker: async () => (await import('./stills/bmp.ts')).ico }],
  ['image/x-tga', { decoder: 'picture', maker: async () => (await import('./stills/tga.ts')).tga }],
  ['image/x-exr', { decoder: 'picture', maker: async () => (await import('./stills/exr.ts')).exr }],
  [
    'image/vnd.radiance',
    { decoder: 'picture', maker: async () => (await import('./stills/radiance.ts')).radiance },
  ],
  ['image/jxl', { decoder: 'picture', maker: async () => (await import('./stills/jxl.ts')).jxl }],
  ['image/jp2', jpeg2000],
  ['image/jpx', jpeg2000],
  ['image/j2c', jpeg2000],
  ['image/x-dcraw', raw],
  ['image/x-adobe-dng', raw],
  ['image/x-canon-cr2', raw],
  ['image/x-canon-cr3', raw],
  ['image/x-fujifilm-raf', raw],
  ['image/x-nikon-nef', raw],
  ['image/x-olympus-orf', raw],
  ['image/x-panasonic-rw2', raw],
  ['image/x-sony-arw', raw],
  ['image/svg+xml', { decoder: 'drawing' }],
  ['application/zip', archive],
  ['application/gzip', archive],
  ['application/x-tar', archive],
  ['application/pdf', { decoder: 'document', maker: async () => (await import('./stills/pdf.ts')).pdfStill }],
  ...mediaTypes.map((mime) => [mime, video] as const),
  ['model/gltf-binary', model],
  ['model/gltf+json', model],
  ['model/obj', model],
  ['model/stl', model],
  ['model/ply', model],
  ['model/vnd.fbx', model],
  ...[...officeTypes.keys()].map((mime) => [mime, office] as const),
  ['text/plain', text],
  ['application/json', text],
  ['application/eps', postscript],
  ['application/postscript', postscript],
  ['font/ttf', font],
  ['font/otf', font],
  ['font/collection', font],
  ['font/woff', font],
  ['font/woff2', font],
]);

/**
 * Increase this when makers support new types, make more of a file (`assets/previews/lacking.ts`), or draw it otherwise
 * (`drawing-changes.ts`), so that stored files are checked again.
 */
export const MAKERS_VERSION = 5;

/** Returns whether renditions can be made of files of this media type. */
export function isRenderable(mime: string): boolean {
  return renderings.has(mime);
}

/** Returns whether libvips opens files of this media type without a maker. */
export function isPicture(mime: string): boolean {
  const rendering = renderings.get(mime);
  return rendering !== undefined && rendering.maker === undefined;
}

/** Returns the kind of decoder that makes the previews of files of this media type. */
export function previewKind(mime: string): PreviewDecoder {
  return renderings.get(mime)?.decoder ?? 'picture';
}

/** Returns whether files of this type have tiles: raster pictures, which users inspect closely. */
export function isTiled(mime: string): boolean {
  return mime.startsWith('image/') && previewKind(mime) === 'picture' && isRenderable(mime);
}

/** Makes a picture of a file that libvips opens, as described in StillMaker. */
export const openStill: StillMaker = async (file, outDir, report) => {
  const make = await renderings.get(file.mime)?.maker?.();
  if (make !== undefined) return make(file, outDir, report);
  const { pictureStill } = await import('./stills/picture.ts');
  return pictureStill(file, outDir, report);
};
