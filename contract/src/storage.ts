import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, Timestamp } from './values.ts';

export const StorageAmount = closed({ count: Count, bytes: Count });

/** What the library holds, according to the latest count. */
export const StorageCount = closed({
  as_of: Timestamp,
  /** Originals, each counted once even if several assets share it. */
  files: StorageAmount,
  renditions: StorageAmount,
  /** Subtitle files, each counted once even if several assets share it. Absent from counts of earlier versions. */
  subtitles: Type.Optional(StorageAmount),
  /** Originals that no asset refers to, not even in the trash. They will be removed. */
  unreferenced: StorageAmount,
  /** Assets in the trash. Shared bytes count for each asset, here and by type. */
  trash: StorageAmount,
  /** Assets that are not deleted. */
  by_type: Type.Array(
    closed({
      asset_type: Type.Integer(),
      code: Type.String(),
      label: Type.String(),
      count: Count,
      bytes: Count,
    }),
  ),
});
export type StorageCount = Static<typeof StorageCount>;

export const StorageOverview = closed({
  /** Null before the first count. */
  counted: nullable(StorageCount),
  /** True while a requested count is running. */
  counting: Type.Boolean(),
  /** The current state of the volume of the data directory. */
  disk: closed({ free_bytes: Count, total_bytes: Count }),
});

export const getStorage = operation({
  id: 'getStorage',
  method: 'GET',
  path: '/admin/system/storage',
  tag: 'System',
  summary: 'Get the storage use',
  description: 'Returns what the library holds, as counted at `as_of`, and the free space of its volume.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: StorageOverview },
  errors: [],
});

export const countStorage = operation({
  id: 'countStorage',
  method: 'POST',
  path: '/admin/system/storage/count',
  tag: 'System',
  summary: 'Count the storage use',
  description: 'Starts a count. Has no effect while a count is running.',
  door: { holds: 'system.config.read' },
  scope: 'admin',
  responses: { 202: StorageOverview },
  errors: [],
});
