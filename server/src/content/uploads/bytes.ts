import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, copyFile, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Locker } from '@tus/server';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { UploadBytes } from '../../core/deps.ts';
import { type Sniffed, sniff } from '../../media/sniff.ts';
import { checkQuota } from '../../people/quotas/check.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { requireRoom } from '../../platform/storage/room.ts';
import type { Storage } from '../../platform/storage/storage.ts';

/** Bytes between two checkpoints, which is the most that a crash loses. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;

/** Number of hash states of interrupted uploads kept in memory; each takes a few hundred bytes. */
const MOST_KEPT = 1000;

interface Kept {
  offset: number;
  digest: Hash;
  /** The request that wrote the last bytes. It has ended. */
  writer: string;
}

interface Claim {
  writer: string;
  /** The request that claimed the upload before; null if there was none. */
  previous: string | null;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Hashes the first bytes of a file. */
async function hashStart(digest: Hash, path: string, length: number): Promise<void> {
  if (length === 0) return;
  await pipeline(createReadStream(path, { end: length - 1, highWaterMark: 1024 * 1024 }), async (chunks) => {
    for await (const chunk of chunks) digest.update(chunk);
  });
}

async function writeAt(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < chunk.length) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done);
    done += bytesWritten;
  }
}

/** Copies the first bytes of a file to a new one, durably. File systems that can share the blocks copy nothing. */
async function copyStart(from: string, to: string, length: number): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const file = await open(to, 'r+');
  try {
    await file.truncate(length);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function openFor(db: Database, path: string, id: string): Promise<FileHandle> {
  return open(path, 'r+').catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    // An upload whose file is missing must start over.
    await db.deleteFrom('uploads').where('id', '=', id).execute();
    throw notFound();
  });
}

/** Loads @tus/server on first use, because its 42 modules slow the start. */
async function openLocker(): Promise<Locker> {
  const { MemoryLocker } = await import('@tus/server');
  return new MemoryLocker({ acquireLockTimeout: 30_000 });
}

/**
 * Computes the SHA-256 while bytes arrive. If a request ends early, the state stays in memory for the next one. After
 * a restart, or in another process, the bytes are copied to a new file and read again, which reflects what is stored.
 */
export function openUploadBytes({ db, storage }: { db: Database; storage: Storage }): UploadBytes {
  const kept = new LRUCache<string, Kept>({ max: MOST_KEPT });
  let locker: Promise<Locker> | undefined;
  const pathOf = (id: string) => join(storage.uploadsDir, id);
  /** Returns the hash of the first `offset` bytes, from memory or from disk. */
  const resumed = async (id: string, offset: number, state: Kept | undefined): Promise<Hash> => {
    if (state?.offset === offset) return state.digest;
    const digest = createHash('sha256');
    await hashStart(digest, pathOf(id), offset);
    return digest;
  };
  const take = (id: string) => {
    const state = kept.get(id);
    kept.delete(id);
    return state;
  };
  /** Makes this request the only one that may append at this offset. */
  const claim = async (id: string, offset: number): Promise<Claim> => {
    const writer = randomUUID();
    const { rows } = await sql<{ previous: string | null }>`
      with before as (select id, writer from uploads where id = ${id} for update)
      update uploads up set writer = ${writer} from before
      where up.id = before.id and up.received_bytes = ${offset} and up.finished_at is null
      returning before.writer as previous`.execute(db);
    const [row] = rows;
    if (row === undefined) throw refuse('upload-at-other-offset');
    return { writer, previous: row.previous };
  };
  const checkClaim = async (id: string, writer: string): Promise<void> => {
    const { rows } = await sql`select from uploads where id = ${id} and writer = ${writer}`.execute(db);
    if (rows.length === 0) throw refuse('upload-continued-elsewhere');
  };
  /**
   * Records how many bytes are durable; 409 if another request has taken over. An upload of unknown size counts with these
   * bytes, so that it may now exceed the quota (QUOTA-2): 413.
   */
  const recordReceived = (id: string, writer: string, bytes: number): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ owner: number; size: number | null }>`
        update uploads set received_bytes = ${bytes}
        where id = ${id} and writer = ${writer} and finished_at is null
        returning owner_user_ref as owner, size_bytes as size`.execute(tx);
      const [row] = rows;
      if (row === undefined) throw refuse('upload-continued-elsewhere');
      if (row.size === null) await checkQuota(tx, row.owner);
    });
  /**
   * Continues an upload in a new file. Another process may still have the old one open, and what it writes must not
   * reach bytes that are stored under their hash (UPLOAD-14).
   */
  const moveToNewFile = async (id: string, offset: number, writer: string): Promise<void> => {
    const fresh = `${pathOf(id)}.${writer}`;
    try {
      await requireRoom(storage, offset);
      await copyStart(pathOf(id), fresh, offset);
      await checkClaim(id, writer);
      await rename(fresh, pathOf(id));
    } catch (error) {
      await rm(fresh, { force: true });
      if (!isMissing(error)) throw error;
    }
  };
  /** Opens the file of a claimed upload for this request alone. */
  const openClaimed = async (
    id: string,
    offset: number,
    { writer, previous }: Claim,
    last: Kept | undefined,
  ) => {
    // The requests of this process end before the next begins.
    if (previous !== null && previous !== last?.writer) await moveToNewFile(id, offset, writer);
    const file = await openFor(db, pathOf(id), id);
    try {
      // A later request may have replaced the file before it was opened.
      await checkClaim(id, writer);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  };

  return {
    turns() {
      locker ??= openLocker();
      return locker;
    },
    pathOf,
    async begin(id) {
      await (await open(pathOf(id), 'wx', 0o640)).close();
    },
    async append(id, offset, stream) {
      const claimed = await claim(id, offset);
      const { writer } = claimed;
      const last = take(id);
      const file = await openClaimed(id, offset, claimed, last);
      const { ino } = await file.stat();
      let position = offset;
      let safe = offset;
      const checkpoint = async () => {
        if (position === safe) return;
        await file.datasync();
        // The file is another if a request that claimed the upload earlier was slow to move it.
        const current = await stat(pathOf(id)).catch(() => null);
        if (current?.ino !== ino) throw refuse('upload-continued-elsewhere');
        await recordReceived(id, writer, position);
        safe = position;
      };
      try {
        const digest = await resumed(id, offset, last);
        // Drops bytes that a killed process wrote after its last checkpoint.
        await file.truncate(offset);
        try {
          for await (const chunk of stream) {
            await writeAt(file, chunk, position);
            digest.update(chunk);
            position += chunk.length;
            if (position - safe < CHECKPOINT_BYTES) continue;
            await checkpoint();
            await requireRoom(storage, 0);
          }
        } finally {
          await checkpoint();
          kept.set(id, { offset: position, digest, writer });
        }
      } finally {
        await file.close();
      }
      return position;
    },
    async finish(id, sizeBytes) {
      const digest = await resumed(id, sizeBytes, take(id));
      const { mime, extension }: Sniffed = await sniff(pathOf(id));
      await sql`update uploads set finished_at = now(), file_hash = ${digest.digest('hex')}, mime = ${mime},
          extension = ${extension}
        where id = ${id} and finished_at is null and received_bytes = ${sizeBytes} and size_bytes = ${sizeBytes}`.execute(
        db,
      );
    },
    async remove(id) {
      kept.delete(id);
      await rm(pathOf(id), { force: true });
    },
  };
}
