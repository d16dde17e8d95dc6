import type { Ffmpeg, VideoStream } from '../ffmpeg/ffmpeg.ts';
import type { Shape } from '../ladder.ts';

/** Converts a high dynamic range to standard range. Applied after scaling, because it is slow. */
function toneMapping(hdr: 'pq' | 'hlg'): string {
  const transfer = hdr === 'pq' ? 'smpte2084' : 'arib-std-b67';
  return [
    `zscale=tin=${transfer}:pin=bt2020:min=bt2020nc:rin=tv:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv',
  ].join(',');
}

/**
 * Returns the FFmpeg filters that convert upright frames of a stream to this size and pixel format in standard
 * dynamic range.
 */
export async function pictureFilters(
  ffmpeg: Ffmpeg,
  { hdr, interlaced }: VideoStream,
  { width, height }: Shape,
  format: 'rgb24' | 'yuv420p',
): Promise<string> {
  const filters = [
    ...(interlaced ? ['yadif=deint=interlaced'] : []),
    `scale=${width}:${height}`,
    'setsar=1',
    ...(hdr !== null && (await ffmpeg.hasFilter('zscale')) ? [toneMapping(hdr)] : []),
    `format=${format}`,
  ];
  return filters.join(',');
}
