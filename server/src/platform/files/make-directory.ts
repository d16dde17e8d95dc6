import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Creates a directory unless it exists; returns whether it did. */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() === true) return false;
    throw error;
  }
}

/**
 * Creates a directory and its missing parents; returns the topmost one that was created, or undefined if it exists.
 * Node's own recursive mkdir never returns where the file system itself reports ENOENT, such as below /proc.
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<string | undefined> {
  try {
    return (await makeOne(path, mode)) ? path : undefined;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing || dirname(path) === path) throw error;
    const first = await makeDirectory(dirname(path), mode);
    const isMade = await makeOne(path, mode);
    return first ?? (isMade ? path : undefined);
  }
}
