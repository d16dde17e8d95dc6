import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, Timestamp } from './values.ts';

export const StorageAmount = closed({ count: Count, bytes: Count });

/** What the library holds, as it was counted last. */
export const StorageCount = closed({
  as_of: Timestamp,
  /** Originals, each once however many assets have it. */
  files: StorageAmount,
  renditions: StorageAmount,
  /** Files of subtitles, each once however many assets have it. Absent from a count of an earlier version. */
  subtitles: Type.Optional(StorageAmount),
  /** Originals that no asset has, deleted or not: what waits to be released. */
  unreferenced: StorageAmount,
  /** Assets in the trash. Bytes that several assets have count for each of them, here and by type. */
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
  /** Null until it was counted for the first time. */
  counted: nullable(StorageCount),
  /** Whether somebody asked for a count that has not ended. */
  counting: Type.Boolean(),
  /** The volume of the data directory, as it is now. */
  disk: closed({ free_bytes: Count, total_bytes: Count }),
});

export const getStorage = operation({
  id: 'getStorage',
  method: 'GET',
  path: '/admin/system/storage',
  tag: 'System',
  summary: 'Get the storage use',
  description: 'Answers what the library holds, as counted at `as_of`, and the free space of its volume.',
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
  description: 'Starts a count. While one is under way, another request changes nothing.',
  door: { holds: 'system.config.read' },
  scope: 'admin',
  responses: { 202: StorageOverview },
  errors: [],
});
