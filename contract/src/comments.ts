import { type Static, Type } from 'typebox';
import { Annotation, CommentBody, NewAnnotation } from './annotations.ts';
import { Origin } from './federation.ts';
import { CommentGuest } from './guests.ts';
import { PostAuthor } from './identity.ts';
import { bytes, noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

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
  /** The guest of a share link who wrote it (GUEST-7); editors of the post read what guests write. */
  guest: Type.Optional(CommentGuest),
  remote_display_name: Type.Optional(nullable(Type.String())),
  /** The library it was written at; absent for comments made here. */
  origin: Type.Optional(Origin),
  like_count: Count,
  liked: Type.Boolean(),
  reply_count: Count,
  /** The place in a file that it is about; replies have none. */
  annotation: Type.Optional(Annotation),
  /** Absent while it is open. */
  resolved_at: Type.Optional(Timestamp),
  resolved_by: Type.Optional(PostAuthor),
  assignee: Type.Optional(PostAuthor),
};

/** COMMENT-4: a comment or a reply. */
export const Comment = closed(record);
export type Comment = Static<typeof Comment>;

/** A top-level comment with its first replies, oldest first. */
export const CommentRoot = closed({ ...record, replies: Type.Array(Comment) });
export type CommentRoot = Static<typeof CommentRoot>;

/** Whether the caller likes it, and how many accounts do. */
export const LikeState = closed({ liked: Type.Boolean(), like_count: Count });

const idParams = closed({ id: Uuid });

/** ANNOTATION-7: conditions that a top-level comment must meet. */
const filters = {
  /** Annotations of this file. */
  asset_id: Type.Optional(Uuid),
  resolved: Type.Optional(Type.Boolean()),
  /** Annotations, or the comments that are none. */
  annotated: Type.Optional(Type.Boolean()),
  author_ref: Type.Optional(Ref),
  /** The account that it is assigned to. */
  assignee: Type.Optional(Ref),
};

export const listComments = operation({
  id: 'listComments',
  method: 'GET',
  path: '/posts/{id}/comments',
  tag: 'Comments',
  summary: 'List the comments of a post',
  description:
    'Lists top-level comments, newest first, each with its first 20 replies, oldest first. Everyone who may read the post may read its comments, except annotations of files that are withheld from them.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed({ ...pageQuery, ...filters }),
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

export const getDrawing = operation({
  id: 'getDrawing',
  method: 'GET',
  path: '/comments/{id}/drawing.png',
  tag: 'Comments',
  summary: 'Get the drawing of an annotation as a picture',
  description:
    'Returns the picture, the frame at the start of the annotation or the page, with the drawing on it, in the version of the annotation. Returns 404 for comments without a drawing, and to callers who may not get the bytes.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  params: idParams,
  responses: { 200: bytes('image/png') },
  errors: ['not-found', 'picture-decoding-stopped'],
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

/** ANNOTATION-1: allowed even if `comments_enabled` is false. */
export const createAnnotation = operation({
  id: 'createAnnotation',
  method: 'POST',
  path: '/posts/{id}/annotations',
  tag: 'Comments',
  summary: 'Annotate a file of a post',
  description:
    'Creates a comment about a place in a file of the post, by default in its current version, with a body, a drawing or both. Works for drafts and for posts with comments disabled. A file that is not in the post or withheld from the caller returns 404.',
  door: { holds: 'posts.comment' },
  scope: 'comments.write',
  params: idParams,
  example: {
    asset_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30',
    anchor: { kind: 'region', x: 0.25, y: 0.4, w: 0.1, h: 0.1 },
    body: 'The horizon tilts here.',
  },
  body: NewAnnotation,
  seenBy: 'caller',
  responses: { 201: Comment },
  errors: [
    'anchor-after-end',
    'anchor-of-other-kind',
    'anchor-incomplete',
    'anchor-outside-picture',
    'anchor-reversed',
    'anchor-without-page',
    'annotated-file-not-found',
    'annotation-empty',
    'drawing-too-large',
    'not-found',
    'pressure-out-of-range',
    'version-not-found',
  ],
});

const resolution = {
  path: '/comments/{id}/resolve',
  tag: 'Comments',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  responses: { 200: Comment },
  errors: ['comment-is-reply', 'comment-not-yours', 'not-found'],
} as const;

export const resolveComment = operation({
  ...resolution,
  id: 'resolveComment',
  method: 'POST',
  summary: 'Resolve a comment',
  description:
    'For the author of the comment, the author of the post, the assignee and `posts.admin`. Idempotent. A reply returns 409.',
});

export const reopenComment = operation({
  ...resolution,
  id: 'reopenComment',
  method: 'DELETE',
  summary: 'Reopen a resolved comment',
  description: 'For those who may resolve it. Idempotent.',
});

export const assignComment = operation({
  id: 'assignComment',
  method: 'PUT',
  path: '/comments/{id}/assignee',
  tag: 'Comments',
  summary: 'Assign a comment',
  description:
    'For those who may resolve it; null assigns it to nobody. Returns 404 for accounts that may not read the comment.',
  door: 'signedIn',
  scope: 'comments.write',
  params: idParams,
  example: { user_ref: 12 },
  body: closed({ user_ref: nullable(Ref) }),
  responses: { 200: Comment },
  errors: ['comment-is-reply', 'comment-not-yours', 'not-found', 'user-not-found'],
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
    'Deletes the comment with its replies, for its author, the author of the post and `posts.admin`. Other readers get 403. Comments of guests of share links are deleted by the editors of the target of the link.',
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
