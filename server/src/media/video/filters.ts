import { colourFilters, completed, iptFilters } from '../colour/video.ts';
import type { Ffmpeg, VideoStream } from '../ffmpeg/ffmpeg.ts';
import type { Shape } from '../ladder.ts';

/** Puts frames with transparent parts on white, as web pages show them. Their hidden colours are often black. */
const onWhite = [
  'format=yuva444p,split[front][back]',
  '[back]drawbox=color=white:t=fill:replace=1[white]',
  '[white][front]overlay=format=yuv444',
].join(';');

/**
 * Returns the FFmpeg filters that convert upright frames of a stream to this size and pixel format, in the colours of
 * BT.709 and in standard dynamic range.
 */
export async function pictureFilters(
  ffmpeg: Ffmpeg,
  { colour, codedSize, interlaced, hasAlpha, isIpt }: VideoStream,
  shape: Shape,
  format: 'rgb24' | 'yuv420p',
): Promise<string> {
  const hasZscale = await ffmpeg.hasFilter('zscale');
  const filters = [
    ...(interlaced ? ['yadif=deint=interlaced'] : []),
    ...(isIpt && hasZscale
      ? iptFilters(shape)
      : colourFilters(completed(colour, codedSize), shape, hasZscale)),
    ...(hasAlpha ? [onWhite] : []),
    'setsar=1',
    `format=${format}`,
  ];
  return filters.join(',');
}
