import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { COUNTED_HITS } from './search.ts';
import { closed, nullable, Uuid } from './values.ts';

export const PublicMode = closed({ enabled: Type.Boolean() });

export const getPublicMode = operation({
  id: 'getPublicMode',
  method: 'GET',
  path: '/system/public-mode',
  tag: 'System',
  summary: 'Check whether public mode is on',
  description: 'In public mode, anonymous callers see public content.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: PublicMode },
  errors: [],
});

export const setPublicMode = operation({
  id: 'setPublicMode',
  method: 'PUT',
  path: '/system/public-mode',
  tag: 'System',
  summary: 'Turn public mode on or off',
  description: 'Takes effect with the next request in every process.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: PublicMode,
  responses: { 200: PublicMode },
  errors: [],
});

export const PublicCount = closed({
  count: Type.Integer({ minimum: 0, maximum: COUNTED_HITS }),
  /** True if there are more than `count`. */
  capped: Type.Boolean(),
});

export const PublicSample = closed({
  kind: Type.Enum(['post', 'asset']),
  id: Uuid,
  title: Type.String(),
  /** The asset whose `col` rendition shows it; null if visitors may not see a picture of it. */
  picture_asset_id: nullable(Uuid),
});
export type PublicSample = Static<typeof PublicSample>;

export const previewPublicMode = operation({
  id: 'previewPublicMode',
  method: 'GET',
  path: '/system/public-mode/preview',
  tag: 'System',
  summary: 'Preview public mode',
  description:
    'Counts the content that anonymous callers see while public mode is on, and returns up to twelve posts and assets of it.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: {
    200: closed({
      enabled: Type.Boolean(),
      posts: PublicCount,
      assets: PublicCount,
      collections: PublicCount,
      people: PublicCount,
      sample: Type.Array(PublicSample, { maxItems: 12 }),
    }),
  },
  errors: [],
});

export const MatureContent = closed({ allowed: Type.Boolean() });

export const getMatureContent = operation({
  id: 'getMatureContent',
  method: 'GET',
  path: '/admin/system/mature-content',
  tag: 'System',
  summary: 'Check whether mature content is allowed',
  description: 'Returns whether the library allows assets that are rated as mature.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: MatureContent },
  errors: [],
});

export const setMatureContent = operation({
  id: 'setMatureContent',
  method: 'PUT',
  path: '/admin/system/mature-content',
  tag: 'System',
  summary: 'Allow or forbid mature content',
  description: 'Takes effect with the next request. Accounts keep their own preference.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: MatureContent,
  responses: { 200: MatureContent },
  errors: [],
});

export const getBuildInfo = operation({
  id: 'getBuildInfo',
  method: 'GET',
  path: '/build-info',
  tag: 'System',
  summary: 'Get the version',
  description: 'Returns the version of the service and of this interface.',
  door: 'open',
  scope: 'none',
  responses: { 200: closed({ version: Type.String(), api_version: Type.String() }) },
  errors: [],
});
