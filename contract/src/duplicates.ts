import { type Static, Type } from 'typebox';
import { ShownAsset } from './assets.ts';
import { noContent, operation } from './operation.ts';
import { closed, page, pageQuery, Uuid } from './values.ts';

/** DUPLICATE-3: the most assets of a group that are shown and merged at a time. */
export const mostDuplicates = 50;

export const DuplicateKind = Type.Enum(['exact', 'similar']);
export type DuplicateKind = Static<typeof DuplicateKind>;

/** Assets with the same bytes, or with pictures that look alike. */
export const Duplicates = closed({
  id: Uuid,
  kind: DuplicateKind,
  /** Newest first; at least two. */
  assets: Type.Array(ShownAsset),
  /** How much similar pictures differ; absent for the same bytes. */
  distance: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
});
export type Duplicates = Static<typeof Duplicates>;

export const listDuplicates = operation({
  id: 'listDuplicates',
  method: 'GET',
  path: '/assets/duplicates',
  tag: 'Assets',
  summary: 'List duplicates',
  description:
    'Lists groups of files with the same bytes, or pairs of pictures that look alike, among the assets that the caller may edit, newest first. Groups that were marked as different are left out.',
  door: 'signedIn',
  scope: 'read',
  query: Type.Object({ ...pageQuery, kind: Type.Optional(DuplicateKind) }),
  responses: { 200: page(Duplicates) },
  errors: [],
});

export const resolveDuplicates = operation({
  id: 'resolveDuplicates',
  method: 'POST',
  path: '/assets/duplicates/{id}/resolve',
  tag: 'Assets',
  summary: 'Merge duplicates, or mark them as different',
  description:
    'With `keep` and `remove`, gives the kept asset the values and tags that it lacks, puts it into the posts of the others in their place with the annotations of theirs, and moves the others to the trash. With `different`, leaves the group out of the list from now on.',
  door: 'signedIn',
  scope: 'assets.write',
  params: closed({ id: Uuid }),
  example: {
    keep: '3f1c9a52-5d0e-4b6f-9a3e-0d6a1f2b7c48',
    remove: ['9b2f7c1e-8a44-4c0d-b1d2-6e5f3a7c9d10'],
  },
  body: closed({
    keep: Type.Optional(Uuid),
    remove: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: mostDuplicates })),
    different: Type.Optional(Type.Literal(true)),
  }),
  responses: { 204: noContent },
  errors: ['duplicate-not-member', 'keep-or-different', 'not-found'],
});
