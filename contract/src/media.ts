import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, Uuid } from './values.ts';

/** The name of a file of a video's streams, after `hls/`. */
export const StreamName = Type.String({ minLength: 1, maxLength: 90 });

/** What a file is made of, as far as its renderer knows. Seconds, frames per second, counts. */
export const MediaFacts = closed({
  duration_seconds: Type.Optional(Type.Number({ minimum: 0 })),
  frame_rate: Type.Optional(Type.Number({ minimum: 0 })),
  has_video: Type.Optional(Type.Boolean()),
  has_sound: Type.Optional(Type.Boolean()),
  video_codec: Type.Optional(Type.String()),
  audio_codec: Type.Optional(Type.String()),
  hdr: Type.Optional(Type.Boolean()),
  /** More than one frame: an animated picture. */
  animated: Type.Optional(Type.Boolean()),
  /** The moment of a video that its poster shows. */
  poster_seconds: Type.Optional(Type.Number({ minimum: 0 })),
  page_count: Type.Optional(Count),
});
export type MediaFacts = Static<typeof MediaFacts>;

/** How far the renditions that take long are. */
export const Transcoding = closed({
  state: Type.Enum(['waiting', 'running', 'done', 'failed']),
  /** The part that is done. */
  progress: Type.Number({ minimum: 0, maximum: 1 }),
});

/** A rendition, with its size in bytes and, for pictures, in pixels. */
export const Variant = closed({
  key: Type.String(),
  type: Type.String(),
  bytes: Count,
  width: Type.Optional(Count),
  height: Type.Optional(Count),
});

/**
 * Deep Zoom tiles of a picture that has more pixels than its largest rendition. Level `levels - 1` has all pixels, each one
 * below half as many in both directions, and level 0 a single one.
 */
export const Tiles = closed({
  width: Count,
  height: Count,
  /** Pixels of a tile's edge, to which `overlap` is added on each side that has a neighbour. */
  tile_size: Count,
  overlap: Count,
  levels: Count,
  format: Type.Enum(['jpeg', 'webp']),
});

/** What a viewer needs to choose how it shows a file. */
export const fileMedia = {
  mime: Type.String(),
  kind: Type.Enum(['image', 'document', 'video', 'audio', 'model', 'font', 'other']),
  facts: MediaFacts,
  /** Renditions that take long, such as `hls/master.m3u8`: null when the file has none of them. */
  transcoding: nullable(Transcoding),
  /** Every rendition that is served beside this, below `variants/{key}`. */
  variants: Type.Array(Variant),
  /** Null when the picture has none: it is small, or they are not cut yet. */
  tiles: Type.Union([Tiles, Type.Null()]),
};

export const AssetMedia = closed({ ...fileMedia, file_name: Type.String() });
export type AssetMedia = Static<typeof AssetMedia>;

export const getAssetMedia = operation({
  id: 'getAssetMedia',
  method: 'GET',
  path: '/assets/{id}/media',
  tag: 'Assets',
  summary: 'Get media facts and renditions',
  description:
    'Answers type, kind, facts and the renditions that exist now. Callers who are not served the bytes get 404.',
  door: 'public',
  scope: 'read',
  params: closed({ id: Uuid }),
  responses: { 200: AssetMedia },
  errors: [404],
});
