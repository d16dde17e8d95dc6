import type { AssetMedia, MediaFacts } from '@vitrine/contract/media';
import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { nextUpdatedAt } from '../../platform/http/unchanged.ts';
import { enqueueRender } from './decoding-jobs.ts';
import { hasRenditions, storeFile } from './insert.ts';
import type { Received } from './receive.ts';
import { enqueueRelease } from './used-files.ts';

/** The rendition of a live photo with its film: the largest stream, which is a playable file. */
const FILM = 'film.mp4';
const largestStream = sql`coalesce(f.renditions -> 'hls/1080p.mp4', f.renditions -> 'hls/720p.mp4', f.renditions -> 'hls/360p.mp4')`;

/**
 * Returns the hash of the file that has a rendition of an asset `a`: of its film for that and its streams, otherwise the given
 * one (MEDIA-65). Earlier versions have no film.
 */
export function hashOfRendition(
  key: RawBuilder<unknown>,
  otherwise: RawBuilder<unknown>,
  isCurrent: RawBuilder<unknown> = sql`true`,
): RawBuilder<string> {
  return sql`case when a.film_hash is not null and (${key} = ${FILM} or ${key} like 'hls/%') and ${isCurrent}
    then a.film_hash else ${otherwise} end`;
}

/** Returns a rendition of the file `f`, which `hashOfRendition` has found for the asset `a`. */
export function renditionOf<T>(key: RawBuilder<unknown>): RawBuilder<T> {
  return sql`case when ${key} = ${FILM} and f.hash = a.film_hash then ${largestStream} else f.renditions -> ${key} end`;
}

type Renditions = Record<string, { type: string; bytes: number; width?: number; height?: number }>;

/** What is shown of a file, as far as a film adds to it. */
interface Filmed {
  media: MediaFacts;
  transcoding: AssetMedia['transcoding'];
  renditions: Renditions;
}

/** The film of an asset, for `withFilm`. */
export interface FilmRow extends Pick<Filmed, 'transcoding'> {
  streams: Renditions;
  film: Renditions[string] | null;
}

/** A column with the FilmRow of an asset `a`; null if it has no film. */
export const filmColumn = sql<FilmRow | null>`(select json_build_object(
    'streams', (select coalesce(json_object_agg(e.key, e.value), '{}') from jsonb_each(f.renditions) e where e.key like 'hls/%'),
    'film', ${largestStream},
    'transcoding', case when t.state is not null then json_build_object('state', t.state, 'progress', t.progress) end)
  from files f left join transcodes t on t.file_hash = f.hash where f.hash = a.film_hash)`;

/** Returns a picture with its film: the streams are those of the film. */
export function withFilm<Row extends Filmed>(row: Row, film: FilmRow | null): Row {
  if (film === null) return row;
  const own = Object.entries(row.renditions).filter(([key]) => !key.startsWith('hls/'));
  const renditions = {
    ...Object.fromEntries(own),
    ...film.streams,
    ...(film.film === null ? {} : { [FILM]: film.film }),
  };
  return { ...row, renditions, transcoding: film.transcoding, media: { ...row.media, motion: true } };
}

/**
 * Makes a received file, which the caller has staged, the film of an asset in place of another one. Returns false if it
 * already was.
 */
export async function attachFilm(
  tx: Tx,
  { storage, ladder }: Pick<Deps, 'storage' | 'ladder'>,
  assetId: string,
  received: Received,
): Promise<boolean> {
  await storeFile(tx, storage, received);
  return setFilm(tx, { ladder }, assetId, received);
}

/** Makes a file the film of an asset, in place of another one. Returns false if it already was. */
export async function setFilm(
  tx: Tx,
  { ladder }: Pick<Deps, 'ladder'>,
  assetId: string,
  { hash, mime }: Pick<Received, 'hash' | 'mime'>,
): Promise<boolean> {
  const before = await tx
    .selectFrom('assets')
    .select(['film_hash', 'owner_user_ref'])
    .where('id', '=', assetId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (before === undefined || before.film_hash === hash) return false;
  await tx
    .updateTable('assets')
    .set({ film_hash: hash, updated_at: nextUpdatedAt })
    .where('id', '=', assetId)
    .execute();
  if (before.film_hash !== null) await enqueueRelease(tx, [before.film_hash]);
  if (!(await hasRenditions(tx, hash, keysOf(ladder))))
    await enqueueRender(tx, { hash, mime, ownerRef: before.owner_user_ref });
  return true;
}
