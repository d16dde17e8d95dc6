import { Type } from 'typebox';
import { SubtitleTrack } from './assets.ts';
import { bytes, noContent, operation } from './operation.ts';
import { closed, Uuid } from './values.ts';

/** A BCP 47 tag or `und`; tags that differ only in case name the same track. */
export const SubtitleLanguage = Type.String({ minLength: 1, maxLength: 100 });
const params = closed({ id: Uuid, lang: SubtitleLanguage });

/** What a form says besides its part `file`. */
export const SubtitleFields = closed({ label: Type.Optional(Type.String({ maxLength: 200 })) });

export const putSubtitles = operation({
  id: 'putSubtitles',
  method: 'PUT',
  path: '/assets/{id}/subtitles/{lang}',
  tag: 'Assets',
  summary: 'Add or replace the subtitles of one language: the owner of the asset, or assets.admin',
  door: 'signedIn',
  scope: 'assets.write',
  params,
  body: SubtitleFields,
  form: 'only',
  responses: { 200: SubtitleTrack, 201: SubtitleTrack },
  errors: [404],
});

export const getSubtitles = operation({
  id: 'getSubtitles',
  method: 'GET',
  path: '/assets/{id}/subtitles/{lang}',
  tag: 'Assets',
  summary: 'Subtitles as WebVTT, under the content rule; image-based subtitles have none',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  params,
  /** `v` names the bytes, so that a browser may keep them. */
  query: Type.Object({ v: Type.Optional(Type.String()) }),
  responses: { 200: bytes('text/vtt'), 206: bytes('text/vtt'), 304: noContent },
  errors: [404, 416],
});

export const deleteSubtitles = operation({
  id: 'deleteSubtitles',
  method: 'DELETE',
  path: '/assets/{id}/subtitles/{lang}',
  tag: 'Assets',
  summary: 'Remove the subtitles of one language: the owner of the asset, or assets.admin',
  door: 'signedIn',
  scope: 'assets.write',
  params,
  responses: { 204: noContent },
  errors: [404],
});
