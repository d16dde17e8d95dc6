import { type AssetMedia, getAssetMedia, type MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import { renderedHash } from '../../access/assets.ts';
import { servedWithReviews } from '../../access/reviews.ts';
import { handle } from '../../core/handle.ts';
import { kindOf } from '../../media/sniff.ts';
import { TILES } from '../../media/tiles/pack.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { type FilmRow, filmColumn, withFilm } from './film.ts';
import { describeTiles, type KeptTiles } from './tiles.ts';
import { versionsOfAsset } from './version-rows.ts';

/** What is known of a file, as read by `mediaColumns`. */
export interface MediaRow {
  mime: string;
  media: MediaFacts;
  transcoding: AssetMedia['transcoding'];
  renditions: Record<string, { type: string; bytes: number; width?: number; height?: number }>;
  tiles: KeptTiles | null;
}

/** Columns of MediaRow for `files f`, with the `transcodes t` of the file, if any. */
export const mediaColumns = sql<MediaRow>`f.mime, f.media,
  f.renditions - ${TILES}::text as renditions, f.renditions -> ${TILES}::text as tiles,
  case when t.state is not null then json_build_object('state', t.state, 'progress', t.progress) end as transcoding`;

/** What viewers see of a file, without its name. */
export function describeMedia({ mime, media, transcoding, renditions, tiles }: MediaRow): FileMedia {
  const variants = Object.entries(renditions).map(([key, { type, bytes, width, height }]) => ({
    key,
    type,
    bytes,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  }));
  return {
    mime,
    kind: kindOf(mime),
    facts: media,
    transcoding,
    variants,
    tiles: tiles === null ? null : describeTiles(tiles),
  };
}

type FileMedia = Omit<AssetMedia, 'file_name' | 'version'>;

/**
 * Returns what an asset's file is and how it can be shown, under the content rule: no access and no asset are the same
 * 404.
 */
export const media = handle(getAssetMedia, async ({ db }, { caller, params }) => {
  const { rows } = await sql<MediaRow & { film: FilmRow | null; file_name: string; version: number }>`
    select ${mediaColumns}, ${filmColumn} as film, a.file_name, (select max(v.number) from ${versionsOfAsset}) as version
    from assets a join files f on f.hash = ${renderedHash} left join transcodes t on t.file_hash = f.hash
    where a.id = ${params.id} and ${servedWithReviews(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return {
    status: 200,
    body: { ...describeMedia(withFilm(row, row.film)), file_name: row.file_name, version: row.version },
  };
});
