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
