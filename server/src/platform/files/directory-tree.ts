import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns whether an error means that no file has this path. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Syncs a directory, so that a rename or new name survives a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Yields the paths of all files below a directory; none if it does not exist. */
export async function* filesBelow(directory: string): AsyncIterable<string> {
  let entries: Awaited<ReturnType<typeof opendir>>;
  try {
    entries = await opendir(directory);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  for await (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}
