import { type Static, Type } from 'typebox';
import { tusErrors } from './errors/groups.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Titled, Uuid } from './values.ts';

/** An upload of the caller from which no asset has been created. */
export const Upload = closed({
  id: Uuid,
  file_name: Type.String(),
  /** Null until the client has sent it. */
  size_bytes: nullable(Count),
  received_bytes: Count,
  created_at: Timestamp,
  /** The upload is removed at this time, even if it is complete. */
  expires_at: Timestamp,
  finished: Type.Boolean(),
  /** Facts about the bytes, once all have arrived. */
  file_hash: nullable(Type.String()),
  mime: nullable(Type.String()),
  /** The extension for the detected type, without a dot; null if the type is unknown. */
  extension: nullable(Type.String()),
  /** An asset of the caller that has the same bytes. */
  same_asset_id: nullable(Uuid),
});
export type Upload = Static<typeof Upload>;

const common = { tag: 'Uploads', door: { holds: 'assets.create' }, scope: 'assets.write' } as const;
/** A token that may upload may also read the progress of its uploads. */
const reading = { ...common, scope: 'read', otherScopes: ['assets.write'] } as const;
const params = closed({ id: Uuid });

export const createUpload = operation({
  ...common,
  id: 'createUpload',
  method: 'POST',
  path: '/uploads',
  summary: 'Start a resumable upload',
  description:
    'Speaks tus 1.0.0 with creation, creation-with-upload and creation-defer-length. `Location` is the address of the upload, which expires after seven days. A file over a limit or quota returns 413.',
  tus: true,
  seenBy: 'caller',
  responses: { 201: noContent },
  errors: [
    ...tusErrors,
    'asset-of-upload-deleted',
    'install-quota-exceeded',
    'not-found',
    'quota-exceeded',
    'too-many-unfinished-uploads',
    'upload-metadata-too-long',
  ],
});

export const listUploads = operation({
  ...reading,
  id: 'listUploads',
  method: 'GET',
  path: '/uploads',
  summary: 'List own uploads',
  description: 'Lists uploads from which no asset has been created, newest first.',
  query: closed(pageQuery),
  responses: { 200: page(Upload) },
  errors: [],
});

export const getUpload = operation({
  ...reading,
  id: 'getUpload',
  method: 'GET',
  path: '/uploads/{id}',
  summary: 'Get an upload',
  description: 'Returns an upload of the caller. `HEAD` is part of tus 1.0.0 and returns `Upload-Offset`.',
  tus: true,
  params,
  responses: { 200: Upload },
  errors: [
    'asset-of-upload-deleted',
    'not-found',
    'tus-refused',
    'tus-state-conflict',
    'tus-version-required',
    'upload-at-other-offset',
    'upload-continued-elsewhere',
    'upload-interrupted',
    'upload-locked',
  ],
});

export const appendToUpload = operation({
  ...common,
  id: 'appendToUpload',
  method: 'PATCH',
  path: '/uploads/{id}',
  summary: 'Append to an upload',
  description:
    'Speaks tus 1.0.0: appends the body at `Upload-Offset`, and returns 409 if that is not the current offset. A newer request for the same upload takes over from an older one.',
  tus: true,
  params,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: [...tusErrors, 'asset-of-upload-deleted', 'install-quota-exceeded', 'not-found', 'quota-exceeded'],
});

export const deleteUpload = operation({
  ...common,
  id: 'deleteUpload',
  method: 'DELETE',
  path: '/uploads/{id}',
  summary: 'Delete an upload',
  description: 'Ends an upload of the caller and removes its bytes (tus 1.0.0, termination).',
  tus: true,
  params,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: [...tusErrors, 'asset-of-upload-deleted', 'install-quota-exceeded', 'not-found', 'quota-exceeded'],
});

/** Lets clients warn before publishing that the caller already has the same file. */
export const listCopies = operation({
  id: 'listCopies',
  method: 'GET',
  path: '/assets/{id}/copies',
  tag: 'Uploads',
  summary: 'List copies of an asset',
  description:
    'Lists up to ten other assets of the caller with the same bytes, oldest first. The asset must belong to the caller.',
  door: 'signedIn',
  scope: 'read',
  params,
  responses: { 200: closed({ items: Type.Array(Titled) }) },
  errors: ['not-found'],
});
