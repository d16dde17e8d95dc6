import { execFile } from 'node:child_process';
import { chmod, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Thrown when this machine cannot mount a small disk. */
export class CannotMount extends Error {}

/** Mounts an in-memory file system of this size in MB at a directory. Returns the function that unmounts it. */
export async function mountSmallDisk(directory: string, megabytes: number): Promise<() => Promise<void>> {
  if (process.getuid?.() !== 0) throw new CannotMount('only root may mount a small disk');
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory]);
  } catch (error) {
    throw new CannotMount(`no small disk can be mounted: ${String(error).trim().split('\n').at(-1)}`);
  }
  await chmod(directory, 0o755);
  return async () => {
    await run('umount', ['-l', directory]);
  };
}

/** Fills the disk of this directory to the last byte. Returns the function that frees the space again. */
export async function fillDisk(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'ballast');
  const file = await open(path, 'w');
  try {
    const { bavail, bsize } = await statfs(directory);
    const block = Buffer.alloc(1024 * 1024);
    // Concurrent writers change the free space, so this continues until no byte is accepted.
    for (let left = bavail * bsize + 64 * block.length; left > 0; left -= block.length)
      await file.write(block);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
  return () => rm(path, { force: true });
}
