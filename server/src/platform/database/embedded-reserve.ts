import { randomFillSync } from 'node:crypto';
import { open, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const MIB = 1024 ** 2;

/** Room for one segment of PostgreSQL's log (16 MiB), and for what it writes while it starts, stops and deletes. */
const RESERVE_BYTES = 32 * MIB;
/** Below this, PostgreSQL may be unable to write. */
const FULL_BYTES = 16 * MIB;
/** The reserve is only made where this much is free. */
const ROOMY_BYTES = 5 * RESERVE_BYTES;

const KEEP_EVERY_MS = 60_000;

const fileOf = (dataDir: string) => join(dataDir, 'postgres.reserve');

async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}

/**
 * Deletes the reserve if the disk is full, so that the embedded PostgreSQL can start, stop and delete rows (RUN-44). Never
 * rejects.
 */
export async function releaseReserve(dataDir: string): Promise<void> {
  try {
    if ((await freeBytes(dataDir)) < FULL_BYTES) await rm(fileOf(dataDir), { force: true });
  } catch {
    // A disk that cannot be examined is reported by what needs it.
  }
}

/** Creates the reserve unless it exists or there is little room. */
async function makeReserve(dataDir: string): Promise<void> {
  const file = fileOf(dataDir);
  const found = await stat(file).catch(() => null);
  if (found?.size === RESERVE_BYTES || (await freeBytes(dataDir)) < ROOMY_BYTES) return;
  const incomplete = `${file}.new`;
  try {
    const handle = await open(incomplete, 'w', 0o600);
    try {
      // Random, because a file system that compresses would store zeros in no space.
      const block = randomFillSync(Buffer.alloc(MIB));
      for (let written = 0; written < RESERVE_BYTES; written += MIB) await handle.write(block);
    } finally {
      await handle.close();
    }
    await rename(incomplete, file);
  } catch {
    await rm(incomplete, { force: true }).catch(() => {});
  }
}

/**
 * Keeps a file on the library's disk whose space is for PostgreSQL alone: creates it now and, after it was released,
 * within a minute after there is room again. Returns the function that ends this.
 */
export function keepReserve(dataDir: string): () => Promise<void> {
  let making = makeReserve(dataDir).catch(() => {});
  const timer = setInterval(() => {
    making = making.then(() => makeReserve(dataDir)).catch(() => {});
  }, KEEP_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return making;
  };
}
