import { type Static, Type } from 'typebox';
import { ShownAsset } from './assets.ts';
import { CommentPreview, LikeState } from './comments.ts';
import { PostAuthor } from './identity.ts';
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

/** POST-21: a member the caller may see. */
export const ShownMember = closed({
  asset_id: Uuid,
  sort_order: Type.Integer(),
  restricted: Type.Literal(false),
  asset: ShownAsset,
});

/** POST-21: a placeholder, with exactly these keys. */
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
  tags: Type.Array(Type.String()),
  members: Type.Array(PostMember),
  team_id: Type.Optional(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Both on trash listings only (FEED-10). */
  deleted_at: Type.Optional(Timestamp),
  deleted_reason: Type.Optional(nullable(Type.String())),
});
export type Post = Static<typeof Post>;

/** POST-25: a fraction of the picture. */
const Fraction = Type.Number({ minimum: 0, maximum: 1 });

/** An asset of a post and its place. */
export const MemberPlace = closed({
  asset_id: Uuid,
  sort_order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
});
const Members = Type.Array(MemberPlace, { minItems: 1, maxItems: 200 });

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
  comments_enabled: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Tags),
  team_id: Type.Optional(Uuid),
  /** A collection the new post goes into, last. */
  collection_id: Type.Optional(Uuid),
});
export type PostCreate = Static<typeof PostCreate>;

/** HTTP-17: absent and null leave a value alone, `clear_*` takes one away. */
export const PostUpdate = closed({
  members: Type.Optional(nullable(Members)),
  title: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 20_000 }))),
  visibility: Type.Optional(nullable(Visibility)),
  cover_asset_id: Type.Optional(nullable(Uuid)),
  cover_thumbnail_asset_id: Type.Optional(nullable(Uuid)),
  cover_focal_x: Type.Optional(nullable(Fraction)),
  cover_focal_y: Type.Optional(nullable(Fraction)),
  /** Only as it is: publishing and withdrawing are operations of their own. */
  draft: Type.Optional(nullable(Type.Boolean())),
  comments_enabled: Type.Optional(nullable(Type.Boolean())),
  tags: Type.Optional(nullable(Tags)),
  team_id: Type.Optional(nullable(Uuid)),
  clear_cover: Removal,
  clear_cover_focal: Removal,
  clear_cover_thumbnail: Removal,
  clear_team: Removal,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type PostUpdate = Static<typeof PostUpdate>;

const idParams = closed({ id: Uuid });

export const updatePost = operation({
  id: 'updatePost',
  method: 'PATCH',
  path: '/posts/{id}',
  tag: 'Posts',
  summary: 'Change a post: its author, or posts.admin',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: PostUpdate,
  responses: { 200: Post },
  errors: [404, 409],
});

export const deletePost = operation({
  id: 'deletePost',
  method: 'DELETE',
  path: '/posts/{id}',
  tag: 'Posts',
  summary: 'Put a post into the trash: its author, or posts.admin',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: Reason,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: [404],
});

export const publishPost = operation({
  id: 'publishPost',
  method: 'POST',
  path: '/posts/{id}/publish',
  tag: 'Posts',
  summary: 'Publish a draft',
  door: { holds: 'posts.publish' },
  scope: 'posts.write',
  params: idParams,
  responses: { 200: Post },
  errors: [404, 409],
});

export const unpublishPost = operation({
  id: 'unpublishPost',
  method: 'POST',
  path: '/posts/{id}/unpublish',
  tag: 'Posts',
  summary: 'Make a published post a draft again',
  door: { holds: 'posts.publish' },
  scope: 'posts.write',
  params: idParams,
  responses: { 200: Post },
  errors: [404, 409],
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
  summary: 'Workflow states',
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
  summary: 'Whether the caller likes a post, and how many do',
  door: 'public',
  scope: 'read',
  params: idParams,
  responses: { 200: LikeState },
  errors: [404],
});

export const likePost = operation({
  id: 'likePost',
  method: 'POST',
  path: '/posts/{id}/like',
  tag: 'Posts',
  summary: 'Like a post',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 200: LikeState },
  errors: [404],
});

export const unlikePost = operation({
  id: 'unlikePost',
  method: 'DELETE',
  path: '/posts/{id}/like',
  tag: 'Posts',
  summary: 'Like a post no longer',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 200: LikeState },
  errors: [404],
});

export const Share = closed({ user_ref: Ref, user: Type.Optional(PostAuthor), created_at: Timestamp });
const shareParams = closed({ id: Uuid, user_ref: Ref });

export const listShares = operation({
  id: 'listShares',
  method: 'GET',
  path: '/posts/{id}/shares',
  tag: 'Posts',
  summary: 'Whom a post is shared with: its author and posts.admin may see',
  door: 'signedIn',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Share) },
  errors: [404],
});

export const getShare = operation({
  id: 'getShare',
  method: 'GET',
  path: '/posts/{id}/shares/{user_ref}',
  tag: 'Posts',
  summary: 'Whether a post is shared with somebody',
  door: 'signedIn',
  scope: 'read',
  params: shareParams,
  responses: { 200: Share },
  errors: [404],
});

export const putShare = operation({
  id: 'putShare',
  method: 'PUT',
  path: '/posts/{id}/shares/{user_ref}',
  tag: 'Posts',
  summary: 'Share a post with somebody',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 200: Share, 201: Share },
  errors: [404],
});

export const deleteShare = operation({
  id: 'deleteShare',
  method: 'DELETE',
  path: '/posts/{id}/shares/{user_ref}',
  tag: 'Posts',
  summary: 'Share a post with somebody no longer',
  door: 'signedIn',
  scope: 'posts.write',
  params: shareParams,
  responses: { 204: noContent },
  errors: [404],
});

/** POST-39: the posts the caller may read, and the mere number of the others. */
export const listAssetPosts = operation({
  id: 'listAssetPosts',
  method: 'GET',
  path: '/assets/{id}/posts',
  tag: 'Posts',
  summary: 'Where an asset appears: its owner, assets.admin, system.admin',
  door: 'signedIn',
  scope: 'read',
  params: idParams,
  responses: { 200: closed({ items: Type.Array(Post), withheld_count: Count }) },
  errors: [404],
});

export const createPost = operation({
  id: 'createPost',
  method: 'POST',
  path: '/posts',
  tag: 'Posts',
  summary: 'Wrap assets in a post, published at once or kept as a draft',
  door: { holds: 'posts.create' },
  scope: 'posts.write',
  body: PostCreate,
  responses: { 201: Post },
  errors: [404, 409],
});

/** FEED-7: what the feed can be asked for. */
export const FeedQuery = Type.Object({
  ...pageQuery,
  sort: Type.Optional(Type.Enum(['newest', 'oldest'])),
  /** `team`: of the teams the caller is a member of or follows. */
  feed: Type.Optional(Type.Enum(['latest', 'following', 'trending', 'team'])),
  draft: Type.Optional(Type.Boolean()),
  author_ref: Type.Optional(Ref),
  team_id: Type.Optional(Uuid),
  tag: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 10 })),
  asset: Type.Optional(Uuid),
  /** Words, "phrases" and -exclusions, as `GET /search` reads them. */
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  /** Posts of this collection; none of one the caller may not open. */
  collection: Type.Optional(Uuid),
  /** One's own likes; anybody else's are not told. */
  liked_by: Type.Optional(Ref),
  /** For system.admin; ignored for others. */
  include_deleted: Type.Optional(Type.Boolean()),
});
export type FeedQuery = Static<typeof FeedQuery>;

export const listPosts = operation({
  id: 'listPosts',
  method: 'GET',
  path: '/posts',
  tag: 'Posts',
  summary: 'The feed: posts the caller may read, a page at a time',
  door: 'public',
  scope: 'read',
  query: FeedQuery,
  responses: { 200: page(Post) },
  errors: [],
});

export const getPost = operation({
  id: 'getPost',
  method: 'GET',
  path: '/posts/{id}',
  tag: 'Posts',
  summary: 'One post',
  door: 'public',
  scope: 'read',
  params: idParams,
  responses: { 200: Post },
  errors: [404],
});

export const listPostsByAsset = operation({
  id: 'listPostsByAsset',
  method: 'GET',
  path: '/posts/by-asset/{id}',
  tag: 'Posts',
  summary: 'Posts that feature an asset, newest first, at most 200',
  door: 'public',
  scope: 'read',
  params: idParams,
  responses: { 200: Type.Array(Post) },
  errors: [],
});
