import { Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

const idParams = closed({ id: Uuid });
const shareParams = closed({ id: Uuid, user_ref: Ref });

export const Share = closed({ user_ref: Ref, user: Type.Optional(PostAuthor), created_at: Timestamp });

export const listShares = operation({
  id: 'listShares',
  method: 'GET',
  path: '/posts/{id}/shares',
  tag: 'Posts',
  summary: 'List the shares of a post',
  description:
    'Lists the accounts with which the post is shared, for its editors. A share opens posts of visibility `explicit-share` only.',
  door: 'signedIn',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Share) },
  errors: ['not-author', 'not-found'],
});

export const getShare = operation({
  id: 'getShare',
  method: 'GET',
  path: '/posts/{id}/shares/{user_ref}',
  tag: 'Posts',
  summary: 'Get a share of a post',
  description: 'For the editors of the post. Returns 404 when the post is not shared with this account.',
  door: 'signedIn',
  scope: 'read',
  params: shareParams,
  responses: { 200: Share },
  errors: ['not-author', 'not-found'],
});

export const putShare = operation({
  id: 'putShare',
  method: 'PUT',
  path: '/posts/{id}/shares/{user_ref}',
  tag: 'Posts',
  summary: 'Share a post',
  description:
    'Shares the post with an account, for the editors of the post. A new share returns 201, a repeat 200.',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 200: Share, 201: Share },
  errors: ['not-author', 'not-found', 'user-not-found'],
});

export const deleteShare = operation({
  id: 'deleteShare',
  method: 'DELETE',
  path: '/posts/{id}/shares/{user_ref}',
  tag: 'Posts',
  summary: 'Stop sharing a post',
  description: 'For the editors of the post. Returns 404 if there is no such share.',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 204: noContent },
  errors: ['not-author', 'not-found'],
});

export const AssetShare = closed({
  user_ref: Ref,
  user: Type.Optional(PostAuthor),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
});

/** LINK-15: a share gives named accounts access to one asset of any sensitivity. */
export const listAssetShares = operation({
  id: 'listAssetShares',
  method: 'GET',
  path: '/assets/{id}/shares',
  tag: 'Assets',
  summary: 'List the shares of an asset',
  description:
    'Lists the accounts with which the asset is shared, for its owner and `assets.admin`. Expired shares are left out.',
  door: 'signedIn',
  scope: 'read',
  params: closed({ id: Uuid }),
  query: closed(pageQuery),
  responses: { 200: page(AssetShare) },
  errors: ['not-found', 'not-owner'],
});

export const getAssetShare = operation({
  id: 'getAssetShare',
  method: 'GET',
  path: '/assets/{id}/shares/{user_ref}',
  tag: 'Assets',
  summary: 'Get a share of an asset',
  description:
    'For the owner of the asset and `assets.admin`. Returns 404 when the asset is not shared with this account.',
  door: 'signedIn',
  scope: 'read',
  params: shareParams,
  responses: { 200: AssetShare },
  errors: ['not-found', 'not-owner'],
});

export const putAssetShare = operation({
  id: 'putAssetShare',
  method: 'PUT',
  path: '/assets/{id}/shares/{user_ref}',
  tag: 'Assets',
  summary: 'Share an asset',
  description:
    'Shares an asset of any sensitivity with an account, permanently or until a time in the future. Sharing again returns 200 and replaces the expiry. For the owner and `assets.admin`.',
  door: 'signedIn',
  scope: 'assets.write',
  params: shareParams,
  body: closed({ expires_at: Type.Optional(nullable(Timestamp)) }),
  bodyOptional: true,
  responses: { 200: AssetShare, 201: AssetShare },
  errors: ['not-found', 'not-owner', 'time-in-the-past', 'user-not-found'],
});

export const deleteAssetShare = operation({
  id: 'deleteAssetShare',
  method: 'DELETE',
  path: '/assets/{id}/shares/{user_ref}',
  tag: 'Assets',
  summary: 'Stop sharing an asset',
  description: 'For the owner and `assets.admin`. Returns 404 if there is no such share.',
  door: 'signedIn',
  scope: 'assets.write',
  params: shareParams,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner'],
});

export const listCollectionShares = operation({
  id: 'listCollectionShares',
  method: 'GET',
  path: '/collections/{id}/shares',
  tag: 'Collections',
  summary: 'List the shares of a collection',
  description: 'Lists the accounts with which the collection is shared, for the owner and `system.admin`.',
  door: 'signedIn',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Share) },
  errors: ['not-found', 'not-owner'],
});

export const getCollectionShare = operation({
  id: 'getCollectionShare',
  method: 'GET',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Get a share of a collection',
  description:
    'For the owner and `system.admin`. Returns 404 when the collection is not shared with this account.',
  door: 'signedIn',
  scope: 'read',
  params: shareParams,
  responses: { 200: Share },
  errors: ['not-found', 'not-owner'],
});

export const putCollectionShare = operation({
  id: 'putCollectionShare',
  method: 'PUT',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Share a collection',
  description:
    'A share opens a collection of visibility `explicit-share`. A new share returns 201, a repeat 200. For the owner and `system.admin`.',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 200: Share, 201: Share },
  errors: ['not-found', 'not-owner', 'user-not-found'],
});

export const deleteCollectionShare = operation({
  id: 'deleteCollectionShare',
  method: 'DELETE',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Stop sharing a collection',
  description: 'For the owner and `system.admin`. Returns 404 if there is no such share.',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner'],
});
