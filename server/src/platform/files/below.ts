import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { isMissing } from './directory-tree.ts';

/** A path below a folder, in the bytes of the file system: names need not be UTF-8. */
export function pathBelow(folder: string | Buffer, relative: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), relative]);
}

/** Returns the folder of a relative path; empty for a file directly below the root. */
export function folderOf(relative: Buffer): Buffer {
  const at = relative.lastIndexOf(0x2f);
  return relative.subarray(0, Math.max(at, 0));
}

/** Never waits for a pipe, and never opens a link. */
const READ_ONLY = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);

/** Opens a file for reading; null if it is missing, a link, or no regular file. */
export async function openRegular(path: Buffer): Promise<FileHandle | null> {
  const file = await open(path, READ_ONLY).catch((error: unknown) => {
    const isLink = error instanceof Error && 'code' in error && error.code === 'ELOOP';
    if (isLink || isMissing(error)) return null;
    throw error;
  });
  if (file === null) return null;
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return null;
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** Returns whether a path, with its links resolved, is below a folder. */
export async function isBelow(folder: string, path: Buffer): Promise<boolean> {
  const [real, root] = await Promise.all([
    realpath(path, { encoding: 'buffer' }),
    realpath(folder, { encoding: 'buffer' }),
  ]);
  return (
    real.equals(root) || real.subarray(0, root.length + 1).equals(Buffer.concat([root, Buffer.from('/')]))
  );
}

/**
 * Opens a file below a folder for reading. Null if it is missing, or if a link on the way leads out of the folder
 * (ROOT-4): the file that is open is compared with the one at the resolved path.
 */
export async function openBelow(folder: string, relative: Buffer): Promise<FileHandle | null> {
  const path = pathBelow(folder, relative);
  const file = await openRegular(path);
  if (file === null) return null;
  try {
    const [opened, found] = [await file.stat({ bigint: true }), await lstat(path, { bigint: true })];
    if ((await isBelow(folder, path)) && isSame(opened, found)) return file;
  } catch (error) {
    if (!isMissing(error)) {
      await file.close();
      throw error;
    }
  }
  await file.close();
  return null;
}
