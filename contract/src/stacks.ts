import { Type } from 'typebox';
import { ShownAsset } from './assets.ts';
import { noContent, operation } from './operation.ts';
import { closed, Uuid } from './values.ts';

/** STACK-1: the most assets of a stack. */
export const mostStacked = 100;

const common = { tag: 'Assets', scope: 'assets.write', door: 'signedIn' } as const;
const params = closed({ id: Uuid });

/** The assets of a stack that the caller is shown, the top one first. */
export const StackContents = closed({ id: Uuid, items: Type.Array(ShownAsset, { maxItems: mostStacked }) });

export const createStack = operation({
  ...common,
  id: 'createStack',
  method: 'POST',
  path: '/stacks',
  summary: 'Stack assets',
  description: `Makes one stack of 2 to ${mostStacked} assets of one owner, the first one on top, for callers who may edit all of them. They leave their previous stacks.`,
  example: { asset_ids: ['0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30', '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c31'] },
  body: closed({ asset_ids: Type.Array(Uuid, { minItems: 2, maxItems: mostStacked }) }),
  responses: { 201: StackContents },
  errors: ['given-twice', 'not-found', 'not-owner', 'stack-of-several-owners'],
});

export const getStack = operation({
  ...common,
  door: 'public',
  scope: 'read',
  id: 'getStack',
  method: 'GET',
  path: '/stacks/{id}',
  summary: 'Get a stack',
  description:
    'Returns the assets of the stack that the caller is shown, the top one first. Returns 404 to callers who are shown none.',
  params,
  replica: true,
  responses: { 200: StackContents },
  errors: ['not-found'],
});

export const setStackTop = operation({
  ...common,
  id: 'setStackTop',
  method: 'PUT',
  path: '/stacks/{id}/top',
  summary: 'Choose the top of a stack',
  description: 'Puts an asset of the stack on top of it, for callers who may edit that asset.',
  params,
  body: closed({ asset_id: Uuid }),
  responses: { 200: StackContents },
  errors: ['not-found', 'not-owner'],
});

export const deleteStack = operation({
  ...common,
  id: 'deleteStack',
  method: 'DELETE',
  path: '/stacks/{id}',
  summary: 'Unstack assets',
  description:
    'Ends a stack, whose assets stay, for callers who may edit all of its assets. Returns 404 to callers who are shown none of them.',
  params,
  responses: { 204: noContent },
  errors: ['not-found', 'not-owner'],
});
