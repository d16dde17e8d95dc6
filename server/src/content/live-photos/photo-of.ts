import { foldedStem, isFilmName, isPhotoName } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { ownAssets } from '../../access/assets.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import type { Received } from '../assets/receive.ts';
import { stemColumn } from '../sidecars/match.ts';
import { byFormat, isShortFilm, MOST_FILM_BYTES, noMarks, readMarks } from './pair.ts';

/** An asset that may be the photo of a film. */
interface Photo {
  id: string;
  name: string;
  hash: string;
  /** Whether it was added within the last day. Devices reuse names. */
  recent: boolean;
}

/** If more photos have one name, only the newest are candidates. */
const MOST_CANDIDATES = 20;

/** Returns the owner's photos with the name of a film that have no other film: HEIC before JPEG, then the newest. */
async function photosNamed(
  db: Database,
  ownerRef: number,
  { fileName, hash }: { fileName: string; hash: string },
): Promise<Photo[]> {
  // Materialized, because the planner would otherwise walk all assets in the order of their age.
  const { rows } = await sql<Photo>`
    with sharing as materialized (
      select a.id, a.file_name as name, a.file_hash as hash, a.created_at from assets a
      where ${ownAssets(ownerRef)} and ${stemColumn} = ${foldedStem(fileName)}
        and coalesce(a.film_hash, ${hash}) = ${hash})
    select id, name, hash, created_at > now() - interval '1 day' as recent
    from sharing order by created_at desc, id desc limit ${MOST_CANDIDATES}`.execute(db);
  return rows.filter(({ name }) => isPhotoName(name)).sort(byFormat);
}

type Film = Pick<Received, 'path' | 'hash' | 'kind' | 'sizeBytes'> & { fileName: string };

/**
 * Returns the asset of the owner's photo to which a received film belongs: with the same name and content identifier, or, if
 * one of them has none, with the same name, added within a day, and the film is short (UPLOAD-16). Null if there is none.
 */
export async function findPhotoOf(
  { db, metadata, storage }: Pick<Deps, 'db' | 'metadata' | 'storage'>,
  ownerRef: number,
  film: Film,
): Promise<string | null> {
  if (film.kind !== 'video' || !isFilmName(film.fileName) || film.sizeBytes > MOST_FILM_BYTES) return null;
  const photos = await photosNamed(db, ownerRef, film);
  if (photos.length === 0) return null;
  const { identifier, seconds } = await readMarks(metadata, film.path);
  const mayBe = ({ recent }: Photo) => recent && isShortFilm(seconds);
  if (identifier === null) return photos.find(mayBe)?.id ?? null;
  for (const photo of photos) {
    const marks = await storage
      .withLocalFile(originalKey(photo.hash), (path) => readMarks(metadata, path))
      // A folder left in place may be absent.
      .catch(() => noMarks);
    if (marks.identifier === null ? mayBe(photo) : marks.identifier === identifier) return photo.id;
  }
  return null;
}

/** Locks the photo of a film, and returns whether it is still there without another film. */
export async function lockPhoto(tx: Tx, ownerRef: number, id: string, filmHash: string): Promise<boolean> {
  const { rows } = await sql`select from assets a where a.id = ${id} and ${ownAssets(ownerRef)}
    and coalesce(a.film_hash, ${filmHash}) = ${filmHash} for no key update`.execute(tx);
  return rows.length > 0;
}
