import { type Static, Type } from 'typebox';
import { GivenValues } from './field-values.ts';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Post, Share } from './posts.ts';
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

/** How many posts a collection holds at most. */
export const mostPosts = 100_000;

/** One picture of the mosaic that stands for a collection. */
const CollectionCover = closed({ asset_id: Uuid, preview_available: Type.Boolean() });

/** COLLECTION-1: who may open it is `visibility`, with the words of posts. */
export const Collection = closed({
  id: Uuid,
  owner_user_ref: Ref,
  owner: Type.Optional(PostAuthor),
  name: Type.String({ maxLength: 200 }),
  description: Type.String(),
  visibility: Visibility,
  /** The post chosen to stand first on the cover; null without one, and for whom it is not shown to. */
  cover_post_id: nullable(Uuid),
  /** The centre of the first cover's crop; null means the middle. Both or neither. */
  cover_focal_x: nullable(Type.Number()),
  cover_focal_y: nullable(Type.Number()),
  /** Up to four pictures the caller is shown: the chosen cover, then the collection's order. */
  covers: Type.Array(CollectionCover, { maxItems: 4 }),
  /** The posts of it that the caller is shown, counted up to 10,000, on lists up to 1,000. */
  item_count: Count,
  /** From then on its owner alone opens it. */
  expires_at: nullable(Timestamp),
  created_at: Timestamp,
  /** Moves when the collection itself is edited. */
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
  /** A required field without a value is 422. */
  field_values: Type.Optional(GivenValues),
});
export type CollectionCreate = Static<typeof CollectionCreate>;

/** Absent and null leave a value alone, `clear_*` takes one away. */
export const CollectionUpdate = closed({
  name: Type.Optional(nullable(NameOnOneLine)),
  description: Type.Optional(nullable(Description)),
  visibility: Type.Optional(nullable(Visibility)),
  /** One of its posts. */
  cover_post_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Fraction)),
  cover_focal_y: Type.Optional(nullable(Fraction)),
  expires_at: Type.Optional(nullable(Timestamp)),
  clear_cover: Removal,
  clear_cover_focal: Removal,
  clear_expires_at: Removal,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type CollectionUpdate = Static<typeof CollectionUpdate>;

const idParams = closed({ id: Uuid });
const postParams = closed({ id: Uuid, post_id: Uuid });
const shareParams = closed({ id: Uuid, user_ref: Ref });

export const createCollection = operation({
  id: 'createCollection',
  method: 'POST',
  path: '/collections',
  tag: 'Collections',
  summary: 'Create a collection',
  description: 'Creates an empty collection. A required field without a value is 422.',
  door: { holds: 'collections.create' },
  scope: 'posts.write',
  body: CollectionCreate,
  responses: { 201: Collection },
  errors: [404, 409, 422],
});

export const CollectionQuery = closed({
  ...pageQuery,
  /** One's own alone. */
  mine: Type.Optional(Type.Boolean()),
  owner_ref: Type.Optional(Ref),
  /** In the name. */
  q: Type.Optional(Type.String({ maxLength: 200 })),
  /** Those that show the caller this post; one's own also while it is a draft. */
  containing: Type.Optional(Uuid),
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
    'Answers the collection with up to four covers and the number of posts that the caller is shown, exact up to 10,000.',
  door: 'public',
  scope: 'read',
  params: idParams,
  responses: { 200: Collection },
  errors: [404],
});

export const updateCollection = operation({
  id: 'updateCollection',
  method: 'PATCH',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Change a collection',
  description:
    'For the owner and `system.admin`; those who may open it get 403, others 404. The chosen cover must be a post of the collection. With `if_unchanged_since` it is 409 when the collection has changed since.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: CollectionUpdate,
  responses: { 200: Collection },
  errors: [404, 409],
});

export const deleteCollection = operation({
  id: 'deleteCollection',
  method: 'DELETE',
  path: '/collections/{id}',
  tag: 'Collections',
  summary: 'Delete a collection',
  description: 'Moves the collection to the trash, for the owner and `system.admin`. Its posts stay.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: { reason: 'No longer needed.' },
  body: Reason,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: [404],
});

export const listCollectionPosts = operation({
  id: 'listCollectionPosts',
  method: 'GET',
  path: '/collections/{id}/posts',
  tag: 'Collections',
  summary: 'List the posts of a collection',
  description: 'Lists the posts that the caller’s feed would show, in the order of the collection.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Post) },
  errors: [404],
});

export const addToCollection = operation({
  id: 'addToCollection',
  method: 'PUT',
  path: '/collections/{id}/posts/{post_id}',
  tag: 'Collections',
  summary: 'Add a post to a collection',
  description:
    'Idempotent: a post that is there keeps its place, another goes to the end. The caller must own the collection or hold `system.admin`, and read the post. The 100,001st post is 409.',
  door: 'signedIn',
  scope: 'posts.write',
  params: postParams,
  responses: { 204: noContent },
  errors: [404, 409],
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
  errors: [404],
});

/**
 * Either `post_id` and `before`, the post it is to stand before (null: last), or `post_ids`, which take, in this
 * order, the places they have together; whatever is not named stays where it is.
 */
export const CollectionOrder = closed({
  post_id: Type.Optional(Uuid),
  before: Type.Optional(nullable(Uuid)),
  post_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 10_000 })),
});
export type CollectionOrder = Static<typeof CollectionOrder>;

export const orderCollection = operation({
  id: 'orderCollection',
  method: 'PUT',
  path: '/collections/{id}/order',
  tag: 'Collections',
  summary: 'Order a collection',
  description:
    'Moves `post_id` in front of `before` (null: to the end), or puts `post_ids` in this order into the places they have together. Everything else keeps its place. For the owner and `system.admin`.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: {
    post_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30',
    before: '0198c2f5-0c57-7d19-8e64-9b1f2d3a4c58',
  },
  body: CollectionOrder,
  responses: { 204: noContent },
  errors: [404],
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
  errors: [404],
});

export const getCollectionShare = operation({
  id: 'getCollectionShare',
  method: 'GET',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Get a share of a collection',
  description:
    'For the owner and `system.admin`. It is 404 when the collection is not shared with this account.',
  door: 'signedIn',
  scope: 'read',
  params: shareParams,
  responses: { 200: Share },
  errors: [404],
});

export const putCollectionShare = operation({
  id: 'putCollectionShare',
  method: 'PUT',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Share a collection',
  description:
    'A share opens a collection of visibility `explicit-share`. It is 201 when new and 200 on a repeat. For the owner and `system.admin`.',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 200: Share, 201: Share },
  errors: [404],
});

export const deleteCollectionShare = operation({
  id: 'deleteCollectionShare',
  method: 'DELETE',
  path: '/collections/{id}/shares/{user_ref}',
  tag: 'Collections',
  summary: 'Stop sharing a collection',
  description: 'For the owner and `system.admin`. A share that does not exist is 404.',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 204: noContent },
  errors: [404],
});
