/** Antarctica reaches the 180th meridian on both sides, and is drawn as it is. */
const southernmost = -80;

/** A point as GeoJSON has it: longitude, latitude. */
type Position = readonly number[];
type Ring = readonly Position[];

/** Returns a ring without jumps from one edge of the map to the other: it leaves the map on one side instead. */
function unwrapped(ring: Ring): Ring {
  let shift = 0;
  let before = ring[0]?.[0] ?? 0;
  return ring.map(([lon = 0, lat = 0]) => {
    if (lon - before > 180) shift -= 360;
    if (before - lon > 180) shift += 360;
    before = lon;
    return [lon + shift, lat];
  });
}

const moved = (ring: Ring, by: number): Ring => ring.map(([lon = 0, lat = 0]) => [lon + by, lat]);

/**
 * Returns the rings of a polygon for a flat map, on which none may reach across all of it: two copies, each cut by an
 * edge of the map, if it crosses the 180th meridian.
 */
export function flatPolygons(polygon: readonly Ring[]): (readonly Ring[])[] {
  const [outer = []] = polygon;
  if (outer.some(([, lat = 0]) => lat < southernmost)) return [polygon];
  const rings = polygon.map(unwrapped);
  const longitudes = (rings[0] ?? []).map(([lon = 0]) => lon);
  const over = Math.max(...longitudes) > 180 ? -360 : Math.min(...longitudes) < -180 ? 360 : 0;
  return over === 0 ? [rings] : [rings, rings.map((ring) => moved(ring, over))];
}
