import { type Static, Type } from 'typebox';
import { Asset } from './assets.ts';
import { AssetSelection } from './batches.ts';
import { readValueErrors, writtenValueErrors } from './errors/groups.ts';
import { Origin } from './federation.ts';
import { GivenValues } from './field-values.ts';
import { PostAuthor } from './identity.ts';
import { Legacy } from './legacy.ts';
import { noContent, operation } from './operation.ts';
import { Post } from './posts.ts';
import {
  Count,
  closed,
  NameOnOneLine,
  nullable,
  page,
  pageQuery,
  Reason,
  Ref,
  Removal,
  Timestamp,
  Uuid,
  Visibility,
} from './values.ts';

/** COLLECTION-7: the maximum number of posts and files in a collection. */
export const mostItems = 100_000;

/** One picture of a collection's cover mosaic. */
const CollectionCover = closed({ asset_id: Uuid, preview_available: Type.Boolean() });

/** COLLECTION-1: `visibility` decides who may open it, as for posts. */
export const Collection = closed({
  id: Uuid,
  owner_user_ref: Ref,
  owner: Type.Optional(PostAuthor),
  name: Type.String({ maxLength: 200 }),
  description: Type.String(),
  visibility: Visibility,
  /** The post chosen as the first cover; null if there is none or the caller may not see it. */
  cover_post_id: nullable(Uuid),
  /** The focal point of the first cover; null means the centre. Both are set or neither. */
  cover_focal_x: nullable(Type.Number()),
  cover_focal_y: nullable(Type.Number()),
  /** Up to four pictures that the caller may see: the chosen cover first, then in the collection's order. */
  covers: Type.Array(CollectionCover, { maxItems: 4 }),
  /** The number of posts and files that the caller may see, counted up to 10,000, and up to 1,000 in lists. */
  item_count: Count,
  /** COLLECTION-23: whether a query fills it. Its items cannot be changed. */
  smart: Type.Boolean(),
  /** Whether it shows the caller files besides posts. */
  has_files: Type.Boolean(),
  /** The query of a smart collection, for those who may edit it. */
  query: Type.Optional(AssetSelection),
  /** After this time only the owner can open it. */
  expires_at: nullable(Timestamp),
  /** Absent for collections made here. */
  origin: Type.Optional(Origin),
  /** For administrators (LEGACY-1). */
  legacy: Type.Optional(Legacy),
  created_at: Timestamp,
  /** Changes when the collection itself is edited. */
  updated_at: Timestamp,
});
export type Collection = Static<typeof Collection>;

const Description = Type.String({ maxLength: 20_000 });
const Fraction = Type.Number({ minimum: 0, maximum: 1 });

export const CollectionCreate = closed({
  name: NameOnOneLine,
  description: Type.Optional(nullable(Description)),
  visibility: Type.Optional(nullable(Visibility)),
  expires_at: Type.Optional(nullable(Timestamp)),
  /** Makes it a smart collection. */
  query: Type.Optional(nullable(AssetSelection)),
  /** A missing value for a required field is a 422. */
  field_values: Type.Optional(GivenValues),
});
export type CollectionCreate = Static<typeof CollectionCreate>;

/** Absent and null leave a value unchanged, `clear_*` removes it. */
export const CollectionUpdate = closed({
  name: Type.Optional(nullable(NameOnOneLine)),
  description: Type.Optional(nullable(Description)),
  visibility: Type.Optional(nullable(Visibility)),
  /** Must be a post of the collection. */
  cover_post_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Fraction)),
  cover_focal_y: Type.Optional(nullable(Fraction)),
  expires_at: Type.Optional(nullable(Timestamp)),
  /** Makes it a smart collection; what was placed in it is hidden until `clear_query`. */
  query: Type.Optional(nullable(AssetSelection)),
  clear_query: Removal,
  clear_cover: Removal,
  clear_cover_focal: Removal,
  clear_expires_at: Removal,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type CollectionUpdate = Static<typeof CollectionUpdate>;

const idParams = closed({ id: Uuid });
const postParams = closed({ id: Uuid, post_id: Uuid });
const assetParams = closed({ id: Uuid, asset_id: Uuid });

/** The errors of a query that cannot be evaluated. */
const queryErrors = [
  'filter-field-not-found',
  'filter-malformed',
  'filter-operator-not-for-type',
  'filter-value-invalid',
] as const;

export const createCollection = operation({
  id: 'createCollection',
  method: 'POST',
  path: '/collections',
  tag: 'Collections',
  summary: 'Create a collection',
  description:
    'Creates an empty collection, or with `query` a smart one. A missing value for a required field returns 422.',
  door: { holds: 'collections.create' },
  scope: 'posts.write',
  body: CollectionCreate,
  responses: { 201: Collection },
  errors: [
    ...readValueErrors,
    ...writtenValueErrors,
    ...queryErrors,
    'fields-required',
    'given-twice',
    'not-found',
    'time-in-the-past',
    'value-field-not-found',
    'value-field-unclear',
  ],
});

export const CollectionQuery = closed({
  ...pageQuery,
  /** Only the caller's own collections. */
  mine: Type.Optional(Type.Boolean()),
  owner_ref: Type.Optional(Ref),
  /** Searches the name. */
  q: Type.Optional(Type.String({ maxLength: 200 })),
  /** Collections in which the caller sees this post. The caller's own are included even while the post is a draft. */
  containing: Type.Optional(Uuid),
  /** Collections in which this file was placed and is shown to the caller. */
  containing_asset: Type.Optional(Uuid),
});
export type CollectionQuery = Static<typeof CollectionQuery>;

export const listCollections = operation({
  id: 'listCollections',
  method: 'GET',
  path: '/collections',
  tag: 'Collections',
  summary: 'List collections',
  description: 'Lists collections that the caller may open, newest first.',
  door: 'public',
  scope: 'read',
  query: CollectionQuery,
  replica: true,
  responses: { 200: page(Collection) },
  errors: [],
});

export const getCollection = operation({
  id: 'getCollection',
  method: 'GET',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Get a collection',
  description:
    'Returns the collection with up to four covers and the number of posts and files that the caller may see, exact up to 10,000.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: Collection },
  errors: ['not-found'],
});

export const updateCollection = operation({
  id: 'updateCollection',
  method: 'PATCH',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Change a collection',
  description:
    'For the owner and `system.admin`; other callers who may open it get 403, all others 404. The chosen cover must be a post of the collection. With `if_unchanged_since`, returns 409 when the collection has changed since.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: CollectionUpdate,
  responses: { 200: Collection },
  errors: [
    ...queryErrors,
    'changed',
    'cover-not-post',
    'exclusive-properties',
    'focal-point-incomplete',
    'focal-point-without-cover',
    'not-found',
    'not-owner',
    'time-in-the-past',
  ],
});

export const deleteCollection = operation({
  id: 'deleteCollection',
  method: 'DELETE',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Delete a collection',
  description:
    'Moves the collection to the trash, for the owner and `system.admin`. Its posts and files stay.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: { reason: 'No longer needed.' },
  body: Reason,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner'],
});

export const listCollectionPosts = operation({
  id: 'listCollectionPosts',
  method: 'GET',
  path: '/collections/{id}/posts',
  tag: 'Collections',
  summary: 'List the posts of a collection',
  description: 'Lists the posts that the caller’s feed would show, in the collection’s order.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(Post) },
  errors: ['not-found'],
});

export const addToCollection = operation({
  id: 'addToCollection',
  method: 'PUT',
  path: '/collections/{id}/posts/{post_id}',
  tag: 'Collections',
  summary: 'Add a post to a collection',
  description:
    'Idempotent: a post that is already in the collection keeps its place, a new one is appended. The caller must own the collection or hold `system.admin`, and read the post. Returns 409 when the collection already holds 100,000 items, and for a smart collection.',
  door: 'signedIn',
  scope: 'posts.write',
  params: postParams,
  responses: { 204: noContent },
  errors: ['collection-full', 'collection-smart', 'not-found', 'not-owner'],
});

export const addAssetToCollection = operation({
  id: 'addAssetToCollection',
  method: 'PUT',
  path: '/collections/{id}/assets/{asset_id}',
  tag: 'Collections',
  summary: 'Add a file to a collection',
  description:
    'Idempotent: a file that is already in the collection keeps its place, a new one is appended. The caller must own the collection or hold `system.admin`, and be shown the file; nobody else is shown it by this. Returns 409 when the collection already holds 100,000 items, and for a smart collection.',
  door: 'signedIn',
  scope: 'posts.write',
  params: assetParams,
  responses: { 204: noContent },
  errors: ['collection-full', 'collection-smart', 'not-found', 'not-owner'],
});

export const removeAssetFromCollection = operation({
  id: 'removeAssetFromCollection',
  method: 'DELETE',
  path: '/collections/{id}/assets/{asset_id}',
  tag: 'Collections',
  summary: 'Remove a file from a collection',
  description: 'Idempotent; works even if the caller cannot read the file. For the owner and `system.admin`.',
  door: 'signedIn',
  scope: 'posts.write',
  params: assetParams,
  responses: { 204: noContent },
  errors: ['collection-smart', 'not-found', 'not-owner'],
});

export const removeFromCollection = operation({
  id: 'removeFromCollection',
  method: 'DELETE',
  path: '/collections/{id}/posts/{post_id}',
  tag: 'Collections',
  summary: 'Remove a post from a collection',
  description: 'Idempotent; works even if the caller cannot read the post. For the owner and `system.admin`.',
  door: 'signedIn',
  scope: 'posts.write',
  params: postParams,
  responses: { 204: noContent },
  errors: ['collection-smart', 'not-found', 'not-owner'],
});

const ItemKind = Type.Enum(['post', 'asset']);

/** COLLECTION-20: one post or file of a collection. */
export const CollectionItem = closed({
  kind: ItemKind,
  post: Type.Optional(Post),
  asset: Type.Optional(Asset),
});
export type CollectionItem = Static<typeof CollectionItem>;

export const listCollectionItems = operation({
  id: 'listCollectionItems',
  method: 'GET',
  path: '/collections/{id}/items',
  tag: 'Collections',
  summary: 'List the posts and files of a collection',
  description:
    'Lists the posts that the caller’s feed would show and the files that they are shown, in the collection’s order. The files of a smart collection are those that match its query for the caller, newest first.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(CollectionItem) },
  errors: ['not-found'],
});

/** COLLECTION-22: every item that the caller is shown, in the new order. */
export const CollectionItemOrder = closed({
  items: Type.Array(closed({ kind: ItemKind, id: Uuid }), { maxItems: mostItems }),
});
export type CollectionItemOrder = Static<typeof CollectionItemOrder>;

export const orderCollectionItems = operation({
  id: 'orderCollectionItems',
  method: 'PATCH',
  path: '/collections/{id}/order',
  tag: 'Collections',
  summary: 'Put all items of a collection in order',
  description:
    'Takes the complete list of the items that the caller is shown, each once; otherwise returns 400. The caller’s own drafts may be among them. Other items keep their places. For the owner and `system.admin`; 409 for a smart collection.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: {
    items: [
      { kind: 'asset', id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30' },
      { kind: 'post', id: '0198c2f5-0c57-7d19-8e64-9b1f2d3a4c58' },
    ],
  },
  body: CollectionItemOrder,
  responses: { 204: noContent },
  errors: ['collection-smart', 'items-incomplete', 'not-found', 'not-owner'],
});

/**
 * Either `post_id` or `asset_id` with `before` (the post or file that will follow it; null moves it to the end), or
 * `post_ids`, which are put in this order into the positions they occupy together. All other items keep their positions.
 */
export const CollectionOrder = closed({
  post_id: Type.Optional(Uuid),
  asset_id: Type.Optional(Uuid),
  before: Type.Optional(nullable(Uuid)),
  post_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
});
export type CollectionOrder = Static<typeof CollectionOrder>;

export const orderCollection = operation({
  id: 'orderCollection',
  method: 'PUT',
  path: '/collections/{id}/order',
  tag: 'Collections',
  summary: 'Move items of a collection',
  description:
    'Moves `post_id` or `asset_id` in front of `before` (null: to the end), or puts `post_ids` in this order into the positions they occupy together. All other items keep their positions. For the owner and `system.admin`; 409 for a smart collection.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: {
    post_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30',
    before: '0198c2f5-0c57-7d19-8e64-9b1f2d3a4c58',
  },
  body: CollectionOrder,
  responses: { 204: noContent },
  errors: [
    'collection-smart',
    'item-not-in-collection',
    'not-found',
    'not-owner',
    'order-conflicting',
    'order-incomplete',
    'order-names-itself',
    'posts-repeated',
  ],
});
