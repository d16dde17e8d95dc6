import { lstat } from 'node:fs/promises';
import { folderOf, pathBelow } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';

/** Returns the device of the nearest folder on the way to a path that exists; null if not even the root does. */
async function deviceAround(root: string, path: Buffer): Promise<string | null> {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    try {
      return String((await lstat(folder.length === 0 ? root : pathBelow(root, folder))).dev);
    } catch (error) {
      if (!isMissing(error) || folder.length === 0) return null;
    }
  }
}

/**
 * Returns whether a file is gone, and not only a mount on the way to it (ROOT-8). `renamed`: the names that devices have
 * now, by the names under which files of theirs were known; a network mount gets another one when it is mounted again.
 */
export async function isGone(
  root: string,
  { path, device }: { path: Buffer; device: string },
  renamed: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<boolean> {
  try {
    await lstat(pathBelow(root, path));
    return false;
  } catch (error) {
    if (!isMissing(error)) return false;
  }
  const around = await deviceAround(root, path);
  return around !== null && (around === device || renamed.get(device)?.has(around) === true);
}
