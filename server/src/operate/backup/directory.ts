import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { LibraryInUse, lockInstance } from '../../platform/database/instance-lock.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { filesBelow, isMissing, syncDirectory } from '../../platform/files/directory-tree.ts';
import { makeDirectory } from '../../platform/files/make-directory.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { isOutOfRoom } from '../../platform/storage/room.ts';
import { BackupError, type BackupTarget } from './target.ts';

/** Bytes of the longest chunk in which a file is read. */
const MOST_CHUNK = 256 * 1024;

/** Describes why a directory of backups cannot be used, in one line. */
function asRefusal(path: string, error: unknown): unknown {
  const isDenied =
    error instanceof Error && 'code' in error && /^E(ACCES|PERM|ROFS)$/.test(String(error.code));
  if (!isDenied) return error;
  const user = process.getuid?.() ?? 'unknown';
  return new BackupError(
    sentence('{path} cannot be used by this user (uid {uid}): {reason}', {
      path,
      uid: String(user),
      reason: sentenceOfError(error),
    }),
    {
      cause: error,
    },
  );
}

/** Opens a directory as a place for backups. `create` makes it when it does not exist; otherwise it must. */
export async function openDirectory(path: string, create: boolean): Promise<BackupTarget> {
  const root = resolve(path);
  const incoming = join(root, 'incoming');
  try {
    if (create) await makeDirectory(root, 0o700);
    if (!(await stat(root)).isDirectory())
      throw new BackupError(sentence('{path} is not a directory', { path: root }));
    await access(root, create ? constants.W_OK | constants.X_OK : constants.R_OK | constants.X_OK);
  } catch (error) {
    throw isMissing(error)
      ? new BackupError(sentence('{path} is not a directory', { path: root }))
      : asRefusal(root, error);
  }
  /** Directories with names that are not synced yet. */
  const touched = new Set<string>();

  const makeAndTouch = async (directory: string): Promise<void> => {
    const first = await makeDirectory(directory);
    if (first === undefined) return;
    for (let made = directory; made.length >= first.length; made = dirname(made)) touched.add(dirname(made));
  };

  return {
    place: root,
    async write(key, content) {
      const temporary = join(incoming, randomUUID());
      const target = join(root, key);
      try {
        const file = await open(temporary, 'wx', 0o600);
        try {
          for await (const chunk of content) await file.writeFile(chunk);
          await file.sync();
        } finally {
          await file.close();
        }
        await makeAndTouch(dirname(target));
        await rename(temporary, target);
        touched.add(dirname(target));
      } catch (error) {
        await rm(temporary, { force: true });
        if (!isOutOfRoom(error)) throw asRefusal(target, error);
        throw new BackupError(
          sentence('the disk of {place} is full; earlier backups are complete, this one is not', {
            place: root,
          }),
          {
            cause: error,
          },
        );
      }
    },
    async read(key): Promise<Readable> {
      const file = await open(join(root, key), 'r').catch((error: unknown) => {
        throw isMissing(error)
          ? new BackupError(sentence('{file} is missing', { file: join(root, key) }))
          : asRefusal(join(root, key), error);
      });
      const { size } = await file.stat();
      const bytes = Math.max(1, size);
      // V8 marks the whole heap for every 64 MB of new buffers, and most parts of a backup are small.
      return createReadStream('', { fd: file, end: bytes - 1, highWaterMark: Math.min(bytes, MOST_CHUNK) });
    },
    async size(key) {
      const file = await stat(join(root, key)).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      });
      return file?.isFile() === true ? file.size : null;
    },
    async *list(directory) {
      for await (const file of filesBelow(join(root, directory)))
        yield relative(root, file).split(sep).join('/');
    },
    async remove(key) {
      await rm(join(root, key), { force: true });
      // Keeps directories that are not empty.
      for (let parent = dirname(key); parent.includes('/'); parent = dirname(parent)) {
        await rmdir(join(root, parent)).catch(() => {});
      }
    },
    async sync() {
      for (const directory of touched) await syncDirectory(directory);
      touched.clear();
    },
    async lock() {
      try {
        const lock = lockInstance(root);
        await rm(incoming, { recursive: true, force: true });
        await mkdir(incoming, { mode: 0o700 });
        return lock;
      } catch (error) {
        if (!(error instanceof LibraryInUse))
          throw error instanceof Error ? new BackupError(sentenceOfError(error), { cause: error }) : error;
        throw new BackupError(sentence('another backup is writing to {place}', { place: root }));
      }
    },
  };
}
