import { ShownAsset } from './assets.ts';
import { noContent, operation } from './operation.ts';
import { closed, page, pageQuery, Uuid } from './values.ts';

/** RELATED-4: the most files that one can be related to by hand. */
export const mostRelated = 1000;

const idParams = closed({ id: Uuid });
const pairParams = closed({ id: Uuid, other: Uuid });

export const listRelatedAssets = operation({
  id: 'listRelatedAssets',
  method: 'GET',
  path: '/assets/{id}/related',
  tag: 'Assets',
  summary: 'List related files',
  description:
    'Lists the files that are related to this one and that the caller is shown, the newest relation first. Returns 404 to callers who are not shown this file.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed(pageQuery),
  replica: true,
  responses: { 200: page(ShownAsset) },
  errors: ['not-found'],
});

export const addRelatedAsset = operation({
  id: 'addRelatedAsset',
  method: 'PUT',
  path: '/assets/{id}/related/{other}',
  tag: 'Assets',
  summary: 'Relate two files',
  description: `Idempotent. The caller must be able to edit the first file and be shown the second one. The relation holds in both directions and shows nobody a file that they do not see otherwise. Returns 409 when the file already has ${mostRelated} related files.`,
  door: 'signedIn',
  scope: 'assets.write',
  params: pairParams,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner', 'related-full', 'related-to-itself'],
});

export const removeRelatedAsset = operation({
  id: 'removeRelatedAsset',
  method: 'DELETE',
  path: '/assets/{id}/related/{other}',
  tag: 'Assets',
  summary: 'End the relation of two files',
  description:
    'Idempotent. For callers who may edit the first file; works even if they cannot see the second one.',
  door: 'signedIn',
  scope: 'assets.write',
  params: pairParams,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner'],
});
