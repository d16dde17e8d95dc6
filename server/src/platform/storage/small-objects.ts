import type { Storage } from './storage.ts';

/** Previews in lists have fewer bytes than this; larger objects are streamed. */
const SMALL_BYTES = 64 * 1024;
const MOST_BYTES = 32 * 1024 * 1024;
/** How long cached bytes are served, since another process may replace those on disk. */
const KEPT_MS = 5000;

interface Kept {
  bytes: Promise<Buffer>;
  sizeBytes: number;
  readAt: number;
}

/** A cache of small objects, for which opening the file costs more than sending it. */
export interface SmallObjects {
  /** Returns whether objects of this size are cached. */
  takes(sizeBytes: number): boolean;
  /** The whole object, at most a few seconds old. Rejects like `Storage.get`. */
  read(key: string, sizeBytes: number): Promise<Buffer>;
}

async function readWhole(storage: Pick<Storage, 'get'>, key: string, sizeBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await storage.get(key, sizeBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Keeps small objects in memory for some seconds, the most recently used ones within a bound of bytes. A read that
 * fails is not kept, and requests at the same time share one read. `now` is a clock in milliseconds.
 */
export function openSmallObjects(
  storage: Pick<Storage, 'get'>,
  { mostBytes = MOST_BYTES, now = () => performance.now() } = {},
): SmallObjects {
  /** By key and size, the least recently used first. */
  const kept = new Map<string, Kept>();
  let keptBytes = 0;

  const forget = (name: string, entry: Kept) => {
    if (kept.get(name) !== entry) return;
    kept.delete(name);
    keptBytes -= entry.sizeBytes;
  };

  return {
    takes: (sizeBytes) => sizeBytes <= SMALL_BYTES,
    read(key, sizeBytes) {
      const name = `${sizeBytes} ${key}`;
      const known = kept.get(name);
      if (known !== undefined && now() - known.readAt < KEPT_MS) {
        kept.delete(name);
        kept.set(name, known);
        return known.bytes;
      }
      if (known !== undefined) forget(name, known);
      const entry: Kept = { bytes: readWhole(storage, key, sizeBytes), sizeBytes, readAt: now() };
      kept.set(name, entry);
      keptBytes += sizeBytes;
      entry.bytes.catch(() => forget(name, entry));
      for (const [oldest, entry] of kept) {
        if (keptBytes <= mostBytes) break;
        forget(oldest, entry);
      }
      return entry.bytes;
    },
  };
}
