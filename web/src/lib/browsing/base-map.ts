import type * as Leaflet from 'leaflet';
import type { Header, PMTiles } from 'pmtiles';

const address = '/api/v1/base-map';

/** Types of tiles that browsers show as pictures, as PMTiles numbers them. Tiles of vectors are not drawn. */
const pictureTypes: Readonly<Partial<Record<number, string>>> = {
  2: 'image/png',
  3: 'image/jpeg',
  4: 'image/webp',
  5: 'image/avif',
};

export interface BaseMap {
  readonly archive: PMTiles;
  readonly header: Header;
  /** The type of its tiles. */
  readonly type: string;
  /** The authors of the map, as plain text; empty if the archive does not name them. */
  readonly attribution: string;
}

/** Returns the text of the HTML that archives name their authors in. */
function plainText(html: unknown): string {
  if (typeof html !== 'string') return '';
  return new DOMParser().parseFromString(html, 'text/html').body.textContent.trim();
}

/**
 * Opens the operator's map (BROWSE-9). Returns null if the library has none. Throws if it is not an archive of pictures.
 */
export async function openBaseMap(): Promise<BaseMap | null> {
  const { status } = await fetch(address, { method: 'HEAD' });
  if (status === 204) return null;
  const { PMTiles } = await import('pmtiles');
  const archive = new PMTiles(new URL(address, location.href).href);
  const header = await archive.getHeader();
  const type = pictureTypes[header.tileType];
  if (type === undefined) throw new Error('the tiles of the base map are not pictures');
  const metadata = await archive.getMetadata();
  const html = typeof metadata === 'object' && metadata !== null && 'attribution' in metadata;
  return { archive, header, type, attribution: plainText(html ? metadata.attribution : undefined) };
}

/** Shows a tile of the archive in an element, which stays empty if the archive has no such tile. */
async function fill(
  tile: HTMLImageElement,
  { archive, type }: BaseMap,
  { z, x, y }: Leaflet.Coords,
): Promise<void> {
  const found = await archive.getZxy(z, x, y);
  if (found === undefined) return;
  tile.src = URL.createObjectURL(new Blob([found.data], { type }));
  await tile.decode().finally(() => URL.revokeObjectURL(tile.src));
}

/** Returns the layer of the base map, which enlarges its nearest tiles when the map is nearer. */
export function layerOf(leaflet: typeof Leaflet, map: BaseMap): Leaflet.GridLayer {
  const { minZoom, maxZoom } = map.header;
  const layer = leaflet.gridLayer({ minNativeZoom: minZoom, maxNativeZoom: maxZoom, className: 'tiles' });
  // Leaflet's types hide the method that each layer has to bring.
  return Object.assign(layer, {
    createTile(place: Leaflet.Coords, done: Leaflet.DoneCallback) {
      const tile = document.createElement('img');
      tile.alt = '';
      fill(tile, map, place).then(
        () => done(undefined, tile),
        (error: Error) => done(error, tile),
      );
      return tile;
    },
  });
}
