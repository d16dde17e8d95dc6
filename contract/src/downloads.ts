import { type Static, Type } from 'typebox';
import { capabilities } from './capabilities.ts';
import { downloadFormats } from './limits.ts';
import { operation } from './operation.ts';
import { closed, NameOnOneLine } from './values.ts';

export const PresetKey = Type.String({ pattern: '^[a-z0-9-]{1,40}$' });

/** DOWNLOAD-1: a form in which files are downloaded. */
export const DownloadPreset = closed({
  key: PresetKey,
  label: NameOnOneLine,
  format: Type.Enum([...downloadFormats]),
  /** Longest edge in pixels. Smaller files are not enlarged. */
  max_dim: Type.Optional(Type.Integer({ minimum: 1, maximum: 16_384 })),
  /** Of JPEG, WebP and AVIF; 85 unless given. */
  quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  /** `srgb` converts to sRGB; `keep`, the default, keeps the profile of the file. */
  colour: Type.Optional(Type.Enum(['keep', 'srgb'])),
  /**
   * `keep`, the default: all of the file. `rights`: creator, copyright and credit only. `fields`: the values of the
   * library's fields that the caller may read. `strip`: none.
   */
  metadata: Type.Optional(Type.Enum(['keep', 'rights', 'fields', 'strip'])),
  /** Callers without this capability do not have the preset. */
  capability: Type.Optional(Type.Enum([...capabilities])),
});
export type DownloadPreset = Static<typeof DownloadPreset>;

export const DownloadPresets = closed({ presets: Type.Array(DownloadPreset, { maxItems: 50 }) });
export type DownloadPresets = Static<typeof DownloadPresets>;

export const getDownloadSettings = operation({
  id: 'getDownloadSettings',
  method: 'GET',
  path: '/admin/system/downloads',
  tag: 'System',
  summary: 'Get the download presets',
  description: 'Returns all forms in which files are downloaded.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: DownloadPresets },
  errors: [],
});

export const setDownloadSettings = operation({
  id: 'setDownloadSettings',
  method: 'PUT',
  path: '/admin/system/downloads',
  tag: 'System',
  summary: 'Configure the download presets',
  description: 'Replaces the list. Files are made when somebody downloads them.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: {
    presets: [{ key: 'jpeg-2000', label: 'JPEG, 2,000 pixels', format: 'jpeg', max_dim: 2000, quality: 85 }],
  },
  body: DownloadPresets,
  responses: { 200: DownloadPresets },
  errors: ['preset-repeated'],
});

export const listDownloads = operation({
  id: 'listDownloads',
  method: 'GET',
  path: '/downloads',
  tag: 'Assets',
  summary: 'List the download presets',
  description:
    'Lists the forms in which the caller may download files, for `preset` of `GET /assets/{id}/file` and of archives.',
  door: 'public',
  scope: 'read',
  responses: { 200: DownloadPresets },
  errors: [],
});
