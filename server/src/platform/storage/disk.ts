import { access, type FileHandle, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { filesBelow, isMissing } from '../files/directory-tree.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { type FileOperations, onThreads } from '../files/operations.ts';
import { sentence, sentenceCount } from '../language/sentence.ts';
import { BUFFER_BYTES, type Buffers, newBuffers } from './buffers.ts';
import { objectFolders } from './object-key.ts';
import {
  DamagedObject,
  NoSuchObject,
  type Storage,
  type StoredObject,
  type ToAdopt,
  wrongSize,
} from './storage.ts';

/** Returns whether this file cannot be read; a process that lacks descriptors or memory can try again. */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && !/^E(MFILE|NFILE|NOMEM|AGAIN)$/.test(String(error.code))
  );
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

/** Bytes of the first read of a file, and of later ones: a reader that goes on gets chunks that cost less each. */
const FIRST_CHUNK = 64 * 1024;
const MOST_CHUNK = BUFFER_BYTES;

/**
 * Streams exactly `length` bytes from `start`, and closes the file. Fails with DamagedObject when the file is too short
 * or cannot be read; a plain file stream would end without an error.
 */
export function readExactly(
  file: FileHandle,
  key: string,
  { start, length, buffers = newBuffers }: { start: number; length: number; buffers?: Buffers | undefined },
): Readable {
  let position = start;
  let most = FIRST_CHUNK;
  const end = start + length;
  const next = async (): Promise<Buffer | null> => {
    if (position >= end) return null;
    const buffer = buffers.take(Math.min(most, end - position));
    most = Math.min(most * 2, MOST_CHUNK);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position).catch((error: unknown) => {
      throw new DamagedObject(key, sentence('the disk cannot read it'), { cause: error });
    });
    if (bytesRead === 0)
      throw new DamagedObject(
        key,
        sentenceCount(position, ['it ends after # byte', 'it ends after # bytes']),
      );
    position += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  return new Readable({
    highWaterMark: FIRST_CHUNK,
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      file.close().then(
        () => done(error),
        (fault) => done(error ?? fault),
      );
    },
  });
}

async function* listBelow(root: string, directory: string): AsyncIterable<StoredObject> {
  for await (const path of filesBelow(directory)) {
    const head = await headOf(root, relative(root, path).split(sep).join('/'));
    if (head !== null) yield head;
  }
}

/** Syncs and moves that the disk does at once. */
const MOVED_AT_ONCE = 8;

/** Moves complete files to their keys. Each is durable before it gets its name, and so is the name in the end. */
async function adoptAll(
  root: string,
  files: readonly ToAdopt[],
  { sync, mkdir, rename }: FileOperations,
): Promise<void> {
  const limit = pLimit(MOVED_AT_ONCE);
  const moves = files.map(({ path, key }) => ({ path, target: join(root, key) }));
  const directories = [...new Set(moves.map(({ target }) => dirname(target)))];
  await limit.map(moves, ({ path }) => sync(path));
  // Unlike `makeDirectory`, in one step, which ends because the root exists.
  await limit.map(directories, (directory) => mkdir(directory, { recursive: true }));
  await limit.map(moves, ({ path, target }) => rename(path, target));
  await limit.map(directories, sync);
}

/**
 * Storage in a local directory. `<root>/incoming` and `<root>/uploads` hold incomplete files. `reserveBytes` of the
 * volume are not available to files (room.ts).
 */
export async function openDiskStorage(
  root: string,
  reserveBytes: number,
  operations: FileOperations = onThreads,
): Promise<Storage> {
  const incomingDir = join(root, 'incoming');
  const uploadsDir = join(root, 'uploads');
  // Other users of this machine must not bypass the library's rules.
  await makeDirectory(root, 0o700);
  await makeDirectory(incomingDir);
  // Decoders may enter the library to reach the incoming directory, but nothing else in it.
  for (const directory of [uploadsDir, ...objectFolders.map((name) => join(root, name))])
    await makeDirectory(directory, 0o700);
  return {
    incomingDir,
    uploadsDir,
    operations,
    addressOf: async () => null,
    // Nothing to prepare: `adopt` only renames the file.
    async stage() {},
    adopt: (path, key) => adoptAll(root, [{ path, key }], operations),
    adoptAll: (files) => adoptAll(root, files, operations),
    async get(key, sizeBytes, range, buffers) {
      const file = await open(join(root, key), 'r').catch((error: unknown) => {
        if (isMissing(error)) throw new NoSuchObject(key);
        throw isUnreadable(error)
          ? new DamagedObject(key, sentence('it cannot be opened'), { cause: error })
          : error;
      });
      try {
        // Checks the open file, which stays the same when the object is replaced meanwhile.
        const { size } = await file.stat();
        if (size !== sizeBytes) throw new DamagedObject(key, wrongSize(size, sizeBytes));
      } catch (error) {
        await file.close();
        throw error;
      }
      const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
      return readExactly(file, key, { start, length: end - start + 1, buffers });
    },
    head: (key) => headOf(root, key),
    async withLocalFile(key, use) {
      try {
        return await use(join(root, key));
      } catch (error) {
        // Programs report a missing file in many ways.
        throw (await headOf(root, key)) === null ? new NoSuchObject(key) : error;
      }
    },
    checkReady: () => access(incomingDir),
    async room() {
      const { bavail, bsize } = await statfs(root);
      return { freeBytes: bavail * bsize, reserveBytes };
    },
    async delete(key) {
      await rm(join(root, key), { force: true });
    },
    list: (prefix) => listBelow(root, join(root, prefix)),
    // Unfinished files are in the incoming directory, which the sweep empties.
    removeUnfinished: async () => 0,
  };
}
