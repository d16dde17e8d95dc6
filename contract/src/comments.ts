import { type Static, Type } from 'typebox';
import { Origin } from './federation.ts';
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
  /** The library it was written at; absent for comments made here. */
  origin: Type.Optional(Origin),
  like_count: Count,
  liked: Type.Boolean(),
  reply_count: Count,
};

/** COMMENT-4: a comment or a reply. */
export const Comment = closed(record);
export type Comment = Static<typeof Comment>;

/** A top-level comment with its first replies, oldest first. */
export const CommentRoot = closed({ ...record, replies: Type.Array(Comment) });
export type CommentRoot = Static<typeof CommentRoot>;

/** Whether the caller likes it, and how many accounts do. */
export const LikeState = closed({ liked: Type.Boolean(), like_count: Count });

const CommentBody = Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S' });
const idParams = closed({ id: Uuid });

export const listComments = operation({
  id: 'listComments',
  method: 'GET',
  path: '/posts/{id}/comments',
  tag: 'Comments',
  summary: 'List the comments of a post',
  description:
    'Lists top-level comments, newest first, each with its first 20 replies, oldest first. Everyone who may read the post may read its comments.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(CommentRoot) },
  errors: ['not-found'],
});

export const listReplies = operation({
  id: 'listReplies',
  method: 'GET',
  path: '/comments/{id}/replies',
  tag: 'Comments',
  summary: 'List the replies to a comment',
  description: 'Lists all replies to a top-level comment, newest first.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(Comment) },
  errors: ['not-found'],
});

export const createComment = operation({
  id: 'createComment',
  method: 'POST',
  path: '/posts/{id}/comments',
  tag: 'Comments',
  summary: 'Comment on a post',
  description:
    'Creates a comment, or a reply with `parent_id`. A reply to a reply joins the thread of its top-level comment. Returns 409 for drafts and for posts with comments disabled.',
  door: { holds: 'posts.comment' },
  scope: 'comments.write',
  params: idParams,
  example: { body: 'The light is lovely.' },
  body: closed({ body: CommentBody, parent_id: Type.Optional(nullable(Uuid)) }),
  seenBy: 'caller',
  responses: { 201: Comment },
  errors: ['comment-not-found', 'comments-disabled', 'draft-without-comments', 'not-found'],
});

export const updateComment = operation({
  id: 'updateComment',
  method: 'PATCH',
  path: '/comments/{id}',
  tag: 'Comments',
  summary: 'Change a comment',
  description: 'For the author of the comment only. Sets `edited_at`.',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  body: closed({ body: Type.Optional(nullable(CommentBody)) }),
  responses: { 200: Comment },
  errors: ['comment-not-yours', 'not-found'],
});

export const deleteComment = operation({
  id: 'deleteComment',
  method: 'DELETE',
  path: '/comments/{id}',
  tag: 'Comments',
  summary: 'Delete a comment',
  description:
    'Deletes the comment with its replies, for its author, the author of the post and `posts.admin`. Other readers get 403.',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  responses: { 204: noContent },
  errors: ['comment-not-yours', 'not-found'],
});

export const likeComment = operation({
  id: 'likeComment',
  method: 'POST',
  path: '/comments/{id}/like',
  tag: 'Comments',
  summary: 'Like a comment',
  description: 'Idempotent. Everyone who may read the post may like its comments.',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  seenBy: 'caller',
  responses: { 200: LikeState },
  errors: ['not-found'],
});

export const unlikeComment = operation({
  id: 'unlikeComment',
  method: 'DELETE',
  path: '/comments/{id}/like',
  tag: 'Comments',
  summary: 'Remove a like from a comment',
  description: 'Idempotent.',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  seenBy: 'caller',
  responses: { 200: LikeState },
  errors: ['not-found'],
});
