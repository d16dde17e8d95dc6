import { Type } from 'typebox';
import { SubtitleTrack } from './assets.ts';
import { bytes, noContent, operation } from './operation.ts';
import { closed, Uuid } from './values.ts';

/** A BCP 47 tag or `und`. Tags that differ only in case name the same track. */
export const SubtitleLanguage = Type.String({ minLength: 1, maxLength: 100 });
const params = closed({ id: Uuid, lang: SubtitleLanguage });

/** The form fields besides the part `file`. */
export const SubtitleFields = closed({ label: Type.Optional(Type.String({ maxLength: 200 })) });

export const putSubtitles = operation({
  id: 'putSubtitles',
  method: 'PUT',
  path: '/assets/{id}/subtitles/{lang}',
  tag: 'Assets',
  summary: 'Add or replace subtitles',
  description:
    'Stores the subtitles of one language, converted to WebVTT, for the owner and `assets.admin`. `lang` is a BCP 47 tag or `und`. Returns 201 for a new language and 200 when it replaces one, and 409 for an asset that is neither video nor audio.',
  door: 'signedIn',
  scope: 'assets.write',
  params,
  body: SubtitleFields,
  form: 'only',
  responses: { 200: SubtitleTrack, 201: SubtitleTrack },
  errors: [
    'file-part-missing',
    'file-part-strict',
    'given-twice',
    'install-quota-exceeded',
    'not-found',
    'not-owner',
    'owner-quota-exceeded',
    'quota-exceeded',
    'received-too-large',
    'subtitles-language-invalid',
    'subtitles-unreadable',
    'subtitles-without-time',
  ],
});

export const getSubtitles = operation({
  id: 'getSubtitles',
  method: 'GET',
  path: '/assets/{id}/subtitles/{lang}',
  tag: 'Assets',
  summary: 'Get subtitles',
  description:
    'Returns the subtitles of a language as WebVTT. Returns 404 for subtitles that consist of images.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  params,
  /** `v` names the bytes, so that browsers may cache them. */
  query: Type.Object({ v: Type.Optional(Type.String()) }),
  responses: { 200: bytes('text/vtt'), 206: bytes('text/vtt'), 304: noContent },
  errors: ['not-found', 'range-not-satisfiable', 'subtitles-language-invalid'],
});

export const deleteSubtitles = operation({
  id: 'deleteSubtitles',
  method: 'DELETE',
  path: '/assets/{id}/subtitles/{lang}',
  tag: 'Assets',
  summary: 'Delete subtitles',
  description: 'Removes the subtitles of one language, for the owner and `assets.admin`.',
  door: 'signedIn',
  scope: 'assets.write',
  params,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner', 'subtitles-language-invalid', 'subtitles-not-found'],
});
