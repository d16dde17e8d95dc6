import { createReadStream } from 'node:fs';
import { access, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { NoSuchObject, type Storage, type StoredObject } from './storage.ts';

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Makes a rename or a new name last through a power cut. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function headOf(root: string, key: string): Promise<StoredObject | null> {
  try {
    const found = await stat(join(root, key));
    return found.isFile() ? { key, sizeBytes: found.size, modifiedAt: found.mtimeMs } : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function* listBelow(root: string, directory: string): AsyncIterable<StoredObject> {
  let entries: Awaited<ReturnType<typeof opendir>>;
  try {
    entries = await opendir(directory);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  for await (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* listBelow(root, path);
    else {
      const head = await headOf(root, relative(root, path).split(sep).join('/'));
      if (head !== null) yield head;
    }
  }
}

/** Storage in a directory of this machine. `<root>/incoming` holds what is on its way in. */
export async function openDiskStorage(root: string): Promise<Storage> {
  const incomingDir = join(root, 'incoming');
  // Nobody else on this machine reads the library past its rules.
  await mkdir(root, { recursive: true, mode: 0o700 });
  await mkdir(incomingDir, { recursive: true });
  return {
    incomingDir,
    async adopt(path, key) {
      const target = join(root, key);
      if ((await headOf(root, key)) !== null) {
        await rm(path, { force: true });
        return;
      }
      const file = await open(path, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(target), { recursive: true });
      await rename(path, target);
      await syncDirectory(dirname(target));
    },
    async get(key, range) {
      const path = join(root, key);
      try {
        await access(path);
      } catch (error) {
        if (isMissing(error)) throw new NoSuchObject(key);
        throw error;
      }
      return createReadStream(path, range === undefined ? {} : { start: range.start, end: range.end });
    },
    head: (key) => headOf(root, key),
    async localPath(key) {
      return join(root, key);
    },
    async delete(key) {
      await rm(join(root, key), { force: true });
    },
    list: (prefix) => listBelow(root, join(root, prefix)),
  };
}
