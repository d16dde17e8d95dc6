import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renditions } from '@vitrine/contract/renditions';
import { sentence } from '../../platform/language/sentence.ts';
import type { Ffmpeg, Source, VideoStream } from '../ffmpeg/ffmpeg.ts';
import { contain } from '../ladder.ts';
import { BrokenFile, type MadeRendition, nullIfBroken } from '../still.ts';
import { sharp } from '../tuned-sharp.ts';
import { pictureFilters } from './filters.ts';
import { type Tiles, timeOfTile } from './sprites.ts';

/** Longest edge of the frame that the ladder is made from, in pixels; no rung is larger. */
const FRAME_EDGE = 4096;
const POSTER_EDGE = renditions.poster.largestSide;
/** Fraction of a video that is skipped, because its first frames are often black or a title. */
const OPENING = 0.1;
/** Standard deviation of the brightness (0 to 255) below which a frame shows almost nothing. */
const FLAT = 12;

/** Returns a representative moment in seconds: after the opening, and neither black nor blank. */
export async function chooseMoment(tiles: Tiles | null, durationSeconds: number): Promise<number> {
  if (tiles === null) return durationSeconds * OPENING;
  const { pixels, shape } = tiles;
  const first = Math.floor(pixels.length * OPENING);
  let best = { index: first, deviation: -1 };
  for (let index = first; index < pixels.length; index += 1) {
    const raw = { ...shape, channels: 3 as const };
    const { channels } = await sharp(pixels[index], { raw }).greyscale().stats();
    const deviation = channels[0]?.stdev ?? 0;
    if (deviation >= FLAT) return timeOfTile(tiles, index);
    if (deviation > best.deviation) best = { index, deviation };
  }
  return timeOfTile(tiles, best.index);
}

/**
 * Makes a picture for the ladder and the rendition `poster` from the frame at this moment. Throws BrokenFile if there
 * is none.
 */
export async function makePoster(
  ffmpeg: Ffmpeg,
  { source, video, atSeconds }: { source: Source; video: VideoStream; atSeconds: number },
  outDir: string,
): Promise<{ picture: { path: string; mime: string }; poster: MadeRendition }> {
  const shape = contain(FRAME_EDGE, video);
  const filter = await pictureFilters(ffmpeg, video, shape, 'rgb24');
  const at = (seconds: number, exact: boolean) =>
    ffmpeg.frame(source, video, { atSeconds: seconds, filter, ...shape, exact });
  // The file may end earlier than declared, or be damaged at that moment.
  const pixels =
    (await nullIfBroken(at(atSeconds, true))) ??
    (await nullIfBroken(at(atSeconds, false))) ??
    (await at(0, true));
  if (pixels === null) throw new BrokenFile(sentence('it has no picture that can be decoded'));
  const frame = () => sharp(pixels, { raw: { ...shape, channels: 3 } });
  const picture = { path: join(outDir, 'frame.tiff'), mime: 'image/tiff' };
  await writeFile(picture.path, await frame().tiff({ compression: 'none' }).toBuffer());
  const size = contain(POSTER_EDGE, shape);
  const bytes = await frame().resize(size.width, size.height).jpeg({ quality: 85 }).toBuffer();
  const path = join(outDir, 'poster.jpg');
  await writeFile(path, bytes);
  return {
    picture,
    poster: { key: 'poster', path, contentType: 'image/jpeg', sizeBytes: bytes.length, ...size },
  };
}
