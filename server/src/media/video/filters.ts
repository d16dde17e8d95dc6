import { colourFilters, completed } from '../colour/video.ts';
import type { Ffmpeg, VideoStream } from '../ffmpeg/ffmpeg.ts';
import type { Shape } from '../ladder.ts';

/**
 * Returns the FFmpeg filters that convert upright frames of a stream to this size and pixel format, in the colours of
 * BT.709 and in standard dynamic range.
 */
export async function pictureFilters(
  ffmpeg: Ffmpeg,
  { colour, codedSize, interlaced }: VideoStream,
  shape: Shape,
  format: 'rgb24' | 'yuv420p',
): Promise<string> {
  const filters = [
    ...(interlaced ? ['yadif=deint=interlaced'] : []),
    ...colourFilters(completed(colour, codedSize), shape, await ffmpeg.hasFilter('zscale')),
    'setsar=1',
    `format=${format}`,
  ];
  return filters.join(',');
}
