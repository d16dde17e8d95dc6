import { basename } from 'node:path';
import type { MadeFile } from '../media/stills/still.ts';
import { renditionKey } from '../platform/storage/object-key.ts';
import type { Storage } from '../platform/storage/storage.ts';

/** The location of a rendition, as in `files.renditions`. */
export interface KeptRendition {
  object: string;
  type: string;
  bytes: number;
  width?: number;
  height?: number;
  /** A rendition of the ladder. */
  rung?: true;
}

/**
 * Stores finished files with the prefix in front of their names, and returns their entries for `files.renditions`;
 * files with the same picture share an object. The caller holds the lock of the hash and writes the row in the same
 * transaction.
 */
export async function keepFiles(
  storage: Storage,
  hash: string,
  made: readonly MadeFile[],
  namePrefix = '',
): Promise<Record<string, KeptRendition>> {
  const renditions: Record<string, KeptRendition> = {};
  const objects = new Map<string, string>();
  for (const { key, path, contentType, sizeBytes, ...shape } of made) {
    const object = objects.get(path) ?? renditionKey(hash, `${namePrefix}${basename(path)}`);
    if (!objects.has(path)) {
      await storage.adopt(path, object);
      objects.set(path, object);
    }
    renditions[key] = { object, type: contentType, bytes: sizeBytes, ...shape };
  }
  return renditions;
}
