import { Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Post } from './posts.ts';
import { closed, nullable, Uuid } from './values.ts';

/** How many posts the rail has room for. */
export const RAIL_LENGTH = 50;

const idParams = closed({ id: Uuid });

export const listFeatured = operation({
  id: 'listFeatured',
  method: 'GET',
  path: '/posts/featured',
  tag: 'Posts',
  summary: 'The featured rail: posts an operator chose, in their order, as far as the caller’s feed has them',
  door: 'public',
  scope: 'read',
  responses: { 200: Type.Array(Post, { maxItems: RAIL_LENGTH }) },
  errors: [],
});

export const featurePost = operation({
  id: 'featurePost',
  method: 'PUT',
  path: '/posts/{id}/featured',
  tag: 'Posts',
  summary: 'Put a post on the featured rail, or elsewhere on it; without a position at its end',
  door: { holds: 'posts.admin' },
  scope: 'admin',
  params: idParams,
  body: closed({
    /** Place from 0. */
    position: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: RAIL_LENGTH - 1 }))),
  }),
  bodyOptional: true,
  responses: { 204: noContent },
  errors: [404, 409],
});

export const unfeaturePost = operation({
  id: 'unfeaturePost',
  method: 'DELETE',
  path: '/posts/{id}/featured',
  tag: 'Posts',
  summary: 'Take a post from the featured rail',
  door: { holds: 'posts.admin' },
  scope: 'admin',
  params: idParams,
  responses: { 204: noContent },
  errors: [404],
});

export const orderFeatured = operation({
  id: 'orderFeatured',
  method: 'PUT',
  path: '/posts/featured/order',
  tag: 'Posts',
  summary:
    'Order the featured rail: every post of it that one is shown, each once; 409 when it is another by now',
  door: { holds: 'posts.admin' },
  scope: 'admin',
  body: closed({ post_ids: Type.Array(Uuid, { maxItems: 200 }) }),
  responses: { 204: noContent },
  errors: [409],
});
