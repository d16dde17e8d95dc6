import { foldedStem, isFilmName, isPhotoName } from '@vitrine/contract/sidecars';
import { sql } from 'kysely';
import { ownAssets } from '../../access/assets.ts';
import type { Deps } from '../../core/deps.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import type { Received } from '../assets/receive.ts';
import { stemColumn } from '../sidecars/match.ts';
import { isShortFilm, MOST_FILM_BYTES, noMarks, readMarks } from './pair.ts';

/** Columns that refer to an asset which somebody has edited, used, shared or described. */
export const uses = [
  ['asset_changes', 'asset_id'],
  ['asset_downloads', 'asset_id'],
  ['asset_shares', 'asset_id'],
  ['asset_sidecars', 'asset_id'],
  ['asset_versions', 'asset_id'],
  ['collection_assets', 'asset_id'],
  ['comments', 'annotated_asset_id'],
  ['different_assets', 'first_id'],
  ['different_assets', 'second_id'],
  ['federated_recipients', 'asset_id'],
  ['federated_subtitles', 'asset_id'],
  ['guest_comments', 'asset_id'],
  ['link_decisions', 'asset_id'],
  ['link_picks', 'asset_id'],
  ['notifications', 'asset_id'],
  ['post_members', 'asset_id'],
  ['posts', 'cover_thumbnail_asset_id'],
  ['related_assets', 'asset_id'],
  ['related_assets', 'related_id'],
  ['review_file_decisions', 'asset_id'],
  ['root_edits', 'asset_id'],
  ['share_link_files', 'asset_id'],
  ['share_links', 'asset_id'],
  ['stacked_assets', 'asset_id'],
  ['teams', 'hero_asset_id'],
  ['users', 'banner_asset_id'],
  ['users', 'picture_asset_id'],
] as const;

const isUsed = sql.join(
  uses.map(
    ([table, column]) => sql`exists (select from ${sql.table(table)} u where u.${sql.ref(column)} = a.id)`,
  ),
  sql` or `,
);

/** Whether an asset `a` is unchanged since its upload: nobody has described it, and nothing refers to it. */
const isUntouched = sql<boolean>`(a.description = '' and a.metadata = '{}' and not a.mature and a.status = 'active'
  and a.ai_provenance is null and a.title = regexp_replace(a.file_name, '\\.[^.]{1,10}$', '')
  and not exists (select from asset_tags t where t.asset_id = a.id and t.source = 'manual')
  and not exists (select from asset_field_values v where v.asset_id = a.id and v.set_by in ('manual', 'api'))
  and not exists (select from subtitles s where s.asset_id = a.id and not s.embedded)
  and not exists (select from imported_ids i where i.kind in ('resource', 'alternative') and i.target = a.id::text)
  and not exists (select from federation_shares s where s.kind = 'asset' and s.object_id = a.id)
  and not exists (select from resource_requests r where r.target_kind = 'asset' and r.target_id = a.id)
  and not (${isUsed}))`;

/** An asset that may become the film of a photo. */
interface LoneFilm {
  id: string;
  name: string;
  hash: string;
  /** Whether it was added within the last day. Devices reuse names. */
  recent: boolean;
}

/** If more films have one name, only the newest are candidates. */
const MOST_CANDIDATES = 20;

async function filmsNamed(db: Database, ownerRef: number, fileName: string): Promise<LoneFilm[]> {
  // Materialized, because the planner would otherwise walk all assets in the order of their age.
  const { rows } = await sql<LoneFilm>`
    with sharing as materialized (
      select a.id, a.file_name as name, a.file_hash as hash, a.created_at from assets a
      where ${ownAssets(ownerRef)} and ${stemColumn} = ${foldedStem(fileName)} and a.root_id is null)
    select s.id, s.name, s.hash, s.created_at > now() - interval '1 day' as recent
    from sharing s join files f on f.hash = s.hash
    where f.mime like 'video/%' and f.size_bytes <= ${MOST_FILM_BYTES}
    order by s.created_at desc, s.id desc limit ${MOST_CANDIDATES}`.execute(db);
  return rows.filter(({ name }) => isFilmName(name));
}

/**
 * Returns the owner's asset of the film that belongs to a received photo, as `findPhotoOf` finds the photo of a film
 * (UPLOAD-16). Null if there is none. `takeFilm` decides whether it may be taken.
 */
export async function findFilmOf(
  { db, metadata, storage }: Pick<Deps, 'db' | 'metadata' | 'storage'>,
  ownerRef: number,
  photo: Pick<Received, 'path' | 'kind'> & { fileName: string },
): Promise<string | null> {
  if (photo.kind !== 'image' || !isPhotoName(photo.fileName)) return null;
  const films = await filmsNamed(db, ownerRef, photo.fileName);
  if (films.length === 0) return null;
  const { identifier } = await readMarks(metadata, photo.path);
  for (const film of films) {
    const marks = await storage
      .withLocalFile(originalKey(film.hash), (path) => readMarks(metadata, path))
      .catch(() => noMarks);
    const isSame =
      identifier === null || marks.identifier === null
        ? film.recent && isShortFilm(marks.seconds)
        : identifier === marks.identifier;
    if (isSame) return film.id;
  }
  return null;
}

/** A film whose asset was removed, to be given to a photo in the same transaction. */
export interface TakenFilm {
  hash: string;
  mime: string;
  uploads: string[];
}

/** Who may see a photo. A film with another audience is not taken. */
export interface Audience {
  sensitivity: string;
  teamId: string | null;
}

/**
 * Removes the asset of a film, for the photo to which it belongs. Returns null, and changes nothing, if somebody has edited or
 * used it, or if it has another audience than the photo.
 */
export async function takeFilm(
  tx: Tx,
  ownerRef: number,
  id: string,
  { sensitivity, teamId }: Audience,
): Promise<TakenFilm | null> {
  await sql`select from assets where id = ${id} for update`.execute(tx);
  // After the lock, which every reference needs, too.
  const { rows } = await sql<TakenFilm>`
    select a.file_hash as hash, f.mime, array(select u.id from uploads u where u.asset_id = a.id) as uploads
    from assets a join files f on f.hash = a.file_hash
    where a.id = ${id} and ${ownAssets(ownerRef)} and a.sensitivity = ${sensitivity} and a.team_id is not distinct from ${teamId}::uuid
      and ${isUntouched}`.execute(tx);
  const [film] = rows;
  if (film === undefined) return null;
  await sql`delete from field_value_history where subject_id = ${id}`.execute(tx);
  await sql`delete from assets where id = ${id}`.execute(tx);
  return film;
}

/** Removes the asset of a film as `takeFilm` does, for the photo of another asset. */
export async function takeFilmFor(
  tx: Tx,
  ownerRef: number,
  id: string,
  photoId: string,
): Promise<TakenFilm | null> {
  const { rows } = await sql<Audience>`select a.sensitivity, a.team_id as "teamId" from assets a
    where a.id = ${photoId} and ${ownAssets(ownerRef)} for no key update of a`.execute(tx);
  const [audience] = rows;
  return audience === undefined ? null : takeFilm(tx, ownerRef, id, audience);
}

/** Lets repeated requests with the uploads of a film find the asset of its photo. */
export async function pointUploads(tx: Tx, { uploads }: TakenFilm, assetId: string): Promise<void> {
  await sql`update uploads set asset_id = ${assetId} where id = any(${uploads}::uuid[])`.execute(tx);
}
