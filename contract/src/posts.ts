import { type Static, Type } from 'typebox';
import { ShownAsset } from './assets.ts';
import { CommentPreview } from './comments.ts';
import { PostAuthor } from './identity.ts';
import { operation } from './operation.ts';
import {
  AiProvenance,
  Count,
  closed,
  nullable,
  page,
  pageQuery,
  Ref,
  Tags,
  Timestamp,
  Uuid,
  Visibility,
} from './values.ts';

/** spec 2.4: a member the caller may see. */
export const ShownMember = closed({
  asset_id: Uuid,
  sort_order: Type.Integer(),
  restricted: Type.Literal(false),
  asset: ShownAsset,
});

/** spec 2.4 rule 2: a placeholder, with exactly these keys. */
export const RestrictedMember = closed({
  asset_id: Uuid,
  sort_order: Type.Integer(),
  restricted: Type.Literal(true),
  owner_display_name: Type.Optional(Type.String({ minLength: 1 })),
});

export const PostMember = Type.Union([ShownMember, RestrictedMember]);
export type PostMember = Static<typeof PostMember>;

/** spec 2.2, with the additions of choices. */
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
});
export type Post = Static<typeof Post>;

/** spec 2.2 rule 1: a fraction of the picture. */
const Fraction = Type.Number({ minimum: 0, maximum: 1 });

export const PostCreate = closed({
  members: Type.Array(
    closed({ asset_id: Uuid, sort_order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })) }),
    { minItems: 1, maxItems: 200 },
  ),
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
});
export type PostCreate = Static<typeof PostCreate>;

const idParams = closed({ id: Uuid });

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
  errors: [404],
});

/** choices, posts: what the feed can be asked for. */
export const FeedQuery = Type.Object({
  ...pageQuery,
  sort: Type.Optional(Type.Enum(['newest', 'oldest'])),
  feed: Type.Optional(Type.Enum(['latest', 'following'])),
  draft: Type.Optional(Type.Boolean()),
  author_ref: Type.Optional(Ref),
  team_id: Type.Optional(Uuid),
  tag: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 10 })),
  asset: Type.Optional(Uuid),
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
