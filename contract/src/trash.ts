import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { ResourceRequest } from './requests.ts';
import { closed, nullable, page, pageQuery, Ref, Retention, Timestamp, Uuid } from './values.ts';

/** TRASH-1: the kinds of content that can be in the trash. */
export const TrashKind = Type.Enum(['asset', 'post', 'collection']);

export const TrashScope = Type.Enum(['owned_by_me', 'deleted_by_me', 'everyone']);
export type TrashScope = Static<typeof TrashScope>;

export const TrashItem = closed({
  kind: TrashKind,
  id: Uuid,
  /** The name of a collection, otherwise the title. */
  title: Type.String(),
  deleted_at: Timestamp,
  deleted_reason: nullable(Type.String()),
  deleted_by_user_ref: nullable(Ref),
  /** The author of a post, otherwise the owner. Absent for a deleted account. */
  owner: Type.Optional(PostAuthor),
  /** True if the caller may restore it; otherwise they may ask for it. */
  restorable: Type.Boolean(),
});
export type TrashItem = Static<typeof TrashItem>;

export const listTrash = operation({
  id: 'listTrash',
  method: 'GET',
  path: '/account/trash',
  tag: 'Trash',
  summary: 'List own deleted content',
  description:
    'Lists deleted posts, assets and collections that the caller owns or deleted, latest first. `scope=everyone` lists those of all accounts for `system.admin`, and returns 403 for others. `restorable` says whether the caller may restore them without asking.',
  door: 'signedIn',
  scope: 'read',
  query: closed({ ...pageQuery, scope: Type.Optional(TrashScope) }),
  responses: { 200: page(TrashItem) },
  errors: ['capability-missing'],
});

const idParams = closed({ id: Uuid });

/** TRASH-2. */
export const restorePost = operation({
  id: 'restorePost',
  method: 'POST',
  path: '/admin/posts/{id}/restore',
  tag: 'Trash',
  summary: 'Restore a post',
  description:
    'For the account that deleted the post and `system.admin`; others get 403. Returns 404 for a post that is not deleted.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [
    'install-quota-exceeded',
    'not-found',
    'owner-quota-exceeded',
    'quota-exceeded',
    'restore-not-yours',
  ],
});

export const restoreAsset = operation({
  id: 'restoreAsset',
  method: 'POST',
  path: '/admin/assets/{id}/restore',
  tag: 'Trash',
  summary: 'Restore an asset',
  description:
    'For the account that deleted the asset and `system.admin`; others get 403. Returns 404 for an asset that is not deleted, and 413 if its owner would exceed a quota.',
  door: 'signedIn',
  scope: 'assets.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [
    'install-quota-exceeded',
    'not-found',
    'owner-quota-exceeded',
    'quota-exceeded',
    'restore-not-yours',
  ],
});

export const restoreCollection = operation({
  id: 'restoreCollection',
  method: 'POST',
  path: '/admin/collections/{id}/restore',
  tag: 'Trash',
  summary: 'Restore a collection',
  description:
    'For the account that deleted the collection and `system.admin`; others get 403. Returns 404 for a collection that is not deleted.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [
    'install-quota-exceeded',
    'not-found',
    'owner-quota-exceeded',
    'quota-exceeded',
    'restore-not-yours',
  ],
});

/** REQUEST-7: the marker of a restore request. */
export const requestRestore = operation({
  id: 'requestRestore',
  method: 'POST',
  path: '/account/trash/{kind}/{id}/request-restore',
  tag: 'Trash',
  summary: 'Ask for a restoration',
  description:
    'Asks the account that deleted the caller’s content to restore it. A repeat returns 200 with the same request. Returns 409 if the caller may restore it without asking.',
  door: 'signedIn',
  scope: 'admin',
  params: closed({ kind: TrashKind, id: Uuid }),
  example: { reason: 'The exhibition needs it.' },
  body: closed({ reason: Type.Optional(nullable(Type.String({ maxLength: 1000 }))) }),
  bodyOptional: true,
  responses: { 200: ResourceRequest, 201: ResourceRequest },
  errors: ['not-found', 'restore-not-needed'],
});

export const getTrashRetention = operation({
  id: 'getTrashRetention',
  method: 'GET',
  path: '/admin/system/trash',
  tag: 'Trash',
  summary: 'Get the trash retention',
  description:
    'Returns the number of days after which deleted content is permanently removed; null keeps it.',
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
  summary: 'Set the trash retention',
  description: 'Content that was deleted longer ago is permanently removed each night. Null keeps it.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { retention_days: 30 },
  body: Retention,
  worksWhenFull: true,
  responses: { 200: Retention },
  errors: [],
});
