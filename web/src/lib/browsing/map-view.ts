import { isolated } from '#lib/languages/language.ts';

/** What a map shows. */
export interface MapView {
  readonly lat: number;
  readonly lon: number;
  readonly zoom: number;
  /** `west,south,east,north` in degrees. */
  readonly bbox: string;
}

/** The edges of a part of the map, in degrees. */
interface Edges {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const within = (degrees: number, most: number) => Math.min(most, Math.max(-most, degrees)).toFixed(5);

/** Returns the `bbox` of a query. A window may show more than the world, so the edges are clamped. */
export function boxText({ west, south, east, north }: Edges): string {
  return [within(west, 180), within(south, 90), within(east, 180), within(north, 90)].join(',');
}

/** Returns a place in words, such as `48.14° N, 11.58° E`. */
export function placeName(lat: number, lon: number): string {
  const part = (degrees: number, [positive, negative]: readonly [string, string]) =>
    `${Math.abs(degrees).toFixed(2)}° ${degrees < 0 ? negative : positive}`;
  return isolated(`${part(lat, ['N', 'S'])}, ${part(lon, ['E', 'W'])}`, 'ltr');
}
