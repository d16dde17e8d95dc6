import { type Static, Type } from 'typebox';
import { Asset } from './assets.ts';
import { operation } from './operation.ts';
import { closed, Uuid } from './values.ts';

/** The query: a file in a form, or an asset of the library. */
export const ImageQuery = closed({
  asset_id: Type.Optional(Uuid),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});

export const ImageMatch = closed({
  asset: Asset,
  /** From 0 for the same picture to 2, with three decimals. */
  distance: Type.Number({ minimum: 0, maximum: 2 }),
});
export type ImageMatch = Static<typeof ImageMatch>;

export const searchByImage = operation({
  id: 'searchByImage',
  method: 'POST',
  path: '/search/by-image',
  tag: 'Search',
  summary: 'Search by image',
  description:
    'Finds pictures that look like the uploaded file, or like an asset whose bytes the caller may get. Does not store the query. Returns 501 `sidecar_not_installed` without an encoder.',
  door: 'public',
  scope: 'read',
  example: { asset_id: '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30', limit: 20 },
  body: ImageQuery,
  form: true,
  seenBy: 'caller',
  responses: { 200: closed({ items: Type.Array(ImageMatch) }) },
  errors: [
    'file-and-asset-exclusive',
    'file-part-single',
    'given-twice',
    'not-found',
    'picture-decoding-stopped',
    'picture-too-large',
    'picture-unreadable',
    'received-too-large',
    'sidecar-not-installed',
  ],
});
