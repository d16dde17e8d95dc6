import { Type } from 'typebox';
import { Asset } from './assets.ts';
import { operation } from './operation.ts';
import { Count, closed, nullable, pageQuery, Uuid } from './values.ts';

/**
 * The widest visibility among the posts that pass the asset on. `narrow` depends on the reader; `none` means that
 * there is no such post.
 */
export const Exposure = Type.Enum(['none', 'narrow', 'org-only']);

/** Assets that are more widely visible than every post that contains them. */
export const listExposedAssets = operation({
  id: 'listExposedAssets',
  method: 'GET',
  path: '/admin/assets/exposed',
  tag: 'Assets',
  summary: 'List exposed assets',
  description: 'Lists assets of sensitivity `public` or `org` that no post shows as widely, newest first.',
  door: { holds: 'assets.admin' },
  scope: 'read',
  query: closed(pageQuery),
  responses: {
    200: closed({
      items: Type.Array(closed({ asset: Asset, posts: Exposure })),
      next_cursor: nullable(Type.String()),
      total: Count,
    }),
  },
  errors: [],
});

export const restrictAssets = operation({
  id: 'restrictAssets',
  method: 'POST',
  path: '/admin/assets/restrict',
  tag: 'Assets',
  summary: 'Restrict exposed assets',
  description:
    'Sets the sensitivity of up to 5,000 exposed assets to `posts`, either those named or all. Repeat it while `remaining` is not 0. `dry_run` only counts.',
  door: { holds: 'assets.admin' },
  scope: 'admin',
  example: { all: true, dry_run: true },
  body: closed({
    ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 200 })),
    all: Type.Optional(Type.Literal(true)),
    /** Only counts what would change. */
    dry_run: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: closed({ count: Count, remaining: Count }) },
  errors: ['ids-or-all'],
});
