import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Titled, Uuid } from './values.ts';

/** An upload of the caller that no asset has been made of. */
export const Upload = closed({
  id: Uuid,
  file_name: Type.String(),
  /** Null until the client has said it. */
  size_bytes: nullable(Count),
  received_bytes: Count,
  created_at: Timestamp,
  /** It is removed then, finished or not. */
  expires_at: Timestamp,
  finished: Type.Boolean(),
  /** What the bytes are, once they are all there. */
  file_hash: nullable(Type.String()),
  mime: nullable(Type.String()),
  /** The extension that belongs to the bytes, without a dot; null when they do not tell. */
  extension: nullable(Type.String()),
  /** An asset of the caller that has these very bytes. */
  same_asset_id: nullable(Uuid),
});
export type Upload = Static<typeof Upload>;

const common = { tag: 'Uploads', door: { holds: 'assets.create' }, scope: 'assets.write' } as const;
/** A token that may upload also asks how far its uploads are. */
const reading = { ...common, scope: 'read', otherScopes: ['assets.write'] } as const;
const params = closed({ id: Uuid });

export const createUpload = operation({
  ...common,
  id: 'createUpload',
  method: 'POST',
  path: '/uploads',
  summary:
    'tus 1.0.0: begin an upload (creation, creation-with-upload, creation-defer-length); `Location` is its address',
  tus: true,
  responses: { 201: noContent },
  errors: [404, 409, 412],
});

export const listUploads = operation({
  ...reading,
  id: 'listUploads',
  method: 'GET',
  path: '/uploads',
  summary: 'Own uploads that no asset has been made of, newest first',
  query: closed(pageQuery),
  responses: { 200: page(Upload) },
  errors: [],
});

export const getUpload = operation({
  ...reading,
  id: 'getUpload',
  method: 'GET',
  path: '/uploads/{id}',
  summary: 'One upload; HEAD is tus 1.0.0 and answers `Upload-Offset`',
  tus: true,
  params,
  responses: { 200: Upload },
  errors: [404, 409, 412],
});

export const appendToUpload = operation({
  ...common,
  id: 'appendToUpload',
  method: 'PATCH',
  path: '/uploads/{id}',
  summary: 'tus 1.0.0: append bytes (`application/offset+octet-stream`) at `Upload-Offset`',
  tus: true,
  params,
  responses: { 204: noContent },
  errors: [404, 409, 412],
});

export const deleteUpload = operation({
  ...common,
  id: 'deleteUpload',
  method: 'DELETE',
  path: '/uploads/{id}',
  summary: 'tus 1.0.0: end an upload and remove its bytes',
  tus: true,
  params,
  responses: { 204: noContent },
  errors: [404, 409, 412],
});

/** For a warning before publishing: whether the caller has the same file already. */
export const listCopies = operation({
  id: 'listCopies',
  method: 'GET',
  path: '/assets/{id}/copies',
  tag: 'Uploads',
  summary: 'Other own assets with the same bytes as this own asset, oldest first, at most ten',
  door: 'signedIn',
  scope: 'read',
  params,
  responses: { 200: closed({ items: Type.Array(Titled) }) },
  errors: [404],
});
