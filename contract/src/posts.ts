import { type Static, Type } from 'typebox';
import { AnnotationCount } from './annotations.ts';
import { approvalErrors, Override, OverrideReason } from './approvals.ts';
import { ShownAsset } from './assets.ts';
import { CommentPreview, LikeState } from './comments.ts';
import { Origin, OriginFilter } from './federation.ts';
import { PostAuthor } from './identity.ts';
import { Legacy } from './legacy.ts';
import { mostInPost } from './limits.ts';
import { noContent, operation } from './operation.ts';
import {
  AiProvenance,
  Count,
  closed,
  nullable,
  page,
  pageQuery,
  Reason,
  Ref,
  Removal,
  Tags,
  Timestamp,
  Uuid,
  Visibility,
} from './values.ts';

/** POST-21: a member that the caller may see. */
export const ShownMember = closed({
  asset_id: Uuid,
  sort_order: Type.Integer(),
  restricted: Type.Literal(false),
  asset: ShownAsset,
});

/** POST-21: a placeholder, with exactly these properties. */
export const RestrictedMember = closed({
  asset_id: Uuid,
  sort_order: Type.Integer(),
  restricted: Type.Literal(true),
  owner_display_name: Type.Optional(Type.String({ minLength: 1 })),
});

export const PostMember = Type.Union([ShownMember, RestrictedMember]);
export type PostMember = Static<typeof PostMember>;

/** POST-1. */
export const Post = closed({
  id: Uuid,
  author_user_ref: Ref,
  author: Type.Optional(PostAuthor),
  title: Type.String(),
  description: Type.String(),
  visibility: Visibility,
  cover_asset_id: Type.Optional(nullable(Uuid)),
  cover_thumbnail_asset_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Type.Number())),
  cover_focal_y: Type.Optional(nullable(Type.Number())),
  draft: Type.Boolean(),
  comments_enabled: Type.Boolean(),
  state_id: Type.Optional(nullable(Uuid)),
  ai_provenance: Type.Optional(nullable(AiProvenance)),
  posted_at: Timestamp,
  like_count: Count,
  liked: Type.Boolean(),
  comment_count: Count,
  comments_preview: Type.Optional(Type.Array(CommentPreview)),
  /** Of each file with annotations, on `GET /posts/{id}` only (ANNOTATION-6). */
  annotation_counts: Type.Optional(Type.Array(AnnotationCount)),
  /** For administrators, on `GET /posts/{id}` only (LEGACY-1). */
  legacy: Type.Optional(Legacy),
  tags: Type.Array(Type.String()),
  members: Type.Array(PostMember),
  team_id: Type.Optional(Uuid),
  /** The library that it comes from, for a post that a peer shares (FED-34). */
  origin: Type.Optional(Origin),
  /** When a draft is published by itself (POST-47). */
  publish_at: Type.Optional(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Both appear in trash listings only (FEED-10). */
  deleted_at: Type.Optional(Timestamp),
  deleted_reason: Type.Optional(nullable(Type.String())),
});
export type Post = Static<typeof Post>;

/** POST-25: a fraction of the width or height. */
const Fraction = Type.Number({ minimum: 0, maximum: 1 });

/** The last position of a member. */
export const lastPlace = 1_000_000;

/** An asset of a post and its position. */
export const MemberPlace = closed({
  asset_id: Uuid,
  sort_order: Type.Optional(Type.Integer({ minimum: 0, maximum: lastPlace })),
});
const Members = Type.Array(MemberPlace, { minItems: 1, maxItems: mostInPost });

export const PostCreate = closed({
  members: Members,
  title: Type.Optional(Type.String({ maxLength: 500 })),
  description: Type.Optional(Type.String({ maxLength: 20_000 })),
  visibility: Type.Optional(Visibility),
  cover_asset_id: Type.Optional(nullable(Uuid)),
  cover_thumbnail_asset_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Fraction)),
  cover_focal_y: Type.Optional(nullable(Fraction)),
  draft: Type.Optional(Type.Boolean()),
  /** When the draft is published by itself. */
  publish_at: Type.Optional(Timestamp),
  comments_enabled: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Tags),
  team_id: Type.Optional(Uuid),
  /** A collection to which the new post is appended. */
  collection_id: Type.Optional(Uuid),
  override_reason: OverrideReason,
});
export type PostCreate = Static<typeof PostCreate>;

/** HTTP-17: absent and null leave a value unchanged, `clear_*` removes it. */
export const PostUpdate = closed({
  members: Type.Optional(nullable(Members)),
  title: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 20_000 }))),
  visibility: Type.Optional(nullable(Visibility)),
  cover_asset_id: Type.Optional(nullable(Uuid)),
  cover_thumbnail_asset_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Fraction)),
  cover_focal_y: Type.Optional(nullable(Fraction)),
  /** Must equal the current state; use the operations for publishing and withdrawing to change it. */
  draft: Type.Optional(nullable(Type.Boolean())),
  /** When the draft is published by itself. */
  publish_at: Type.Optional(nullable(Timestamp)),
  comments_enabled: Type.Optional(nullable(Type.Boolean())),
  tags: Type.Optional(nullable(Tags)),
  team_id: Type.Optional(nullable(Uuid)),
  /** A collection to which the post is appended, unless it is there already. */
  collection_id: Type.Optional(nullable(Uuid)),
  clear_cover: Removal,
  clear_cover_focal: Removal,
  clear_cover_thumbnail: Removal,
  clear_publish_at: Removal,
  clear_team: Removal,
  override_reason: OverrideReason,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type PostUpdate = Static<typeof PostUpdate>;

const idParams = closed({ id: Uuid });

export const updatePost = operation({
  id: 'updatePost',
  method: 'PATCH',
  path: '/posts/{id}',
  tag: 'Posts',
  summary: 'Change a post',
  description:
    'For the author, `posts.admin` and `system.admin`; readers get 403, others 404. `draft` is accepted only with its current value. `publish_at` schedules a draft, which also needs `posts.publish`. With `if_unchanged_since`, returns 409 when the post has changed since.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: { title: 'Harbour at noon', if_unchanged_since: '2026-11-21T09:30:00.000Z' },
  body: PostUpdate,
  responses: { 200: Post },
  errors: [
    ...approvalErrors,
    'changed',
    'collection-full',
    'collection-smart',
    'cover-not-member',
    'cover-thumbnail-is-member',
    'draft-unchangeable',
    'exclusive-properties',
    'focal-point-incomplete',
    'member-asset-not-found',
    'members-full',
    'members-repeated',
    'not-author',
    'not-found',
    'not-owner',
    'post-not-draft',
    'team-not-found',
    'time-in-the-past',
  ],
});

export const deletePost = operation({
  id: 'deletePost',
  method: 'DELETE',
  path: '/posts/{id}',
  tag: 'Posts',
  summary: 'Delete a post',
  description:
    'Moves the post to the trash, for the author, `posts.admin` and `system.admin`. Its assets stay.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  example: { reason: 'Published by mistake.' },
  body: Reason,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: ['not-author', 'not-found'],
});

export const publishPost = operation({
  id: 'publishPost',
  method: 'POST',
  path: '/posts/{id}/publish',
  tag: 'Posts',
  summary: 'Publish a draft',
  description:
    'For those who may edit the post. The first publication sets `posted_at`. Returns 409 if the post is already published, and `approval_required` without the approvals that it needs.',
  door: { holds: 'posts.publish' },
  scope: 'posts.write',
  params: idParams,
  body: Override,
  bodyOptional: true,
  responses: { 200: Post },
  errors: [
    'not-author',
    'not-found',
    'post-is-draft',
    'post-is-published',
    'state-move-not-allowed',
    'approval-required',
  ],
});

export const unpublishPost = operation({
  id: 'unpublishPost',
  method: 'POST',
  path: '/posts/{id}/unpublish',
  tag: 'Posts',
  summary: 'Withdraw a post',
  description: 'Turns a published post into a draft, for those who may edit it. Returns 409 for a draft.',
  door: { holds: 'posts.publish' },
  scope: 'posts.write',
  params: idParams,
  responses: { 200: Post },
  errors: ['not-author', 'not-found', 'post-is-draft', 'post-is-published', 'state-move-not-allowed'],
});

export const WorkflowState = closed({
  id: Uuid,
  domain: Type.String(),
  code: Type.String(),
  label: Type.String(),
  sort_order: Type.Integer(),
});

export const listWorkflowStates = operation({
  id: 'listWorkflowStates',
  method: 'GET',
  path: '/workflow/states',
  tag: 'Posts',
  summary: 'List workflow states',
  description: 'Lists the states of a domain in order. The list is empty for an unknown domain.',
  door: 'public',
  scope: 'read',
  query: Type.Object({ domain: Type.Optional(Type.String({ maxLength: 100 })) }),
  responses: { 200: Type.Array(WorkflowState) },
  errors: [],
});

export const getLike = operation({
  id: 'getLike',
  method: 'GET',
  path: '/posts/{id}/like',
  tag: 'Posts',
  summary: 'Get the likes of a post',
  description:
    'Returns how many accounts like the post and whether the caller does. For anonymous callers `liked` is false.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: LikeState },
  errors: ['not-found'],
});

export const likePost = operation({
  id: 'likePost',
  method: 'POST',
  path: '/posts/{id}/like',
  tag: 'Posts',
  summary: 'Like a post',
  description: 'Idempotent. Everyone who may read a post may like it.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  seenBy: 'caller',
  responses: { 200: LikeState },
  errors: ['not-found'],
});

export const unlikePost = operation({
  id: 'unlikePost',
  method: 'DELETE',
  path: '/posts/{id}/like',
  tag: 'Posts',
  summary: 'Remove a like from a post',
  description: 'Idempotent.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  seenBy: 'caller',
  responses: { 200: LikeState },
  errors: ['not-found'],
});

/** POST-50. */
export const mostPins = 6;

export const pinPost = operation({
  id: 'pinPost',
  method: 'PUT',
  path: '/posts/{id}/pin',
  tag: 'Posts',
  summary: 'Pin a post to the profile',
  description:
    'Idempotent, for the author of a published post. Returns 409 for a draft and for a post beyond the six that an account may pin. Withdrawing or deleting a post unpins it.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['draft-cannot-be-pinned', 'not-author', 'not-found', 'pins-full'],
});

export const unpinPost = operation({
  id: 'unpinPost',
  method: 'DELETE',
  path: '/posts/{id}/pin',
  tag: 'Posts',
  summary: 'Unpin a post',
  description: 'Idempotent, for the author of the post.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  seenBy: 'caller',
  responses: { 204: noContent },
  errors: ['not-author', 'not-found'],
});

/** POST-39: the posts that the caller may read, and the number of all others. */
export const listAssetPosts = operation({
  id: 'listAssetPosts',
  method: 'GET',
  path: '/assets/{id}/posts',
  tag: 'Posts',
  summary: 'List where an asset appears',
  description:
    'Lists up to 200 posts with the asset that the caller may read, and the number of all others in `withheld_count`. For the owner of the asset, `assets.admin` and `system.admin`; others get 404.',
  door: 'signedIn',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: closed({ items: Type.Array(Post), withheld_count: Count }) },
  errors: ['not-found'],
});

export const createPost = operation({
  id: 'createPost',
  method: 'POST',
  path: '/posts',
  tag: 'Posts',
  summary: 'Create a post',
  description:
    'Publishes 1 to 200 assets as a post, or keeps them as a draft, which is published at `publish_at` if it is given. Publishing also needs `posts.publish`. The author must be able to see every asset; otherwise the response is a 404 that names the asset. With `collection_id` the post is added to one of the caller’s own collections.',
  door: { holds: 'posts.create' },
  scope: 'posts.write',
  example: {
    members: [{ asset_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30' }],
    title: 'Harbour at dawn',
    visibility: 'public',
    tags: ['harbour'],
  },
  body: PostCreate,
  seenBy: 'caller',
  responses: { 201: Post },
  errors: [
    'approval-required',
    'collection-full',
    'collection-smart',
    'cover-not-member',
    'cover-thumbnail-is-member',
    'focal-point-incomplete',
    'member-asset-not-found',
    'members-repeated',
    'not-found',
    'not-owner',
    'post-not-draft',
    'team-not-found',
    'time-in-the-past',
  ],
});

/** FEED-7: the filters of the feed. */
export const FeedQuery = Type.Object({
  ...pageQuery,
  sort: Type.Optional(Type.Enum(['newest', 'oldest'])),
  /** `team`: posts of the teams that the caller belongs to or follows. */
  feed: Type.Optional(Type.Enum(['latest', 'following', 'trending', 'team'])),
  draft: Type.Optional(Type.Boolean()),
  author_ref: Type.Optional(Ref),
  team_id: Type.Optional(Uuid),
  /** `here`: only what was made here. `peers`: only what peers share. An id: only what this peer shares. */
  origin: Type.Optional(OriginFilter),
  tag: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 10 })),
  asset: Type.Optional(Uuid),
  /** Words, "phrases" and -exclusions, with the syntax of `GET /search`. */
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  /** Posts of this collection; empty if the caller may not open it. */
  collection: Type.Optional(Uuid),
  /** Only the caller's own likes; those of other accounts are not revealed. */
  liked_by: Type.Optional(Ref),
  /** Posts that this account has pinned. */
  pinned_by: Type.Optional(Ref),
  /** For `system.admin`; ignored for other callers. */
  include_deleted: Type.Optional(Type.Boolean()),
});
export type FeedQuery = Static<typeof FeedQuery>;

export const listPosts = operation({
  id: 'listPosts',
  method: 'GET',
  path: '/posts',
  tag: 'Posts',
  summary: 'List posts (the feed)',
  description:
    'Lists published posts that the caller may read, newest first. Filters combine with AND; `tag` is repeatable. Members that the caller may not see are left out unless the preference `feed_filters` keeps them. `draft=true` lists the caller’s drafts instead.',
  door: 'public',
  scope: 'read',
  query: FeedQuery,
  replica: true,
  responses: { 200: page(Post) },
  errors: [],
});

export const getPost = operation({
  id: 'getPost',
  method: 'GET',
  path: '/posts/{id}',
  tag: 'Posts',
  summary: 'Get a post',
  description:
    'Returns the post with a placeholder for every member that the caller may not see. Returns the same 404 for an unreadable post and a missing one.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: Post },
  errors: ['not-found'],
});

export const listPostsByAsset = operation({
  id: 'listPostsByAsset',
  method: 'GET',
  path: '/posts/by-asset/{id}',
  tag: 'Posts',
  summary: 'List the posts of an asset',
  description:
    'Lists up to 200 posts with the asset, newest first, by the rules of the feed. The list is empty for an unknown asset.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: Type.Array(Post) },
  errors: [],
});
