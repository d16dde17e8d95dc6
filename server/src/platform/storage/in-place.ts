import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openBelow } from '../files/below.ts';
import { sentence } from '../language/sentence.ts';
import { readExactly } from './disk.ts';
import { hashOfKey } from './object-key.ts';
import { requireRoom } from './room.ts';
import { DamagedObject, NoSuchObject, type Storage } from './storage.ts';

/** A file outside the library that has the bytes of an original (ROOT-1). */
export interface PlacedFile {
  id: number;
  /** The absolute path of the folder that the file must not leave. */
  root: string;
  /** Relative to `root`. */
  path: Buffer;
  sizeBytes: number;
  /** Microseconds since 1970. */
  modifiedUs: number;
}

/** Knows which files outside the library have which bytes. */
export interface PlacedFiles {
  find(hash: string): Promise<PlacedFile[]>;
  /** Called for a file that is gone or has other bytes than were found in it. */
  lost(file: PlacedFile): Promise<void>;
}

interface Lease {
  path: Promise<string>;
  users: number;
}

/** An open file with the bytes of an original. */
interface Opened {
  file: PlacedFile;
  handle: FileHandle;
  /** Whether its size and time are those with which it was read. */
  isUnchanged: boolean;
}

function hashOfOriginal(key: string): string | null {
  return key.startsWith('originals/') ? hashOfKey(key) : null;
}

async function hashOfHandle(handle: FileHandle, sizeBytes: number): Promise<string> {
  const digest = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  for (let at = 0; at < sizeBytes; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) break;
    digest.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return digest.digest('hex');
}

/** Opens one file; null if it is gone or has another size. */
async function openOne(file: PlacedFile): Promise<Opened | null> {
  const handle = await openBelow(file.root, file.path);
  if (handle === null) return null;
  const { size, mtimeNs } = await handle.stat({ bigint: true });
  if (Number(size) === file.sizeBytes)
    return { file, handle, isUnchanged: Number(mtimeNs / 1000n) === file.modifiedUs };
  await handle.close();
  return null;
}

/** Opens the first file that still has these bytes; a file that was only touched is read to be certain. */
async function openPlaced(placed: PlacedFiles, hash: string): Promise<Opened | null> {
  for (const file of await placed.find(hash)) {
    const opened = await openOne(file);
    if (
      opened !== null &&
      (opened.isUnchanged || (await hashOfHandle(opened.handle, file.sizeBytes)) === hash)
    )
      return opened;
    await opened?.handle.close();
    await placed.lost(file);
  }
  return null;
}

/** Copies a file, and rejects with DamagedObject if its bytes are not those of the hash. */
async function copyVerified(
  own: Storage,
  key: string,
  hash: string,
  { file, handle }: Opened,
): Promise<string> {
  const path = join(own.incomingDir, `lent-${randomUUID()}`);
  const digest = createHash('sha256');
  try {
    await requireRoom(own, file.sizeBytes);
    await pipeline(
      readExactly(handle, key, { start: 0, length: file.sizeBytes }),
      async function* hashed(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          digest.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(path, { flags: 'wx', mode: 0o640 }),
    );
    if (digest.digest('hex') === hash) return path;
    throw new DamagedObject(key, sentence('the file in its root has changed'));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Storage that also reads originals from files outside the library, which it never writes, links or deletes. Programs
 * get a verified copy: a decoder could change the file or its rights, and somebody else its content.
 */
export function withPlacedFiles(own: Storage, placed: PlacedFiles): Storage {
  const leases = new Map<string, Lease>();
  const lend = async (key: string, hash: string): Promise<string> => {
    const opened = await openPlaced(placed, hash);
    if (opened === null) throw new NoSuchObject(key);
    try {
      return await copyVerified(own, key, hash, opened);
    } catch (error) {
      if (error instanceof DamagedObject) await placed.lost(opened.file);
      throw error;
    }
  };
  const withCopy = async <T>(key: string, hash: string, use: (path: string) => Promise<T>): Promise<T> => {
    const lease = leases.get(key) ?? { path: lend(key, hash), users: 0 };
    leases.set(key, lease);
    lease.users += 1;
    try {
      return await use(await lease.path);
    } finally {
      lease.users -= 1;
      if (lease.users === 0) {
        leases.delete(key);
        await lease.path.then((path) => rm(path, { force: true })).catch(() => {});
      }
    }
  };
  return {
    ...own,
    async get(key, sizeBytes, range, buffers) {
      try {
        return await own.get(key, sizeBytes, range, buffers);
      } catch (error) {
        const hash = hashOfOriginal(key);
        if (hash === null || !(error instanceof NoSuchObject)) throw error;
        const opened = await openPlaced(placed, hash);
        if (opened === null) throw error;
        const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
        return readExactly(opened.handle, key, { start, length: end - start + 1, buffers });
      }
    },
    async addressOf(key, sizeBytes, headers) {
      try {
        return await own.addressOf(key, sizeBytes, headers);
      } catch (error) {
        if (hashOfOriginal(key) === null || !(error instanceof NoSuchObject)) throw error;
        return null;
      }
    },
    async head(key) {
      const found = await own.head(key);
      const hash = hashOfOriginal(key);
      if (found !== null || hash === null) return found;
      for (const file of await placed.find(hash)) {
        const opened = await openOne(file);
        await opened?.handle.close();
        if (opened !== null) return { key, sizeBytes: file.sizeBytes, modifiedAt: file.modifiedUs / 1000 };
      }
      return null;
    },
    async withLocalFile(key, use) {
      const hash = hashOfOriginal(key);
      if (hash === null || (await own.head(key)) !== null) return own.withLocalFile(key, use);
      return withCopy(key, hash, use);
    },
  };
}
