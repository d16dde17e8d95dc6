import { stat } from 'node:fs/promises';
import { commonFrameRate, type FrameRate } from '@vitrine/contract/frames';
import type { MediaFacts } from '@vitrine/contract/media';
import { highRangeOf } from '../colour/video.ts';
import { ffmpeg } from '../ffmpeg/choose.ts';
import { isDecodableSize } from '../ffmpeg/ffmpeg.ts';
import { type SourceFile, type Still, tooManyPixels } from '../still.ts';
import { countPictures, readEmbedded } from '../subtitles/embedded.ts';
import { chooseMoment, makePoster } from '../video/poster.ts';
import { takeTiles, writeSprites } from '../video/sprites.ts';
import { stillOfSound } from './audio.ts';

/** Size of the largest film that is read from beginning to end for its subtitles. */
const MOST_READ_BYTES = 4 * 1024 ** 3;

/** Returns a rate with three digits, and as the fraction that containers with rounded timestamps stand for (MEDIA-64). */
function rateFacts({ num, den }: FrameRate): Pick<MediaFacts, 'frame_rate' | 'exact_frame_rate'> {
  const exact = commonFrameRate(num / den) ?? { num, den };
  return { frame_rate: Math.round((num / den) * 1000) / 1000, exact_frame_rate: `${exact.num}/${exact.den}` };
}

/** Makes the poster, scrub previews and facts of a video. Treats a container with only audio as audio. */
export async function makeVideo(
  source: SourceFile,
  outDir: string,
  report: (part: number) => void = () => {},
): Promise<Still> {
  const player = await ffmpeg();
  const probe = await player.probe(source);
  const { video, audio } = probe;
  if (video === null) return stillOfSound(player, source, probe, outDir, report);
  if (!isDecodableSize(video)) throw tooManyPixels(video);
  const duration = probe.durationSeconds ?? (await player.findDuration(source));
  const tiles = await takeTiles(player, source, video, duration, { report });
  const atSeconds = source.posterSeconds ?? (await chooseMoment(tiles, duration));
  const { picture, poster } = await makePoster(player, { source, video, atSeconds }, outDir);
  const { size } = await stat(source.path);
  const isRead = size <= MOST_READ_BYTES;
  const subtitles = isRead ? await readEmbedded(player, source, probe.subtitles, outDir) : [];
  const pictures = countPictures(probe.subtitles);
  const rate = video.frameRate;
  return {
    picture,
    shape: { width: video.width, height: video.height },
    extras: [poster, ...(tiles === null ? [] : await writeSprites(tiles, outDir))],
    subtitles,
    facts: {
      duration_seconds: duration,
      ...(rate === null ? {} : rateFacts(rate)),
      ...(probe.timecode === null ? {} : { start_timecode: probe.timecode }),
      has_video: true,
      has_sound: audio !== null,
      video_codec: video.codec,
      ...(audio === null ? {} : { audio_codec: audio.codec }),
      hdr: video.isIpt || highRangeOf(video.colour) !== null,
      poster_seconds: atSeconds,
      ...(pictures === 0 ? {} : { picture_subtitles: pictures }),
    },
  };
}
