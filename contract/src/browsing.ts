import { type Static, Type } from 'typebox';
import { Asset } from './assets.ts';
import { bytes, noContent, operation } from './operation.ts';
import { BoundingBox, Count, closed, nullable, Uuid } from './values.ts';

/** BROWSE-5: the most clusters in an answer. */
export const mostClusters = 500;
/** BROWSE-5: the nearest zoom. */
export const nearestZoom = 22;
/** BROWSE-8: the most similar files in an answer. */
export const mostSimilar = 24;

/** A month such as `2019-12`, of the years 1 to 9999, or null for files of which the time is not known. */
export const TimelineMonth = closed({
  month: nullable(Type.String()),
  count: Count,
});
export type TimelineMonth = Static<typeof TimelineMonth>;

export const getTimeline = operation({
  id: 'getTimeline',
  method: 'GET',
  path: '/assets/timeline',
  tag: 'Assets',
  summary: 'Count files by the month when they were taken',
  description:
    'Returns the months in which files that the caller is shown were taken, the newest first, each with their number; `month` is null for files of which the time is not known. `of` limits it to the files of one account, `me` being the caller. `GET /assets?taken_month=` lists a month.',
  door: 'public',
  scope: 'read',
  query: Type.Object({ of: Type.Optional(Type.String({ pattern: '^(me|[0-9]{1,15})$' })) }),
  replica: true,
  responses: { 200: closed({ months: Type.Array(TimelineMonth) }) },
  errors: [],
});

export const PlaceCluster = closed({
  lat: Type.Number({ minimum: -90, maximum: 90 }),
  lon: Type.Number({ minimum: -180, maximum: 180 }),
  count: Type.Integer({ minimum: 1 }),
  /** Of a single file. */
  asset_id: Type.Optional(Uuid),
});
export type PlaceCluster = Static<typeof PlaceCluster>;

export const listPlaces = operation({
  id: 'listPlaces',
  method: 'GET',
  path: '/assets/places',
  tag: 'Assets',
  summary: 'List places of files on a map',
  description: `Returns at most ${mostClusters} clusters of the files that the caller is shown and that have a place inside \`bbox\`, which is \`west,south,east,north\` in degrees and does not cross the 180th meridian. Clusters are smaller with each \`zoom\`. A cluster of one file has its \`asset_id\`. \`GET /assets?bbox=\` lists the files.`,
  door: 'public',
  scope: 'read',
  query: Type.Object({ bbox: BoundingBox, zoom: Type.Integer({ minimum: 0, maximum: nearestZoom }) }),
  replica: true,
  responses: { 200: closed({ clusters: Type.Array(PlaceCluster, { maxItems: mostClusters }) }) },
  errors: [],
});

export const getBaseMap = operation({
  id: 'getBaseMap',
  method: 'GET',
  path: '/base-map',
  tag: 'Assets',
  summary: 'Get the base map',
  description:
    'Returns the map on which pages show places: the file `map.pmtiles` of the data directory, a PMTiles archive. Supports `Range`. Returns 204 when the library has none.',
  door: 'public',
  scope: 'read',
  budget: 'bytes',
  sessionCookie: 'never',
  responses: {
    200: bytes('application/vnd.pmtiles'),
    204: noContent,
    206: bytes('application/vnd.pmtiles'),
    304: noContent,
  },
  errors: ['range-not-satisfiable'],
});

export const SimilarAsset = closed({
  asset: Asset,
  /** From 0 for pictures that look the same to 1. */
  distance: Type.Number({ minimum: 0, maximum: 1 }),
});
export type SimilarAsset = Static<typeof SimilarAsset>;

export const listSimilarAssets = operation({
  id: 'listSimilarAssets',
  method: 'GET',
  path: '/assets/{id}/similar',
  tag: 'Assets',
  summary: 'List similar pictures',
  description: `Returns at most ${mostSimilar} pictures and videos that look like this one, the most similar first, of those whose bytes the caller gets. Returns none for files that are not compared, and 404 to callers who are not shown this file.`,
  door: 'public',
  scope: 'read',
  params: closed({ id: Uuid }),
  replica: true,
  responses: {
    200: closed({
      items: Type.Array(SimilarAsset, { maxItems: mostSimilar }),
      next_cursor: nullable(Type.String()),
    }),
  },
  errors: ['not-found'],
});
