import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { bytes, noContent, operation } from './operation.ts';
import { BoardStroke, BoardStrokes } from './strokes.ts';
import { closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

const Title = Type.String({ maxLength: 500 });

export const Whiteboard = closed({
  id: Uuid,
  post_id: Uuid,
  author: Type.Optional(PostAuthor),
  title: Type.String(),
  strokes: Type.Array(BoardStroke),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Whiteboard = Static<typeof Whiteboard>;

const idParams = closed({ id: Uuid });

/** BOARD-2: allowed even if `comments_enabled` is false. */
export const createWhiteboard = operation({
  id: 'createWhiteboard',
  method: 'POST',
  path: '/posts/{id}/whiteboards',
  tag: 'Whiteboards',
  summary: 'Draw on a post',
  description:
    'Adds a drawing of at most 2,000 strokes and 10,000 points, as fractions of the board. Everyone who may read the post may draw, even if comments are disabled.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: closed({ title: Type.Optional(Title), strokes: BoardStrokes }),
  responses: { 201: Whiteboard },
  errors: ['not-found', 'drawing-too-large', 'pressure-out-of-range'],
});

export const listWhiteboards = operation({
  id: 'listWhiteboards',
  method: 'GET',
  path: '/posts/{id}/whiteboards',
  tag: 'Whiteboards',
  summary: 'List the drawings on a post',
  description: 'Lists drawings, newest first. Everyone who may read the post may see them.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(Whiteboard) },
  errors: ['not-found'],
});

export const getWhiteboard = operation({
  id: 'getWhiteboard',
  method: 'GET',
  path: '/whiteboards/{id}',
  tag: 'Whiteboards',
  summary: 'Read a drawing',
  description: 'Everyone who may read the post may see it.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: Whiteboard },
  errors: ['not-found'],
});

const picture = {
  method: 'GET',
  tag: 'Whiteboards',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  params: idParams,
  errors: ['not-found', 'picture-decoding-stopped'],
} as const;

/** BOARD-11. */
export const getWhiteboardSvg = operation({
  ...picture,
  id: 'getWhiteboardSvg',
  path: '/whiteboards/{id}/drawing.svg',
  summary: 'Get a drawing as SVG',
  description:
    'Returns the drawing on white, with letters as paths. Everyone who may read the post may get it.',
  responses: { 200: bytes('image/svg+xml') },
});

export const getWhiteboardPng = operation({
  ...picture,
  id: 'getWhiteboardPng',
  path: '/whiteboards/{id}/drawing.png',
  summary: 'Get a drawing as PNG',
  description: 'Returns the drawing on white, 1,600 pixels wide. Everyone who may read the post may get it.',
  responses: { 200: bytes('image/png') },
});

export const updateWhiteboard = operation({
  id: 'updateWhiteboard',
  method: 'PATCH',
  path: '/whiteboards/{id}',
  tag: 'Whiteboards',
  summary: 'Change a drawing',
  description:
    'For its author only. `strokes` replaces all strokes. With `if_unchanged_since`, returns 409 when the drawing has changed since.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: closed({
    title: Type.Optional(nullable(Title)),
    strokes: Type.Optional(nullable(BoardStrokes)),
    if_unchanged_since: Type.Optional(nullable(Timestamp)),
  }),
  responses: { 200: Whiteboard },
  errors: ['changed', 'drawing-too-large', 'not-found', 'pressure-out-of-range', 'whiteboard-not-yours'],
});

export const deleteWhiteboard = operation({
  id: 'deleteWhiteboard',
  method: 'DELETE',
  path: '/whiteboards/{id}',
  tag: 'Whiteboards',
  summary: 'Delete a drawing',
  description: 'For its author, the author of the post and `posts.admin`.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  responses: { 204: noContent },
  errors: ['not-found', 'whiteboard-not-yours'],
});
