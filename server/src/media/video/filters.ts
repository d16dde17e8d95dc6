import type { Ffmpeg, VideoStream } from '../ffmpeg/ffmpeg.ts';
import type { Shape } from '../ladder.ts';

/** Brings a high dynamic range to that of usual screens. Applied after shrinking, because it is slow. */
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

/** FFmpeg filters that bring upright frames of a stream to this size, in this pixel format, for usual screens. */
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
