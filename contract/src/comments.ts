import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** COMMENT-12. */
export const CommentPreview = closed({
  id: Uuid,
  body: Type.String(),
  created_at: Timestamp,
  author: Type.Optional(PostAuthor),
  remote_display_name: Type.Optional(nullable(Type.String())),
});
export type CommentPreview = Static<typeof CommentPreview>;

const record = {
  id: Uuid,
  post_id: Uuid,
  parent_id: nullable(Uuid),
  body: Type.String(),
  created_at: Timestamp,
  edited_at: nullable(Timestamp),
  author: Type.Optional(PostAuthor),
  remote_display_name: Type.Optional(nullable(Type.String())),
  like_count: Count,
  liked: Type.Boolean(),
  reply_count: Count,
};

/** COMMENT-4: a comment or a reply. */
export const Comment = closed(record);
export type Comment = Static<typeof Comment>;

/** A top-level comment with the first of its replies, oldest first. */
export const CommentRoot = closed({ ...record, replies: Type.Array(Comment) });
export type CommentRoot = Static<typeof CommentRoot>;

/** Whether the caller likes something, and how many accounts do. */
export const LikeState = closed({ liked: Type.Boolean(), like_count: Count });

const CommentBody = Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S' });
const idParams = closed({ id: Uuid });

export const listComments = operation({
  id: 'listComments',
  method: 'GET',
  path: '/posts/{id}/comments',
  tag: 'Comments',
  summary: 'The thread of a post: roots newest first with their first replies',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(CommentRoot) },
  errors: [404],
});

export const listReplies = operation({
  id: 'listReplies',
  method: 'GET',
  path: '/comments/{id}/replies',
  tag: 'Comments',
  summary: 'Every reply to a comment, newest first',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  responses: { 200: page(Comment) },
  errors: [404],
});

export const createComment = operation({
  id: 'createComment',
  method: 'POST',
  path: '/posts/{id}/comments',
  tag: 'Comments',
  summary: 'Write a comment, or a reply to one',
  door: { holds: 'posts.comment' },
  scope: 'comments.write',
  params: idParams,
  body: closed({ body: CommentBody, parent_id: Type.Optional(nullable(Uuid)) }),
  responses: { 201: Comment },
  errors: [404, 409],
});

export const updateComment = operation({
  id: 'updateComment',
  method: 'PATCH',
  path: '/comments/{id}',
  tag: 'Comments',
  summary: 'Change one’s own comment',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  body: closed({ body: Type.Optional(nullable(CommentBody)) }),
  responses: { 200: Comment },
  errors: [404],
});

export const deleteComment = operation({
  id: 'deleteComment',
  method: 'DELETE',
  path: '/comments/{id}',
  tag: 'Comments',
  summary: 'Take a comment away, with its replies: its author, the post’s author, posts.admin',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const likeComment = operation({
  id: 'likeComment',
  method: 'POST',
  path: '/comments/{id}/like',
  tag: 'Comments',
  summary: 'Like a comment',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  responses: { 200: LikeState },
  errors: [404],
});

export const unlikeComment = operation({
  id: 'unlikeComment',
  method: 'DELETE',
  path: '/comments/{id}/like',
  tag: 'Comments',
  summary: 'Like a comment no longer',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  responses: { 200: LikeState },
  errors: [404],
});
