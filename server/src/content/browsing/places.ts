import { listPlaces, mostClusters, type PlaceCluster } from '@vitrine/contract/browsing';
import { type RawBuilder, sql } from 'kysely';
import { countedParts, liveAsset, shownAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import { handle } from '../../core/handle.ts';
import { type Box, boxOf, insideOf, rangesOf } from '../assets/places.ts';
import { loneProfilePictures, notProfilePicture } from '../assets/profile-pictures.ts';

/** Levels of the grid below a tile of the map, of 256 pixels: a tile has four cells in each direction. */
const LEVELS_BELOW_TILE = 2;

interface ClusterRow {
  files: number;
  lat: number;
  lon: number;
  asset_id: string | null;
}

/** Assets of the cell that are inside the box. */
const within = (box: Box): RawBuilder<boolean> =>
  sql`(a.place_cell is not null and a.place_cell >= cell.low and a.place_cell < cell.high and ${insideOf(box)})`;

const sums = sql`count(*) as files, sum(a.latitude) as lat, sum(a.longitude) as lon`;

/** The files of a cell, as parts that are added. Most of them are counted by one index alone. */
function partsOfCell(caller: Caller, box: Box): RawBuilder<unknown> {
  const { plain, rest } = countedParts(caller);
  return sql`select ${sums} from assets a where ${plain} and ${within(box)}
    union all
    select ${sums} from assets a
    where ${rest} and ${within(box)} and ${shownAssets(caller)} and ${notProfilePicture}
    union all
    select -count(*), -sum(a.latitude), -sum(a.longitude) from lone_pictures a where ${within(box)}`;
}

/** `GET /assets/places` (BROWSE-5): the files of each cell of a grid, which is one range of an index. */
export const places = handle(listPlaces, async ({ db }, { caller, query }) => {
  const box = boxOf(query.bbox);
  const ranges = rangesOf(box, query.zoom + LEVELS_BELOW_TILE, mostClusters);
  // Every value of `shown_to` is named, because it is the first column of the index.
  const single = sql`select a.id from assets a where ${liveAsset} and a.shown_to in (0, 1, 2) and ${within(box)}
    and ${shownAssets(caller)} and ${notProfilePicture} limit 1`;
  const { rows } = await sql<ClusterRow>`
    with lone_pictures as materialized (
      select a.place_cell, a.latitude, a.longitude from assets a
      where ${countedParts(caller).plain} and a.place_cell is not null and ${loneProfilePictures})
    select cluster.files, round((cluster.lat / cluster.files)::numeric, 6)::double precision as lat,
      round((cluster.lon / cluster.files)::numeric, 6)::double precision as lon,
      case when cluster.files = 1 then (${single}) end as asset_id
    from unnest(${ranges.map(({ low }) => low)}::bigint[], ${ranges.map(({ high }) => high)}::bigint[]) cell (low, high)
    cross join lateral (
      select sum(part.files) as files, sum(part.lat) as lat, sum(part.lon) as lon
      from (${partsOfCell(caller, box)}) part) cluster
    where cluster.files > 0
    order by cluster.files desc, cell.low`.execute(db);
  const clusters = rows.map(
    ({ files, lat, lon, asset_id }): PlaceCluster => ({
      lat,
      lon,
      count: files,
      ...(asset_id === null ? {} : { asset_id }),
    }),
  );
  return { status: 200, body: { clusters } };
});
