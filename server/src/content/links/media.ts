import { getLinkMedia, getLinkSubtitles, getLinkTile, type LinkedMedia } from '@vitrine/contract/link-visits';
import { sql } from 'kysely';
import {
  linkedAssets,
  linkedVersion,
  maySeeTiles,
  maySeeUnmarked,
  subtitlesOfVersion,
} from '../../access/links.ts';
import { handle } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type FilmRow, filmColumn, withFilm } from '../assets/film.ts';
import { describeMedia, type MediaRow, mediaColumns } from '../assets/media.ts';
import { findTiles, sendTile } from '../assets/tiles.ts';
import { findTrack, isText, readLanguage, sendTrack } from '../subtitles/tracks.ts';
import { linkedRenditions } from './shown.ts';
import { visitLink } from './visit.ts';

/** Facts, tiles and subtitles of an asset, as far as the link offers them. */

type LinkedMediaRow = MediaRow & { film: FilmRow | null; subtitles: LinkedMedia['subtitles'] | null };

/** `GET /links/{token}/assets/{id}/media`: lists only what the link serves. */
export const media = handle(getLinkMedia, async (deps, { params, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const { rows } = await sql<LinkedMediaRow>`
    select ${mediaColumns}, case when v.number is null then ${filmColumn} end as film,
      (select json_agg(json_build_object('lang', s.lang, 'label', s.label) order by s.lang)
        from subtitles s where s.asset_id = a.id and ${isText} and ${subtitlesOfVersion}) as subtitles
    from assets a cross join ${linkedVersion(visitor)} join files f on f.hash = ${linkedRenditions} left join transcodes t on t.file_hash = f.hash
    where a.id = ${params.id} and ${linkedAssets(visitor)}`.execute(deps.db);
  const [row] = rows;
  if (row === undefined) throw notFound();
  const media = { ...describeMedia(withFilm(row, row.film)), subtitles: row.subtitles ?? [] };
  const tiles = maySeeTiles(visitor) ? media.tiles : null;
  if (maySeeUnmarked(visitor)) return { status: 200, body: { ...media, tiles } };
  const drawable = new Set(keysOf(deps.ladder));
  const variants = media.variants.filter(({ key }) => drawable.has(key));
  return { status: 200, body: { ...media, tiles, variants, subtitles: [], transcoding: null } };
});

/** A revoked link ends immediately, so browsers revalidate each time. */
const neverImmutable = () => false;

/** `GET /links/{token}/assets/{id}/tiles/{level}/{tile}`. Assets outside the link are 404, which precedes the 403. */
export const tile = handle(getLinkTile, async (deps, { params, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const linkedHash = sql<string>`(select ${linkedRenditions} from ${linkedVersion(visitor)})`;
  const find = () => findTiles(deps.db, params.id, linkedAssets(visitor), linkedHash);
  if (!maySeeTiles(visitor)) throw (await find()) === null ? notFound() : refuse('link-original-not-allowed');
  return sendTile(deps, http, params, find, neverImmutable);
});

/** `GET /links/{token}/assets/{id}/subtitles/{lang}`: WebVTT, if the link serves the video itself. */
export const subtitles = handle(getLinkSubtitles, async (deps, { params, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const lang = readLanguage(params.lang);
  if (!maySeeUnmarked(visitor)) throw notFound();
  const rule = sql<boolean>`(${linkedAssets(visitor)} and (select ${subtitlesOfVersion} from ${linkedVersion(visitor)}))`;
  return sendTrack(deps, http, () => findTrack(deps.db, params.id, lang, rule), neverImmutable);
});
