import { type Static, Type } from 'typebox';
import { tilePlace } from './asset-bytes.ts';
import { DownloadPreset, PresetKey } from './downloads.ts';
import { GuestState } from './guests.ts';
import { MaxPicks, TargetKind } from './links.ts';
import { fileMedia, StreamName } from './media.ts';
import { bytes, noContent, operation } from './operation.ts';
import { SubtitleLanguage } from './subtitles.ts';
import { Count, closed, nullable, pageQuery, Timestamp, Uuid } from './values.ts';

/** Visitors of a link name it by its token. */
const token = Type.String();

/** An asset shown through a link: nothing about people, and no references to other content. */
export const LinkedAsset = closed({
  id: Uuid,
  /** The post it belongs to; null on a link to an asset. */
  post_id: nullable(Uuid),
  title: Type.String(),
  description: Type.String(),
  media_type: Type.String(),
  file_extension: nullable(Type.String()),
  /** Absent unless the original can be downloaded. */
  file_size_bytes: Type.Optional(Count),
  pixel_width: nullable(Type.Integer({ minimum: 1 })),
  pixel_height: nullable(Type.Integer({ minimum: 1 })),
  thumbhash: nullable(Type.String()),
  /** The renditions that exist. */
  variants: Type.Array(Type.String()),
  processing_status: Type.Enum(['pending', 'ready', 'failed']),
  /** Whether the guest has picked it; absent without picks and for visitors without a name. */
  picked: Type.Optional(Type.Boolean()),
});
export type LinkedAsset = Static<typeof LinkedAsset>;

/** A post of a collection, reduced to its texts. */
export const LinkedPost = closed({ id: Uuid, title: Type.String(), description: Type.String() });

/** The target of a link, with a page of its assets in their order. */
export const LinkView = closed({
  target_kind: TargetKind,
  title: Type.String(),
  description: Type.String(),
  allow_download: Type.Boolean(),
  watermarked: Type.Boolean(),
  /** The forms in which files are downloaded instead of the originals; absent for originals. */
  presets: Type.Optional(Type.Array(Type.Pick(DownloadPreset, ['key', 'label', 'format']))),
  allow_feedback: Type.Boolean(),
  allow_picks: Type.Boolean(),
  max_picks: Type.Optional(MaxPicks),
  /** Absent for visitors who have not given a name, and on links that take nothing from guests. */
  guest: Type.Optional(GuestState),
  expires_at: nullable(Timestamp),
  /** The posts of the assets on this page, for a link to a collection; otherwise empty. */
  posts: Type.Array(LinkedPost),
  items: Type.Array(LinkedAsset),
  next_cursor: nullable(Type.String()),
});
export type LinkView = Static<typeof LinkView>;

export const openLink = operation({
  id: 'openLink',
  method: 'GET',
  path: '/links/{link}',
  tag: 'Links',
  summary: 'Open a link',
  description:
    'Addressed by token, also while public mode is off. Shows the target with a page of its assets and nothing about people. Returns 401 `link_password_required` until the password is entered. Every link that does not work returns the same 404.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  // OpenAPI requires one parameter name for one path, which editors of the link use too.
  params: closed({ link: Type.String() }),
  query: closed(pageQuery),
  responses: { 200: LinkView },
  errors: ['link-password-required', 'not-found'],
});

export const unlockLink = operation({
  id: 'unlockLink',
  method: 'POST',
  path: '/links/{token}/unlock',
  tag: 'Links',
  summary: 'Unlock a link',
  description:
    'Sets a cookie for this link only if the password is correct; a wrong one returns 401. A link accepts ten attempts a minute.',
  door: 'open',
  scope: 'none',
  budget: 'unlock',
  cookie: 'link',
  unlisted: true,
  params: closed({ token }),
  body: closed({ password: Type.String({ maxLength: 500 }) }),
  responses: { 204: noContent },
  errors: ['link-password-wrong', 'not-found'],
});

/** `download`: sends the file as an attachment. */
const download = Type.Optional(Type.Boolean());

export const getLinkVariant = operation({
  id: 'getLinkVariant',
  method: 'GET',
  path: '/links/{token}/assets/{id}/variants/{key}',
  tag: 'Links',
  summary: 'Get a rendition through a link',
  description:
    'Pictures carry the watermark of the link. Renditions that the link does not serve return 403 or 404.',
  door: 'open',
  scope: 'none',
  budget: 'bytes',
  sessionCookie: 'never',
  unlisted: true,
  params: closed({ token, id: Uuid, key: Type.String({ maxLength: 64 }) }),
  query: closed({ download }),
  responses: { 200: bytes('image/webp'), 206: bytes('image/webp'), 304: noContent },
  errors: ['link-download-not-allowed', 'link-password-required', 'not-found', 'range-not-satisfiable'],
});

export const getLinkStream = operation({
  id: 'getLinkStream',
  method: 'GET',
  path: '/links/{token}/assets/{id}/variants/hls/{name}',
  tag: 'Links',
  summary: 'Get a part of a video stream through a link',
  description: 'Links with a watermark have no streams.',
  door: 'open',
  scope: 'none',
  budget: 'bytes',
  sessionCookie: 'never',
  unlisted: true,
  params: closed({ token, id: Uuid, name: StreamName }),
  query: closed({ download }),
  responses: {
    200: bytes('application/vnd.apple.mpegurl'),
    206: bytes('application/vnd.apple.mpegurl'),
    304: noContent,
  },
  errors: ['link-download-not-allowed', 'link-password-required', 'not-found', 'range-not-satisfiable'],
});

/**
 * The media facts of an asset of a link, without the file name. Tiles are null unless the link allows downloading
 * originals. With a watermark, only pictures of the ladder are listed, with their sizes in bytes before the
 * watermark.
 */
export const LinkedMedia = closed({
  ...fileMedia,
  /** The tracks available as WebVTT; none if the link has a watermark. */
  subtitles: Type.Array(closed({ lang: Type.String(), label: Type.String() })),
});
export type LinkedMedia = Static<typeof LinkedMedia>;

export const getLinkMedia = operation({
  id: 'getLinkMedia',
  method: 'GET',
  path: '/links/{token}/assets/{id}/media',
  tag: 'Links',
  summary: 'Get media facts through a link',
  description: 'Lists exactly what the link serves of the file, without the file name.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  params: closed({ token, id: Uuid }),
  responses: { 200: LinkedMedia },
  errors: ['link-password-required', 'not-found'],
});

export const recordLinkView = operation({
  id: 'recordLinkView',
  method: 'POST',
  path: '/links/{token}/assets/{id}/view',
  tag: 'Links',
  summary: 'Count a view through a link',
  description: 'Called by the page of a link when a file is opened in its viewer.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  params: closed({ token, id: Uuid }),
  responses: { 204: noContent },
  errors: ['link-password-required', 'not-found'],
});

export const getLinkTile = operation({
  id: 'getLinkTile',
  method: 'GET',
  path: '/links/{token}/assets/{id}/tiles/{level}/{tile}',
  tag: 'Links',
  summary: 'Get a Deep Zoom tile through a link',
  description: 'Returns 403 without `allow_download` or with a watermark.',
  door: 'open',
  scope: 'none',
  budget: 'bytes',
  sessionCookie: 'never',
  unlisted: true,
  params: closed({ token, id: Uuid, ...tilePlace }),
  responses: { 200: bytes('image/jpeg'), 304: noContent },
  errors: ['link-original-not-allowed', 'link-password-required', 'not-found'],
});

export const getLinkSubtitles = operation({
  id: 'getLinkSubtitles',
  method: 'GET',
  path: '/links/{token}/assets/{id}/subtitles/{lang}',
  tag: 'Links',
  summary: 'Get subtitles through a link',
  description: 'Returns the subtitles of a language as WebVTT. Links with a watermark have none.',
  door: 'open',
  scope: 'none',
  budget: 'bytes',
  sessionCookie: 'never',
  unlisted: true,
  params: closed({ token, id: Uuid, lang: SubtitleLanguage }),
  responses: { 200: bytes('text/vtt'), 206: bytes('text/vtt'), 304: noContent },
  errors: ['link-password-required', 'not-found', 'range-not-satisfiable', 'subtitles-language-invalid'],
});

export const getLinkFile = operation({
  id: 'getLinkFile',
  method: 'GET',
  path: '/links/{token}/assets/{id}/file',
  tag: 'Links',
  summary: 'Get an original through a link',
  description:
    'Returns 403 without `allow_download` or with a watermark. A link with presets needs `preset`, and other keys are 404. Supports `Range` and `If-None-Match`. With `download`, a library in a bucket may redirect large files to an address that is valid for minutes.',
  door: 'open',
  scope: 'none',
  budget: 'bytes',
  sessionCookie: 'never',
  unlisted: true,
  params: closed({ token, id: Uuid }),
  query: closed({ download, preset: Type.Optional(PresetKey) }),
  responses: {
    200: bytes('application/octet-stream'),
    206: bytes('application/octet-stream'),
    302: noContent,
    304: noContent,
  },
  errors: [
    'link-original-not-allowed',
    'link-password-required',
    'not-found',
    'preset-not-for-kind',
    'range-not-satisfiable',
  ],
});

export const getLinkArchive = operation({
  id: 'getLinkArchive',
  method: 'GET',
  path: '/links/{token}/archive',
  tag: 'Links',
  summary: 'Download everything a link shows',
  description:
    'Streams a ZIP of the originals or, with a watermark, of the largest renditions; files without one are left out. Names begin with the place of the file. Returns 403 without `allow_download`. A link with presets needs `preset`, and files that cannot be made into it are left out.',
  door: 'open',
  scope: 'none',
  budget: 'bytes',
  sessionCookie: 'never',
  unlisted: true,
  params: closed({ token }),
  query: closed({ preset: Type.Optional(PresetKey) }),
  responses: { 200: bytes('application/zip') },
  errors: ['link-download-not-allowed', 'link-original-not-allowed', 'link-password-required', 'not-found'],
});
