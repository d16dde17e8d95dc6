import { writeFile } from 'node:fs/promises';
import { type FrameRate, frameAt, frameStart } from '@vitrine/contract/frames';
import type { Stroke } from '@vitrine/contract/strokes';
import { drawnStrokes, svgOf } from './drawn-strokes.ts';
import { ffmpeg } from './ffmpeg/choose.ts';
import { isDecodableSize } from './ffmpeg/ffmpeg.ts';
import { contain } from './ladder.ts';
import { nullIfBroken } from './still.ts';
import { sharp } from './tuned-sharp.ts';
import { pictureFilters } from './video/filters.ts';

/** Longest edge of a flattened frame, in pixels. */
const FRAME_EDGE = 2048;

/** The moment of a film. */
export interface Moment {
  seconds: number;
  /** Null if it is not known. */
  rate: FrameRate | null;
}

/** Returns the frame that players show at this moment, as raw pixels; null if there is none. */
async function frameOf(source: { path: string; mime: string }, { seconds, rate }: Moment) {
  const player = await ffmpeg();
  const probe = await nullIfBroken(player.probe(source));
  const video = probe?.video ?? null;
  if (video === null || !isDecodableSize(video)) return null;
  const size = contain(FRAME_EDGE, video);
  const filter = await pictureFilters(player, video, size, 'rgb24');
  // The decoder returns the first frame at or after the moment: half a frame earlier, that is the one that is shown.
  const atSeconds = rate === null ? seconds : Math.max(0, frameStart(frameAt(seconds, rate) - 0.5, rate));
  const pixels = await nullIfBroken(player.frame(source, video, { atSeconds, filter, ...size, exact: true }));
  return pixels === null ? null : { pixels, size };
}

/**
 * Writes a picture, or a frame of a film, with strokes drawn on it to `to` as PNG. Returns false if there is no such
 * frame. A picture is a rendition of this service.
 */
export async function flatten(
  source: { path: string; mime: string },
  moment: Moment | null,
  strokes: readonly Stroke[],
  to: string,
): Promise<boolean> {
  const frame = moment === null ? null : await frameOf(source, moment);
  if (moment !== null && frame === null) return false;
  const picture =
    frame === null ? sharp(source.path) : sharp(frame.pixels, { raw: { ...frame.size, channels: 3 } });
  const size = frame?.size ?? (await picture.metadata()).autoOrient;
  const drawn = svgOf(drawnStrokes(strokes, size), size);
  const flat = picture.autoOrient().composite([{ input: drawn, left: 0, top: 0 }]);
  await writeFile(to, await flat.png({ compressionLevel: 6 }).toBuffer());
  return true;
}
