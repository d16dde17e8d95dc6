import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { ResourceRequest } from './requests.ts';
import { closed, nullable, page, pageQuery, Ref, Retention, Timestamp, Uuid } from './values.ts';

/** TRASH-1: the soft-deletable kinds. */
export const TrashKind = Type.Enum(['asset', 'post', 'collection']);

export const TrashItem = closed({
  kind: TrashKind,
  id: Uuid,
  /** A collection's name. */
  title: Type.String(),
  deleted_at: Timestamp,
  deleted_reason: nullable(Type.String()),
  deleted_by_user_ref: nullable(Ref),
  /** Whether the caller may restore it themselves; else they may ask. */
  restorable: Type.Boolean(),
});
export type TrashItem = Static<typeof TrashItem>;

export const listTrash = operation({
  id: 'listTrash',
  method: 'GET',
  path: '/account/trash',
  tag: 'Trash',
  summary: 'Deleted things of one’s own, or that one deleted; latest first',
  door: 'signedIn',
  scope: 'read',
  query: closed({ ...pageQuery, scope: Type.Optional(Type.Enum(['owned_by_me', 'deleted_by_me'])) }),
  responses: { 200: page(TrashItem) },
  errors: [],
});

const idParams = closed({ id: Uuid });

/** TRASH-2. */
export const restorePost = operation({
  id: 'restorePost',
  method: 'POST',
  path: '/admin/posts/{id}/restore',
  tag: 'Trash',
  summary: 'Restore a deleted post: whoever deleted it, or system.admin',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const restoreAsset = operation({
  id: 'restoreAsset',
  method: 'POST',
  path: '/admin/assets/{id}/restore',
  tag: 'Trash',
  summary: 'Restore a deleted asset: whoever deleted it, or system.admin',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const restoreCollection = operation({
  id: 'restoreCollection',
  method: 'POST',
  path: '/admin/collections/{id}/restore',
  tag: 'Trash',
  summary: 'Restore a deleted collection: whoever deleted it, or system.admin',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

/** REQUEST-7: the restore marker. */
export const requestRestore = operation({
  id: 'requestRestore',
  method: 'POST',
  path: '/account/trash/{kind}/{id}/request-restore',
  tag: 'Trash',
  summary: 'Ask whoever deleted a thing of one’s own to undo it',
  door: 'signedIn',
  scope: 'admin',
  params: closed({ kind: TrashKind, id: Uuid }),
  body: closed({ reason: Type.Optional(nullable(Type.String({ maxLength: 1000 }))) }),
  bodyOptional: true,
  responses: { 200: ResourceRequest, 201: ResourceRequest },
  errors: [404, 409],
});

export const getTrashRetention = operation({
  id: 'getTrashRetention',
  method: 'GET',
  path: '/admin/system/trash',
  tag: 'Trash',
  summary: 'How long deleted things can be restored',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: Retention },
  errors: [],
});

export const setTrashRetention = operation({
  id: 'setTrashRetention',
  method: 'PUT',
  path: '/admin/system/trash',
  tag: 'Trash',
  summary: 'Change how long deleted things can be restored',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: Retention,
  worksWhenFull: true,
  responses: { 200: Retention },
  errors: [],
});
