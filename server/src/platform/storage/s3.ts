import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import { requireRoom } from './room.ts';
import { openBucket } from './s3-bucket.ts';
import type { S3Settings } from './s3-settings.ts';
import type { Storage } from './storage.ts';

/** Maximum number of staged files that are remembered. */
const MOST_STAGED = 1_000;
/** The nightly sweep removes incoming files that have not changed for a day. */
const LEASE_TOUCHED_MS = 3600 * 1000;

interface Lease {
  path: Promise<string>;
  users: number;
}

/** The local part of the storage: files that arrive, and those lent to programs. */
type Local = Pick<Storage, 'incomingDir' | 'uploadsDir' | 'operations' | 'room' | 'checkReady'>;

/** Storage in a bucket. Files arrive in the directories of `local` and are sent from there. */
export function openS3Storage(
  settings: S3Settings,
  local: Local,
  limits: { sendingMs?: number } = {},
): Storage {
  const bucket = openBucket(settings, limits);
  /** Objects already sent for a later `adopt`, by local path. */
  const staged = new LRUCache<string, { key: string; etag: string }>({ max: MOST_STAGED });
  const leases = new Map<string, Lease>();
  const stage = async (path: string, key: string): Promise<void> => {
    const etag = await bucket.sendUnlessThere(path, key);
    staged.set(path, { key, etag });
  };

  const fetchFile = async (key: string): Promise<string> => {
    const path = join(local.incomingDir, `lent-${randomUUID()}`);
    const { stream, total } = await bucket.read(key, null, null);
    try {
      await requireRoom(local, total);
      await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o640 }));
      return path;
    } catch (error) {
      stream.destroy();
      await rm(path, { force: true });
      throw error;
    }
  };

  const adopt = async (path: string, key: string) => {
    const known = staged.get(path);
    // It may have been removed or replaced since it was staged.
    if (known?.key !== key || (await bucket.find(key))?.etag !== known.etag) await stage(path, key);
    staged.delete(path);
    await rm(path);
  };

  return {
    incomingDir: local.incomingDir,
    uploadsDir: local.uploadsDir,
    operations: local.operations,
    room: () => local.room(),
    stage,
    adopt,
    async adoptAll(files) {
      for (const { path, key } of files) await adopt(path, key);
    },
    async get(key, sizeBytes, range) {
      return (await bucket.read(key, range ?? null, sizeBytes)).stream;
    },
    addressOf: (key, sizeBytes, headers) => bucket.addressOf(key, sizeBytes, headers),
    async head(key) {
      const found = await bucket.find(key);
      return found === null ? null : { key, sizeBytes: found.sizeBytes, modifiedAt: found.modifiedAt };
    },
    async withLocalFile(key, use) {
      const lease = leases.get(key) ?? { path: fetchFile(key), users: 0 };
      leases.set(key, lease);
      lease.users += 1;
      const touch = async () => {
        const now = new Date();
        await lease.path.then((path) => utimes(path, now, now)).catch(() => {});
      };
      const timer = setInterval(touch, LEASE_TOUCHED_MS);
      try {
        return await use(await lease.path);
      } finally {
        clearInterval(timer);
        lease.users -= 1;
        if (lease.users === 0) {
          leases.delete(key);
          await lease.path.then((path) => rm(path, { force: true })).catch(() => {});
        }
      }
    },
    async checkReady() {
      await local.checkReady();
      await bucket.checkReady();
    },
    delete: (key) => bucket.delete(key),
    list: (below) => bucket.list(below === '' ? '' : `${below}/`),
    removeUnfinished: (olderThan) => bucket.removeUnfinished(olderThan),
  };
}
