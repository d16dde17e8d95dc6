import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents; returns the topmost one that was created, or undefined if it exists.
 * Node's own recursive mkdir never returns where the file system itself reports ENOENT, such as below /proc.
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() === true) return undefined;
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const first = isMissing && dirname(path) !== path ? await makeDirectory(dirname(path), mode) : undefined;
    // Its parent exists, so another attempt would fail in the same way.
    if (first === undefined) throw error;
    await makeDirectory(path, mode);
    return first;
  }
}
