import { randomUUID } from 'node:crypto';
import { link } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { lockFile } from '../../content/assets/insert.ts';
import { discard } from '../../content/assets/receive.ts';
import { hashOf, hashOfObject } from '../../content/assets/repair.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { hashOfKey, hashOfLogo } from '../../platform/storage/object-key.ts';
import {
  DamagedObject,
  NoSuchObject,
  type Storage,
  type StoredObject,
} from '../../platform/storage/storage.ts';
import { lockLogos } from '../appearance/logo.ts';

/** The two storages of a library: the one for new files, and the one that the others are moved from. */
export interface Direction {
  from: Storage;
  to: Storage;
}

export interface MoveOptions {
  /** Aborting stops the move after the files in progress. */
  signal: AbortSignal;
  tell(line: Sentence): void;
  progress(report: MoveReport): void;
}

export interface MoveReport {
  moved: number;
  bytes: number;
  /** Damaged objects, which are not moved. */
  left: number;
}

const AT_ONCE = 4;

/** Locks an object against being stored, removed or moved by others. */
async function lockObject(tx: Tx, key: string): Promise<void> {
  const hash = hashOfKey(key);
  if (hash === null) return lockLogos(tx);
  return lockFile(tx, hash);
}

/** Returns the SHA-256 that an object must have; null when it is not recorded. */
async function contentHash(db: Database, key: string): Promise<string | null> {
  const hash = hashOfKey(key);
  if (hash === null || key.startsWith('subtitles/')) return hash ?? hashOfLogo(key);
  if (!key.startsWith('originals/')) return null;
  // Mirrored objects are stored under a random key instead of their hash.
  const { rows } = await sql<{ is_own: boolean }>`
    select origin_peer_id is null as is_own from files where hash = ${hash}`.execute(db);
  return rows[0]?.is_own === true ? hash : null;
}

/** Stores a local copy of the object in the other storage. Returns false when the object was removed meanwhile. */
async function store(
  db: Database,
  { from, to }: Direction,
  { key, path }: { key: string; path: string },
): Promise<boolean> {
  // Renditions may be rendered again meanwhile, under the same name: the newer one stays.
  const isNamedByContent = !key.startsWith('renditions/');
  if (isNamedByContent) await to.stage(path, key);
  return db.transaction().execute(async (tx) => {
    await lockObject(tx, key);
    if ((await from.head(key)) === null) return false;
    if (isNamedByContent || (await to.head(key)) === null) await to.adopt(path, key);
    return true;
  });
}

/**
 * Moves one object: copies it, reads the copy back unless it is a rendition, and removes it from its old place. Returns what is wrong with an
 * object that stays.
 */
async function moveOne(
  db: Database,
  { from, to }: Direction,
  { key, sizeBytes }: StoredObject,
): Promise<Sentence | null> {
  const path = join(to.incomingDir, `move-${randomUUID()}`);
  try {
    const isNewer = key.startsWith('renditions/') && (await to.head(key)) !== null;
    if (!isNewer) {
      await from.withLocalFile(key, (local) => link(local, path));
      const hash = await hashOf(path);
      const wanted = await contentHash(db, key);
      if (wanted !== null && hash !== wanted) return sentence('its content has changed');
      if (!(await store(db, { from, to }, { key, path }))) return null;
      // A rendition may have been replaced since, by a job that renders it again.
      const isProven = key.startsWith('renditions/') || (await hashOfObject(to, key, sizeBytes)) === hash;
      if (!isProven) {
        await to.delete(key);
        return sentence('its copy differs');
      }
    }
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isGone || error instanceof NoSuchObject) return null;
    if (!(error instanceof DamagedObject)) throw error;
    return sentenceOfError(error);
  } finally {
    await discard(path);
  }
  await db.transaction().execute(async (tx) => {
    await lockObject(tx, key);
    if ((await to.head(key)) !== null) await from.delete(key);
  });
  return null;
}

/**
 * Moves every object to the storage for new files. The library may be in use: an object is in the new place before it
 * leaves the old one, and both are read. May be stopped or killed at any time; the next run goes on.
 */
export async function moveStorage(
  db: Database,
  direction: Direction,
  { signal, tell, progress }: MoveOptions,
): Promise<MoveReport> {
  const report: MoveReport = { moved: 0, bytes: 0, left: 0 };
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const move = async (object: StoredObject) => {
    const fault = await moveOne(db, direction, object);
    if (fault === null) {
      report.moved += 1;
      report.bytes += object.sizeBytes;
    } else {
      report.left += 1;
      tell(sentence('LEFT     {file}: {reason}', { file: object.key, reason: fault }));
    }
    progress(report);
  };
  for (const prefix of ['originals', 'subtitles', 'logos', 'renditions']) {
    for await (const object of direction.from.list(prefix)) {
      if (signal.aborted || failures.length > 0) break;
      if (hashOfKey(object.key) === null && hashOfLogo(object.key) === null) continue;
      const moving = move(object)
        .catch((error: unknown) => {
          failures.push(error);
        })
        .finally(() => running.delete(moving));
      running.add(moving);
      if (running.size >= AT_ONCE) await Promise.race(running);
    }
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  return report;
}
