import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { AssetFields } from '@vitrine/contract/assets';
import { sql } from 'kysely';
import { liveAsset } from '../../access/assets.ts';
import { attachFilm } from '../../content/assets/film.ts';
import { insertAsset, lockFile, stageFile, storeFile } from '../../content/assets/insert.ts';
import { baseName, discard, receive } from '../../content/assets/receive.ts';
import { hashOf, hasOriginal } from '../../content/assets/repair.ts';
import { pointUploads, takeFilmFor } from '../../content/live-photos/lone-film.ts';
import { attachSidecar, firstPlayable, prepareSidecar } from '../../content/subtitles/sidecars.ts';
import { MOST_SUBTITLE_BYTES } from '../../content/subtitles/store.ts';
import type { Deps } from '../../core/deps.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { FoundFile } from './walk.ts';

export interface Stored {
  assetId: string;
  /** Whether the owner already had an asset of these bytes, which is left unchanged. */
  skipped: boolean;
}

/** Returns the owner's asset of these bytes, which may be those of an earlier version. */
export async function findOwn(db: Database, ownerRef: number, hash: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a where a.owner_user_ref = ${ownerRef} and ${liveAsset}
      and (a.file_hash = ${hash} or a.id in (select v.asset_id from asset_versions v where v.file_hash = ${hash}))
    order by a.created_at limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

/**
 * Attaches a subtitle file to the first of these assets that is playable. Returns the asset's id, or null if the file
 * cannot be read as subtitles or no asset is playable; the file is then imported like any other.
 */
export async function attachFound(
  deps: Deps,
  ownerRef: number,
  file: FoundFile,
  targets: readonly { assetId: string; lang: string }[],
): Promise<string | null> {
  const target = await firstPlayable(deps.db, targets);
  if (target === null) return null;
  const { size } = await stat(file.source);
  if (size > MOST_SUBTITLE_BYTES) return null;
  // A copy has a path that decoders can open even if the name of the file is not UTF-8.
  const received = await receive(createReadStream(file.source), deps.storage);
  try {
    const sidecar = await prepareSidecar(deps, ownerRef, { ...received, name: file.name }, target);
    if (sidecar === null) return null;
    try {
      await deps.db.transaction().execute((tx) => attachSidecar(tx, deps.storage, sidecar));
      return target.assetId;
    } finally {
      await discard(sidecar.prepared.path);
    }
  } finally {
    await discard(received.path);
  }
}

/**
 * Creates an asset from a file unless its owner has one of the same bytes. Replaces the library's copy of those bytes
 * if it is missing or has a different size. Does not change the source file.
 */
export async function storeFound(
  deps: Deps,
  ownerRef: number,
  file: FoundFile,
  fields: Pick<AssetFields, 'sensitivity'> = {},
): Promise<Stored> {
  const { db, storage, ladder } = deps;
  const hash = await hashOf(file.source);
  const known = await findOwn(db, ownerRef, hash);
  const { size } = await stat(file.source);
  if (known !== null && (await hasOriginal(storage, hash, size))) return { assetId: known, skipped: true };
  const received = await receive(createReadStream(file.source), storage);
  try {
    await stageFile(storage, received);
    return await db.transaction().execute(async (tx) => {
      await storeFile(tx, storage, received);
      // Checks again under the lock of the hash, because two files with the same bytes may be imported concurrently.
      const meanwhile = await findOwn(tx, ownerRef, received.hash);
      if (meanwhile !== null) return { assetId: meanwhile, skipped: true };
      const { hash, mime, kind } = received;
      const fileName = baseName(file.name);
      const ladderKeys = keysOf(ladder);
      const assetId = await insertAsset(tx, { ownerRef, ladderKeys, hash, mime, kind, fileName, fields });
      return { assetId, skipped: false };
    });
  } finally {
    await discard(received.path);
  }
}

/**
 * Makes a file the film of an asset. An asset of the film becomes part of it; returns false if somebody has edited or used that one,
 * which stays (ADMIN-32).
 */
export async function attachFilmOf(
  deps: Deps,
  ownerRef: number,
  assetId: string,
  film: FoundFile,
): Promise<boolean> {
  const { db, storage } = deps;
  const hash = await hashOf(film.source);
  const { rows } = await sql`select from assets where id = ${assetId} and film_hash = ${hash}`.execute(db);
  if (rows.length > 0) return true;
  const own = await findOwn(db, ownerRef, hash);
  if (own === assetId) return false;
  const received = await receive(createReadStream(film.source), storage);
  try {
    await stageFile(storage, received);
    return await db.transaction().execute(async (tx) => {
      // A render job, too, locks the bytes first and assets second.
      await lockFile(tx, hash);
      const taken = own === null ? null : await takeFilmFor(tx, ownerRef, own, assetId);
      if (own !== null && taken === null) return false;
      await attachFilm(tx, deps, assetId, received);
      if (taken !== null) await pointUploads(tx, taken, assetId);
      return true;
    });
  } finally {
    await discard(received.path);
  }
}
