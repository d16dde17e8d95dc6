import { lstat } from 'node:fs/promises';
import { isMissing } from '../../platform/files/directory-tree.ts';

/** What tells whether a file has changed. */
export interface FileState {
  sizeBytes: number;
  /** Microseconds since 1970. */
  modifiedUs: number;
  device: string;
}

/** Returns the state of a file; null if it is gone or no regular file. */
export async function stateOf(path: Buffer): Promise<FileState | null> {
  try {
    const found = await lstat(path, { bigint: true });
    if (!found.isFile()) return null;
    return {
      sizeBytes: Number(found.size),
      modifiedUs: Number(found.mtimeNs / 1000n),
      device: String(found.dev),
    };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns whether a file still has the size and time of an earlier look. */
export function isSameState(a: FileState, b: FileState | null): boolean {
  return b !== null && a.sizeBytes === b.sizeBytes && a.modifiedUs === b.modifiedUs;
}
