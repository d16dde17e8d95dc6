import { Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Post } from './posts.ts';
import { closed, nullable, Uuid } from './values.ts';

/** The maximum number of featured posts. */
export const RAIL_LENGTH = 50;

const idParams = closed({ id: Uuid });

export const listFeatured = operation({
  id: 'listFeatured',
  method: 'GET',
  path: '/posts/featured',
  tag: 'Posts',
  summary: 'List featured posts',
  description: 'Lists the featured posts that the caller’s feed would show, in their order.',
  door: 'public',
  scope: 'read',
  replica: true,
  responses: { 200: Type.Array(Post, { maxItems: RAIL_LENGTH }) },
  errors: [],
});

export const featurePost = operation({
  id: 'featurePost',
  method: 'PUT',
  path: '/posts/{id}/featured',
  tag: 'Posts',
  summary: 'Feature a post',
  description:
    'Adds a published post to the featured list or moves it, to the end without `position`. Returns 409 when the list is full (50 posts).',
  door: { holds: 'posts.admin' },
  scope: 'admin',
  params: idParams,
  example: { position: 0 },
  body: closed({
    /** Position, starting at 0. */
    position: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: RAIL_LENGTH - 1 }))),
  }),
  bodyOptional: true,
  responses: { 204: noContent },
  errors: ['draft-cannot-be-featured', 'featured-list-full', 'not-found'],
});

export const unfeaturePost = operation({
  id: 'unfeaturePost',
  method: 'DELETE',
  path: '/posts/{id}/featured',
  tag: 'Posts',
  summary: 'Remove a post from the featured list',
  description: 'Idempotent.',
  door: { holds: 'posts.admin' },
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: ['not-found'],
});

export const orderFeatured = operation({
  id: 'orderFeatured',
  method: 'PUT',
  path: '/posts/featured/order',
  tag: 'Posts',
  summary: 'Order the featured list',
  description:
    'Requires every featured post that the caller may see, each once. Returns 409 when the list has changed.',
  door: { holds: 'posts.admin' },
  scope: 'admin',
  body: closed({ post_ids: Type.Array(Uuid, { maxItems: 200 }) }),
  responses: { 204: noContent },
  errors: ['featured-list-changed', 'featured-repeated'],
});
