import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { isRenderable } from '../media/renderable.ts';
import { isOfTranscode } from '../media/transcode.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { originalKey } from '../platform/storage/object-key.ts';
import type { Storage } from '../platform/storage/storage.ts';
import { enqueueExtract, enqueueRender, enqueueTranscode, NOBODY } from './decoding-jobs.ts';

/** What the database says of some stored bytes. */
export interface KnownFile {
  hash: string;
  size_bytes: number;
  mime: string;
  renditions: Record<string, { object: string; bytes: number }>;
}

/** Files up to this size are hashed before another asset is made of them; it takes about a tenth of a second. */
const HASHED_BYTES = 16 * 1024 * 1024;

/** SHA-256 of a local file in hex, read as a stream. `onBytes` is told the size of each chunk. */
export async function hashOf(path: string, onBytes: (count: number) => void = () => {}): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), async (chunks) => {
    for await (const chunk of chunks) {
      digest.update(chunk);
      onBytes(chunk.length);
    }
  });
  return digest.digest('hex');
}

/** The row of these bytes, or null when they are not in the library. */
export async function findKnownFile(db: Database, hash: string): Promise<KnownFile | null> {
  const { rows } = await sql<KnownFile>`
    select hash, size_bytes, mime, renditions from files where hash = ${hash}`.execute(db);
  return rows[0] ?? null;
}

/** Whether an original is there with this size; says nothing about its content. */
export async function hasOriginal(storage: Storage, hash: string, sizeBytes: number): Promise<boolean> {
  return (await storage.head(originalKey(hash)))?.sizeBytes === sizeBytes;
}

/** Whether an original can be trusted with another asset: its size, and for small files its content, are right. */
export async function isSound(storage: Storage, { hash, size_bytes }: KnownFile): Promise<boolean> {
  if (!(await hasOriginal(storage, hash, size_bytes))) return false;
  if (size_bytes > HASHED_BYTES) return true;
  return (await hashOf(await storage.localPath(originalKey(hash)))) === hash;
}

/** The keys of renditions that are missing or do not have the size they were written with. */
export async function damagedRenditions(storage: Storage, { renditions }: KnownFile): Promise<string[]> {
  const damaged = await Promise.all(
    Object.entries(renditions).map(async ([key, { object, bytes }]) =>
      (await storage.head(object))?.sizeBytes === bytes ? [] : [key],
    ),
  );
  return damaged.flat();
}

/**
 * Forgets damaged renditions and has them rendered again; returns their keys. Assets keep their processing status, so
 * that a repair hides none of them. The caller holds the lock of the hash.
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
  if (encoded.length > 0) await enqueueTranscode(tx, { hash: file.hash, owner: NOBODY });
  return damaged;
}

/** Makes the renditions of these bytes that take long, if that failed before. */
export async function retryTranscode(tx: Tx, hash: string): Promise<void> {
  const failed = await tx
    .selectFrom('transcodes')
    .select('file_hash')
    .where('file_hash', '=', hash)
    .where('state', '=', 'failed')
    .executeTakeFirst();
  if (failed !== undefined) await enqueueTranscode(tx, { hash, owner: NOBODY });
}

/**
 * Tries again what failed for want of a whole original: rendering, and reading its metadata. For an original that was
 * just replaced, in the same transaction.
 */
export async function retryFailed(tx: Tx, { hash, mime }: KnownFile): Promise<void> {
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
