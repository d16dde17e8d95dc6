import type * as Leaflet from 'leaflet';
import type { merge as mergeCountries } from 'topojson-client';
import outline from 'world-atlas/countries-110m.json?url';
import { layerOf, openBaseMap } from './base-map.ts';
import { flatPolygons } from './outline.ts';

type Merge = typeof mergeCountries;
type World = Parameters<Merge>[0] & {
  objects: { countries: { geometries: Extract<Parameters<Merge>[1], readonly unknown[]> } };
};

/** The map below the places. */
export interface Ground {
  readonly layers: readonly Leaflet.Layer[];
  /** The authors of the map; empty for the app's own outline. */
  readonly attribution: string;
  /** Whether the operator's map cannot be shown. */
  readonly isBroken: boolean;
}

/** Reads the countries of the world from the app's own file, as polygons of longitudes and latitudes. */
async function readCountries() {
  const [{ merge }, answer] = await Promise.all([import('topojson-client'), fetch(outline)]);
  const world: World = await answer.json();
  return world.objects.countries.geometries.flatMap((country) =>
    merge(world, [country]).coordinates.flatMap(flatPolygons),
  );
}

async function readOutline(leaflet: typeof Leaflet): Promise<readonly Leaflet.Layer[]> {
  // The map works without the outline, too.
  const countries = await readCountries().catch(() => []);
  // Styled by its class, so that it follows the theme.
  const land = { interactive: false, renderer: leaflet.svg({ padding: 1 }), className: 'land', weight: 1 };
  return countries.map((rings) =>
    leaflet.polygon(
      rings.map((ring) => ring.map(([lon = 0, lat = 0]) => leaflet.latLng(lat, lon))),
      land,
    ),
  );
}

/** Returns the operator's map, or the outlines of the countries if there is none or it cannot be read (BROWSE-9). */
export async function readGround(leaflet: typeof Leaflet): Promise<Ground> {
  const map = await openBaseMap().catch(() => 'broken' as const);
  const isBroken = map === 'broken';
  if (map === null || isBroken) return { layers: await readOutline(leaflet), attribution: '', isBroken };
  return { layers: [layerOf(leaflet, map)], attribution: map.attribution, isBroken };
}
