import { basename } from 'node:path';
import pLimit from 'p-limit';
import { enqueue } from '../../core/job-table.ts';
import type { MadeFile } from '../../media/still.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { renditionKey } from '../../platform/storage/object-key.ts';
import type { Storage, ToAdopt } from '../../platform/storage/storage.ts';

/** The location of a rendition, as in `files.renditions`. */
export interface KeptRendition {
  object: string;
  type: string;
  bytes: number;
  /** Of its bytes; absent until it is sent to a peer (FED-96). */
  sha256?: string;
  width?: number;
  height?: number;
  /** A rendition of the ladder. */
  rung?: true;
}

function objectOf(hash: string, path: string, namePrefix: string): string {
  return renditionKey(hash, `${namePrefix}${basename(path)}`);
}

/** The length of a text in search documents (migration 0034), in characters as PostgreSQL counts them. */
const MOST_SEARCHED = 100_000;

/** Returns the searchable part of a text, without characters that PostgreSQL cannot store. */
export function searchedText(text: string | null): string {
  return (text ?? '').slice(0, MOST_SEARCHED).replaceAll('\0', ' ').toWellFormed();
}

/** The bytes that were rendered: their ladder's version, the chosen moment of a video, and what names them anew. */
export interface RenderedBytes {
  hash: string;
  version: number;
  moment: number | null;
  /** The prefix of renditions that later makers drew; '' before the first upgrade. */
  made: string;
}

/**
 * Returns the prefixes of the names of renditions. A new ladder or frame, or what later makers draw otherwise, gets other
 * names, because the previous files may still be being read or in the caches of browsers.
 */
export function prefixesOf({ version, moment, made }: Pick<RenderedBytes, 'version' | 'moment' | 'made'>): {
  extras: string;
  rungs: string;
} {
  const extras = `${made}${moment === null ? '' : `at-${moment}-`}`;
  return { extras, rungs: `${version === 1 ? '' : `v${version}-`}${extras}` };
}

/** How many files are staged concurrently. */
const STAGED_AT_ONCE = 4;

/** Stages what `keepFiles` adopts, before its transaction. */
export async function stageFiles(
  storage: Storage,
  hash: string,
  made: readonly MadeFile[],
  namePrefix = '',
): Promise<void> {
  const limit = pLimit(STAGED_AT_ONCE);
  const paths = [...new Set(made.map(({ path }) => path))];
  await limit.map(paths, (path) => storage.stage(path, objectOf(hash, path, namePrefix)));
}

/**
 * Returns whether these bytes were purged while a job worked on them, and enqueues the removal of the objects that the
 * job has staged since (TRASH-7). The caller holds the lock of the hash.
 */
export async function releaseIfPurged(tx: Tx, hash: string): Promise<boolean> {
  const row = await tx.selectFrom('files').select('hash').where('hash', '=', hash).executeTakeFirst();
  if (row !== undefined) return false;
  await enqueue(tx, 'release-bytes', { hash }, { key: `release:${hash}` });
  return true;
}

/** Finished files with the prefix in front of their names: their entries for `files.renditions`, and the objects to store. */
export function entriesOf(
  hash: string,
  made: readonly MadeFile[],
  namePrefix = '',
): { renditions: Record<string, KeptRendition>; files: ToAdopt[] } {
  const renditions: Record<string, KeptRendition> = {};
  const objects = new Map<string, string>();
  for (const { key, path, contentType, sizeBytes, ...shape } of made) {
    const object = objects.get(path) ?? objectOf(hash, path, namePrefix);
    objects.set(path, object);
    renditions[key] = { object, type: contentType, bytes: sizeBytes, ...shape };
  }
  return { renditions, files: Array.from(objects, ([path, key]) => ({ path, key })) };
}

/**
 * Stores finished files with the prefix in front of their names, and returns their entries for `files.renditions`;
 * files with the same picture share an object. The caller holds the lock of the hash and writes the row in the same
 * transaction.
 */
export async function keepFiles(
  storage: Storage,
  hash: string,
  made: readonly MadeFile[],
  namePrefix = '',
): Promise<Record<string, KeptRendition>> {
  const { renditions, files } = entriesOf(hash, made, namePrefix);
  await storage.adoptAll(files);
  return renditions;
}
