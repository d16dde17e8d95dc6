import { getAssetTile } from '@vitrine/contract/asset-bytes';
import type { AssetMedia } from '@vitrine/contract/media';
import { type RawBuilder, sql } from 'kysely';
import { renderedHash } from '../../access/assets.ts';
import { servedWithReviews } from '../../access/reviews.ts';
import type { Deps } from '../../core/deps.ts';
import { type HttpFacts, handle } from '../../core/handle.ts';
import { levelsOf, OVERLAP, TILE_SIZE, tileIndex } from '../../media/tiles/geometry.ts';
import { placeOf, readPlace, TILES } from '../../media/tiles/pack.ts';
import type { Database } from '../../platform/database/pool.ts';
import { hasCurrent } from '../../platform/http/etag.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { notFoundIfRemoved } from './send.ts';

/** A pack of tiles, as in `files.renditions`; `type` is that of each tile. */
export interface KeptTiles {
  object: string;
  type: string;
  bytes: number;
  width: number;
  height: number;
}

/** What a viewer needs to request tiles. */
export function describeTiles({
  type,
  width,
  height,
}: Pick<KeptTiles, 'type' | 'width' | 'height'>): AssetMedia['tiles'] {
  return {
    width,
    height,
    tile_size: TILE_SIZE,
    overlap: OVERLAP,
    levels: levelsOf({ width, height }),
    format: type === 'image/webp' ? 'webp' : 'jpeg',
  };
}

/** The bytes from which tiles are cut, with their pack; null for a picture without tiles. */
interface TiledRow {
  file_hash: string;
  tiles: KeptTiles | null;
}

/** Returns the asset with this id under a rule of `assets a`, with the tiles of the file with this `hash`. */
export async function findTiles(
  db: Database,
  id: string,
  rule: RawBuilder<boolean>,
  hash: RawBuilder<string> = renderedHash,
): Promise<TiledRow | null> {
  const { rows } = await sql<TiledRow>`
    select f.hash as file_hash, f.renditions -> ${TILES}::text as tiles
    from assets a join files f on f.hash = ${hash} where a.id = ${id} and ${rule}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Sends one tile of the picture that `find` returns. A missing picture, missing tiles and a missing tile are the same
 * 404. `isImmutable`: the address identifies these bytes permanently.
 */
export async function sendTile(
  { storage }: Pick<Deps, 'storage'>,
  http: HttpFacts,
  place: { level: string; tile: string },
  find: () => Promise<TiledRow | null>,
  isImmutable: (hash: string) => boolean,
) {
  const row = await find();
  const [, column, line] = /^(\d{1,6})_(\d{1,6})(?:\.(?:jpeg|webp))?$/.exec(place.tile) ?? [];
  if (row === null || row.tiles === null || column === undefined) throw notFound();
  const { object, bytes, type, width, height } = row.tiles;
  const level = /^\d{1,2}$/.test(place.level) ? Number(place.level) : -1;
  const index = tileIndex({ width, height }, level, Number(column), Number(line));
  if (index === null) throw notFound();
  // The size tells tiles that a later version drew otherwise.
  const etag = `"${row.file_hash}-tile-${bytes}-${index}"`;
  const headers = {
    etag,
    // As with renditions, access can change, so shared caches must not store them.
    'cache-control': isImmutable(row.file_hash)
      ? 'private, max-age=31536000, immutable'
      : 'private, no-cache',
    vary: 'Cookie, Authorization',
    'content-security-policy': sandboxPolicy,
  };
  if (hasCurrent(http.header('if-none-match'), etag)) return { status: 304, headers } as const;
  const read = async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of await storage.get(object, bytes, placeOf(index))) chunks.push(chunk);
    const place = readPlace(Buffer.concat(chunks));
    const length = String(place.end - place.start + 1);
    const body = await storage.get(object, bytes, place);
    return {
      status: 200,
      body,
      headers: { ...headers, 'content-type': type, 'content-length': length },
    } as const;
  };
  return notFoundIfRemoved(read(), find);
}

/** Sends one tile, under the content rule; no access, no tiles and no such tile are the same 404 (FILE-3). */
export const tile = handle(getAssetTile, async (deps, { caller, params, query, http }) =>
  sendTile(
    deps,
    http,
    params,
    () => findTiles(deps.db, params.id, servedWithReviews(caller)),
    (hash) => query.v === hash,
  ),
);
