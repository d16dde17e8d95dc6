import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed } from './values.ts';

/** One size of the preview ladder. */
export const PreviewRung = closed({
  /** A short name, never a path. */
  key: Type.String({ pattern: '^[a-z][a-z0-9_]{0,19}$' }),
  fit: Type.Enum(['cover', 'contain']),
  /** Longest edge in pixels. Smaller pictures are not enlarged. */
  max_dim: Type.Integer({ minimum: 16, maximum: 16_383 }),
  format: Type.Enum(['webp', 'avif', 'jpeg']),
  quality: Type.Integer({ minimum: 1, maximum: 100 }),
});
export type PreviewRung = Static<typeof PreviewRung>;

/** The quality of a size that names none. */
export const DEFAULT_QUALITY = 80;

const PreviewRungUpdate = closed({
  ...PreviewRung.properties,
  quality: Type.Optional(PreviewRung.properties.quality),
});

/**
 * The configured ladder, and the progress of the background job that renders what stored files lack: previews of this
 * ladder and renditions that an earlier version did not make.
 */
export const PreviewSettings = closed({
  variants: Type.Array(PreviewRung),
  rendering: closed({
    state: Type.Enum(['done', 'running', 'paused']),
    /** Stored files that are still to be processed. */
    waiting: Count,
    /** All stored files. */
    total: Count,
  }),
});
export type PreviewSettings = Static<typeof PreviewSettings>;

export const getPreviewSettings = operation({
  id: 'getPreviewSettings',
  method: 'GET',
  path: '/admin/system/previews',
  tag: 'System',
  summary: 'Get the preview ladder',
  description: 'Returns the configured sizes and how many files still have renditions of an earlier ladder.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: PreviewSettings },
  errors: [],
});

export const setPreviewSettings = operation({
  id: 'setPreviewSettings',
  method: 'PUT',
  path: '/admin/system/previews',
  tag: 'System',
  summary: 'Configure the preview ladder',
  description:
    '`col` and `preview` are required. Without `quality` it is 80. Stored files are rendered again in the background and keep their earlier renditions until then.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: {
    variants: [
      { key: 'col', fit: 'cover', max_dim: 320, format: 'webp', quality: 80 },
      { key: 'preview', fit: 'contain', max_dim: 1024, format: 'webp', quality: 82 },
    ],
  },
  body: closed({ variants: Type.Array(PreviewRungUpdate, { minItems: 1, maxItems: 12 }) }),
  responses: { 200: PreviewSettings },
  errors: ['variant-key-required', 'variant-key-taken', 'variant-repeated'],
});

export const pausePreviewRendering = operation({
  id: 'pausePreviewRendering',
  method: 'PUT',
  path: '/admin/system/previews/paused',
  tag: 'System',
  summary: 'Pause or resume rendering',
  description: 'Affects stored files that are rendered again. New files are always rendered.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  body: closed({ paused: Type.Boolean() }),
  responses: { 200: PreviewSettings },
  errors: [],
});

export const getPreviews = operation({
  id: 'getPreviews',
  method: 'GET',
  path: '/previews',
  tag: 'Assets',
  summary: 'List the sizes of previews',
  description: 'Lists the preview ladder. Files that can be rendered have all of its sizes.',
  door: 'public',
  scope: 'read',
  responses: {
    200: closed({
      variants: Type.Array(
        closed({
          key: Type.String(),
          fit: Type.Enum(['cover', 'contain']),
          max_dim: Type.Integer(),
          format: Type.String(),
        }),
      ),
    }),
  },
  errors: [],
});
