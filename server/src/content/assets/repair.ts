import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { isRenderable } from '../../media/renderable.ts';
import { isOfTranscode } from '../../media/rendition-jobs.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { DamagedObject, NoSuchObject, type Storage } from '../../platform/storage/storage.ts';
import { enqueueExtract, enqueueRender, enqueueTranscode, NO_OWNER } from './decoding-jobs.ts';

/** The database's record of stored bytes. */
export interface KnownFile {
  hash: string;
  size_bytes: number;
  mime: string;
  renditions: Record<string, { object: string; bytes: number }>;
}

/** Files up to this size are hashed before another asset is created from them; that takes about 0.1 s. */
const HASHED_BYTES = 16 * 1024 * 1024;

/** Returns the SHA-256 of a local file in hex, read as a stream. `onBytes` gets the size of each chunk. */
export async function hashOf(
  path: string | Buffer,
  onBytes: (count: number) => void = () => {},
): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), async (chunks) => {
    for await (const chunk of chunks) {
      digest.update(chunk);
      onBytes(chunk.length);
    }
  });
  return digest.digest('hex');
}

/** Returns the SHA-256 of an object in hex. Rejects like `Storage.get`. `onBytes` gets the size of each chunk. */
export async function hashOfObject(
  storage: Pick<Storage, 'get'>,
  key: string,
  sizeBytes: number,
  onBytes: (count: number) => void = () => {},
): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of await storage.get(key, sizeBytes)) {
    digest.update(chunk);
    onBytes(chunk.length);
  }
  return digest.digest('hex');
}

/** Returns the row of these bytes, or null when they are not in the library. */
export async function findKnownFile(db: Database, hash: string): Promise<KnownFile | null> {
  const { rows } = await sql<KnownFile>`
    select hash, size_bytes, mime, renditions from files where hash = ${hash}`.execute(db);
  return rows[0] ?? null;
}

/** Returns whether an original exists with this size, without checking its content. */
export async function hasOriginal(storage: Storage, hash: string, sizeBytes: number): Promise<boolean> {
  return (await storage.head(originalKey(hash)))?.sizeBytes === sizeBytes;
}

/** Returns whether another asset may use an original: its size and, for small files, its content are right. */
export async function isIntact(storage: Storage, { hash, size_bytes }: KnownFile): Promise<boolean> {
  if (!(await hasOriginal(storage, hash, size_bytes))) return false;
  if (size_bytes > HASHED_BYTES) return true;
  try {
    return (await hashOfObject(storage, originalKey(hash), size_bytes)) === hash;
  } catch (error) {
    if (error instanceof DamagedObject || error instanceof NoSuchObject) return false;
    throw error;
  }
}

/** Returns the keys of renditions that are missing or differ from their recorded size. */
export async function damagedRenditions(storage: Storage, { renditions }: KnownFile): Promise<string[]> {
  const damaged = await Promise.all(
    Object.entries(renditions).map(async ([key, { object, bytes }]) =>
      (await storage.head(object))?.sizeBytes === bytes ? [] : [key],
    ),
  );
  return damaged.flat();
}

/**
 * Forgets damaged renditions, renders them again and returns their keys. Assets keep their processing status, so that a
 * repair hides none of them. The caller holds the lock of the hash.
 */
export async function repairRenditions(tx: Tx, storage: Storage, file: KnownFile): Promise<string[]> {
  const damaged = await damagedRenditions(storage, file);
  if (damaged.length === 0 || !isRenderable(file.mime)) return [];
  const drawn = damaged.filter((key) => !isOfTranscode(key));
  // A playlist and its files belong together.
  const encoded = drawn.length === damaged.length ? [] : Object.keys(file.renditions).filter(isOfTranscode);
  const forgotten = [...drawn, ...encoded];
  await sql`update files set renditions = renditions - ${forgotten}::text[] where hash = ${file.hash}`.execute(
    tx,
  );
  if (drawn.length > 0) await enqueueRender(tx, { ...file, ownerRef: null, again: true });
  if (encoded.length > 0) await enqueueTranscode(tx, { hash: file.hash, owner: NO_OWNER });
  return damaged;
}

/** Enqueues the renditions of these bytes that take long, if that failed before. */
export async function retryTranscode(tx: Tx, hash: string): Promise<void> {
  const failed = await tx
    .selectFrom('transcodes')
    .select('file_hash')
    .where('file_hash', '=', hash)
    .where('state', '=', 'failed')
    .executeTakeFirst();
  if (failed !== undefined) await enqueueTranscode(tx, { hash, owner: NO_OWNER });
}

/**
 * Retries what failed without a complete original: rendering, and reading its metadata. Call it in the transaction that
 * replaces the original.
 */
export async function retryFailed(tx: Tx, { hash, mime }: Pick<KnownFile, 'hash' | 'mime'>): Promise<void> {
  await enqueueExtract(tx, { hash, asset: null, ownerRef: null });
  if (!isRenderable(mime)) return;
  await retryTranscode(tx, hash);
  const { numUpdatedRows } = await tx
    .updateTable('assets')
    .set({ processing_status: 'pending', processing_error: null })
    .where('file_hash', '=', hash)
    .where('processing_status', '=', 'failed')
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await enqueueRender(tx, { hash, mime, ownerRef: null });
}
