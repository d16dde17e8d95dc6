import { type Static, Type } from 'typebox';
import { PostAuthor } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { closed, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** A point as fractions of the board, slightly beyond its edges if necessary, stored with five decimals. */
const Coordinate = Type.Number({ minimum: -10, maximum: 10 });

export const Stroke = closed({
  points: Type.Array(Type.Array(Coordinate, { minItems: 2, maxItems: 2 }), { minItems: 1, maxItems: 5000 }),
  color: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$' })),
  width: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
});
const Strokes = Type.Array(Stroke, { maxItems: 1000 });
const Title = Type.String({ maxLength: 500 });

export const Whiteboard = closed({
  id: Uuid,
  post_id: Uuid,
  author: Type.Optional(PostAuthor),
  title: Type.String(),
  strokes: Type.Array(Stroke),
  created_at: Timestamp,
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
    'Adds a drawing of at most 10,000 points, as fractions of the board. Everyone who may read the post may draw, even if comments are disabled.',
  door: 'signedIn',
  scope: 'posts.write',
  params: idParams,
  body: closed({ title: Type.Optional(Title), strokes: Strokes }),
  responses: { 201: Whiteboard },
  errors: ['not-found', 'whiteboard-too-large'],
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
