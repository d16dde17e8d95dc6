import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, Timestamp, Uuid } from './values.ts';

/** The files that an asset has had, and the one that it has (VERSION-1). */

/** Counts from 1. Numbers are never used again. */
export const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** The version whose bytes are wanted, for callers who may edit the asset (VERSION-3). */
export const versionQuery = { version: Type.Optional(VersionNumber) };

/** Most versions of one asset. */
export const MOST_VERSIONS = 1001;

export const AssetVersion = closed({
  number: VersionNumber,
  /** Exactly one version is the current one, and it has the highest number. */
  current: Type.Boolean(),
  file_hash: Type.String(),
  file_extension: nullable(Type.String()),
  file_size_bytes: Count,
  pixel_width: nullable(Type.Integer({ minimum: 1 })),
  pixel_height: nullable(Type.Integer({ minimum: 1 })),
  /** Empty without one. */
  note: Type.String(),
  created_at: Timestamp,
  /** Absent for the version of a deleted account. */
  created_by: Type.Optional(PostAuthor),
});
export type AssetVersion = Static<typeof AssetVersion>;

/** What the new version is about. */
const Note = Type.Optional(nullable(Type.String({ maxLength: 2000 })));

/** The form fields besides the part `file`. */
export const VersionFields = closed({ note: Note });

const assetParams = closed({ id: Uuid });
const versionParams = closed({ id: Uuid, number: VersionNumber });

export const listAssetVersions = operation({
  id: 'listAssetVersions',
  method: 'GET',
  path: '/assets/{id}/versions',
  tag: 'Assets',
  summary: 'List the versions of an asset',
  description:
    'Lists the files that the asset has had, newest first, for callers who may edit it; others get 404. Their bytes are at `/assets/{id}/file?version=` and `/assets/{id}/variants/{key}?version=`.',
  door: 'signedIn',
  scope: 'read',
  params: assetParams,
  responses: { 200: closed({ items: Type.Array(AssetVersion, { maxItems: MOST_VERSIONS }) }) },
  errors: ['not-found'],
});

export const addAssetVersion = operation({
  id: 'addAssetVersion',
  method: 'POST',
  path: '/assets/{id}/versions',
  tag: 'Assets',
  summary: 'Upload a new version of an asset',
  description:
    'Gives the asset another file, for callers who may edit it; others get 404. Takes a multipart form with a part `file`, or JSON that names a finished upload. The id, links, comments, posts and fields stay. The bytes of the current version and a file of another kind return 409. Repeating the request with an upload that was used returns 200 with its version.',
  door: 'signedIn',
  scope: 'assets.write',
  params: assetParams,
  example: { upload_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30', note: 'Brighter sky.' },
  body: closed({ upload_id: Uuid, note: Note }),
  form: true,
  responses: { 200: AssetVersion, 201: AssetVersion },
  errors: [
    'asset-of-upload-deleted',
    'file-part-missing',
    'file-part-strict',
    'given-twice',
    'install-quota-exceeded',
    'not-found',
    'owner-quota-exceeded',
    'quota-exceeded',
    'too-many-versions',
    'upload-gone',
    'upload-not-finished',
    'upload-not-found',
    'upload-used-meanwhile',
    'version-of-other-kind',
    'version-unchanged',
  ],
});

export const restoreAssetVersion = operation({
  id: 'restoreAssetVersion',
  method: 'POST',
  path: '/assets/{id}/versions/{number}/restore',
  tag: 'Assets',
  summary: 'Restore an earlier version',
  description:
    'Makes a new version with the bytes of an earlier one, for callers who may edit the asset. Returns 409 if these are the current bytes.',
  door: 'signedIn',
  scope: 'assets.write',
  params: versionParams,
  responses: { 200: AssetVersion },
  errors: ['not-found', 'stored-file-damaged', 'too-many-versions', 'version-unchanged'],
});

export const deleteAssetVersion = operation({
  id: 'deleteAssetVersion',
  method: 'DELETE',
  path: '/assets/{id}/versions/{number}',
  tag: 'Assets',
  summary: 'Delete an earlier version',
  description:
    'Deletes a version permanently, for callers who may edit the asset, and frees its bytes unless another version or asset has them. Links to this version end. The current version returns 409.',
  door: 'signedIn',
  scope: 'assets.write',
  params: versionParams,
  responses: { 204: noContent },
  errors: ['not-found', 'version-current'],
});

/** How many earlier versions an asset keeps; null keeps all (VERSION-8). */
export const VersionSettings = closed({ keep: nullable(Type.Integer({ minimum: 0, maximum: 1000 })) });
export type VersionSettings = Static<typeof VersionSettings>;

export const getVersionSettings = operation({
  id: 'getVersionSettings',
  method: 'GET',
  path: '/admin/system/versions',
  tag: 'System',
  summary: 'Get how many versions are kept',
  description: 'Returns how many earlier versions an asset keeps besides the current one. Null keeps all.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: VersionSettings },
  errors: [],
});

export const setVersionSettings = operation({
  id: 'setVersionSettings',
  method: 'PATCH',
  path: '/admin/system/versions',
  tag: 'System',
  summary: 'Set how many versions are kept',
  description:
    'A smaller number removes the oldest versions of every asset in the background, except those that a link shows. Null keeps all.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { keep: 10 },
  body: VersionSettings,
  responses: { 200: VersionSettings },
  errors: [],
});
