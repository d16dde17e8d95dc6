import { writeFile } from 'node:fs/promises';
import { type FrameRate, frameAt, frameStart } from '@vitrine/contract/frames';
import { type DrawnSize, shapeOf } from '@vitrine/contract/stroke-shapes';
import type { Stroke } from '@vitrine/contract/strokes';
import { ffmpeg } from './ffmpeg/choose.ts';
import { isDecodableSize } from './ffmpeg/ffmpeg.ts';
import { contain } from './ladder.ts';
import { nullIfBroken } from './still.ts';
import { sharp } from './tuned-sharp.ts';
import { pathOf } from './typesetting/faces.ts';
import { pictureFilters } from './video/filters.ts';

/** Longest edge of a flattened frame, in pixels. */
const FRAME_EDGE = 2048;

/** The moment of a film. */
export interface Moment {
  seconds: number;
  /** Null if it is not known. */
  rate: FrameRate | null;
}

/** Returns strokes as an SVG of this size. Letters are paths, so that they look the same on every machine. */
function svgOf(strokes: readonly Stroke[], size: DrawnSize): string {
  const shapes = strokes.map((stroke) => {
    const shape = shapeOf(stroke, size);
    if (shape.kind === 'filled') return `<path fill="${shape.color}" d="${shape.path}"/>`;
    if (shape.kind === 'line')
      return `<path fill="none" stroke="${shape.color}" stroke-width="${shape.width}" stroke-linecap="round" stroke-linejoin="round" d="${shape.path}"/>`;
    const lines = shape.lines.map(({ text, y }) => pathOf('bold', text, shape.size, shape.x, y));
    return `<path fill="${shape.color}" d="${lines.join('')}"/>`;
  });
  const { width, height } = size;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${shapes.join('')}</svg>`;
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
  const { width, height } = frame?.size ?? (await picture.metadata()).autoOrient;
  const drawn = Buffer.from(svgOf(strokes, { width, height }));
  const flat = picture.autoOrient().composite([{ input: drawn, left: 0, top: 0 }]);
  await writeFile(to, await flat.png({ compressionLevel: 6 }).toBuffer());
  return true;
}
