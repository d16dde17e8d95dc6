import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { saySentence } from '../../platform/language/sentence.ts';
import { requireRoomIn } from '../faults.ts';
import { mostPixels, refusalOf } from '../raster.ts';
import { openStill } from '../renderable.ts';
import { mend } from '../stills/mend.ts';
import { sharp, strictnessOf } from '../tuned-sharp.ts';
import { watchEntries } from './archive-progress.ts';
import { countTiles, OVERLAP, TILE_SIZE } from './geometry.ts';
import { packTiles } from './packing.ts';

/** A finished pack of tiles. */
export interface MadeTiles {
  path: string;
  /** The media type of each tile. */
  tileType: 'image/jpeg' | 'image/webp';
  sizeBytes: number;
  width: number;
  height: number;
}

/** The fraction of the progress that cutting accounts for; the rest is copying the tiles to their pack. */
const CUT_PART = 0.9;

async function tile(
  picture: { path: string; mime: string },
  outDir: string,
  report: (part: number) => void,
): Promise<MadeTiles | string> {
  const limit = mostPixels(picture.mime);
  const { hasAlpha, autoOrient } = await sharp(picture.path, { limitInputPixels: false }).metadata();
  const { width, height } = autoOrient;
  if (width * height > limit) return `${width} x ${height} pixels are more than are rendered`;
  const archive = join(outDir, 'tiles.zip');
  const options = { ...strictnessOf(picture.mime), limitInputPixels: limit, sequentialRead: true };
  const upright = sharp(picture.path, options).autoOrient().toColourspace('srgb');
  // Uses WebP only for pictures with transparency, because it takes four times as long.
  const encoded = hasAlpha ? upright.webp({ quality: 80, effort: 0 }) : upright.jpeg({ quality: 82 });
  const total = countTiles({ width, height });
  const stopWatching = watchEntries(archive, (count) => report(Math.min(1, count / total) * CUT_PART));
  try {
    await encoded
      .tile({ size: TILE_SIZE, overlap: OVERLAP, layout: 'dz', container: 'zip', depth: 'onepixel' })
      .toFile(archive);
  } finally {
    await stopWatching();
  }
  report(CUT_PART);
  const path = join(outDir, 'tiles.pack');
  const sizeBytes = await packTiles(archive, { width, height }, path);
  await rm(archive);
  return { path, tileType: hasAlpha ? 'image/webp' : 'image/jpeg', sizeBytes, width, height };
}

/**
 * Cuts a picture into tiles, reading it from top to bottom with only one row of tiles in memory. Resolves to the
 * reason if it cannot be done. Passes progress from 0 to 1 to `report`. Rejects only on faults of the machine.
 */
export async function makeTiles(
  file: { path: string; mime: string },
  outDir: string,
  report: (part: number) => void = () => {},
): Promise<MadeTiles | string> {
  try {
    const { picture } = await openStill(file, outDir);
    if (picture === null) return 'nothing to draw';
    return await tile(picture, outDir, report).catch(async (error: unknown) => {
      const whole = await mend(picture, outDir);
      if (whole === null) throw error;
      return tile(whole, outDir, report);
    });
  } catch (error) {
    const reason = saySentence('en', refusalOf(error));
    // libvips writes the archive itself and may report a full disk as a decoding error.
    await requireRoomIn(outDir);
    return reason;
  }
}
