import { type AssetMedia, getAssetMedia, type MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import { servedAssets } from '../access/assets.ts';
import { kindOf } from '../media/sniff.ts';
import { TILES } from '../media/tiles/pack.ts';
import { handle } from '../platform/http/bind.ts';
import { notFound } from '../platform/http/refuse.ts';
import { describeTiles, type KeptTiles } from './tiles.ts';

interface MediaRow {
  mime: string;
  file_name: string;
  media: MediaFacts;
  transcoding: AssetMedia['transcoding'];
  renditions: Record<string, { type: string; bytes: number; width?: number; height?: number }>;
  tiles: KeptTiles | null;
}

/** What the file of an asset is and how it can be shown, under the content rule: no right and no asset are the same 404. */
export const media = handle(getAssetMedia, async ({ db }, { caller, params }) => {
  const { rows } = await sql<MediaRow>`
    select f.mime, a.file_name, f.media,
      f.renditions - ${TILES}::text as renditions, f.renditions -> ${TILES}::text as tiles,
      case when t.state is not null then json_build_object('state', t.state, 'progress', t.progress) end as transcoding
    from assets a join files f on f.hash = a.file_hash left join transcodes t on t.file_hash = f.hash
    where a.id = ${params.id} and ${servedAssets(caller)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  const variants = Object.entries(row.renditions).map(([key, { type, bytes, width, height }]) => ({
    key,
    type,
    bytes,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  }));
  const { mime, file_name, media: facts, transcoding } = row;
  const tiles = row.tiles === null ? null : describeTiles(row.tiles);
  return { status: 200, body: { mime, kind: kindOf(mime), file_name, facts, transcoding, variants, tiles } };
});
