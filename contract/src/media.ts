import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, Uuid } from './values.ts';
import { VersionNumber } from './versions.ts';

/** The name of a file of a video's streams, after `hls/`. */
export const StreamName = Type.String({ minLength: 1, maxLength: 90 });

/** Technical facts of a file, as far as its renderer reports them: seconds, frames per second, counts. */
export const MediaFacts = closed({
  duration_seconds: Type.Optional(Type.Number({ minimum: 0 })),
  /** Frames per second with three digits. */
  frame_rate: Type.Optional(Type.Number({ minimum: 0 })),
  /** The same as an exact fraction, such as `24000/1001`. Absent for files that were read before it existed. */
  exact_frame_rate: Type.Optional(Type.String({ pattern: '^[1-9][0-9]*/[1-9][0-9]*$' })),
  /** The timecode of the first frame; `;` before the frames means drop-frame. */
  start_timecode: Type.Optional(Type.String()),
  has_video: Type.Optional(Type.Boolean()),
  has_sound: Type.Optional(Type.Boolean()),
  video_codec: Type.Optional(Type.String()),
  audio_codec: Type.Optional(Type.String()),
  hdr: Type.Optional(Type.Boolean()),
  /** True for an animated picture with more than one frame. */
  animated: Type.Optional(Type.Boolean()),
  /** True for a photograph with a short film, the rendition `motion.mp4` or `film.mp4`. */
  motion: Type.Optional(Type.Boolean()),
  /** The position in the video, in seconds, of the frame used as the poster. */
  poster_seconds: Type.Optional(Type.Number({ minimum: 0 })),
  page_count: Type.Optional(Count),
  /** The number of subtitles inside the film that are pictures (PGS, VobSub, DVB), which browsers do not show. */
  picture_subtitles: Type.Optional(Count),
});
export type MediaFacts = Static<typeof MediaFacts>;

/** The progress of renditions that take long. */
export const Transcoding = closed({
  state: Type.Enum(['waiting', 'running', 'done', 'failed']),
  /** The fraction that is done, from 0 to 1. */
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
 * The Deep Zoom tiles of a picture that is larger than its largest rendition. Level `levels - 1` has all pixels, each
 * lower level has half as many in both directions, and level 0 has a single one.
 */
export const Tiles = closed({
  width: Count,
  height: Count,
  /** The edge of a tile in pixels. `overlap` is added on each side that has a neighbour. */
  tile_size: Count,
  overlap: Count,
  levels: Count,
  format: Type.Enum(['jpeg', 'webp']),
});

/** What a viewer needs to decide how to show a file. */
export const fileMedia = {
  mime: Type.String(),
  kind: Type.Enum(['image', 'document', 'video', 'audio', 'model', 'font', 'other']),
  facts: MediaFacts,
  /** Renditions that take long, such as `hls/master.m3u8`; null when the file has none. */
  transcoding: nullable(Transcoding),
  /** All other renditions that are served below `variants/{key}`. */
  variants: Type.Array(Variant),
  /** Null when the picture is too small for tiles or they have not been generated yet. */
  tiles: Type.Union([Tiles, Type.Null()]),
};

export const AssetMedia = closed({
  ...fileMedia,
  file_name: Type.String(),
  /** The number of the current version, on which new annotations are made. */
  version: VersionNumber,
});
export type AssetMedia = Static<typeof AssetMedia>;

export const getAssetMedia = operation({
  id: 'getAssetMedia',
  method: 'GET',
  path: '/assets/{id}/media',
  tag: 'Assets',
  summary: 'Get media facts and renditions',
  description:
    'Returns type, kind, facts and the renditions that exist now. Returns 404 to callers who may not get the bytes.',
  door: 'public',
  scope: 'read',
  params: closed({ id: Uuid }),
  replica: true,
  responses: { 200: AssetMedia },
  errors: ['not-found'],
});
