import type { MediaFacts } from '@vitrine/contract/media';
import { type Sentence, sentence } from '../platform/language/sentence.ts';
import { isPlayed, makePlayable } from './audio/playable.ts';
import { requireRoomIn } from './faults.ts';
import { ffmpeg } from './ffmpeg/choose.ts';
import { mediaTypes } from './ffmpeg/demuxers.ts';
import type { Source } from './ffmpeg/ffmpeg.ts';
import { BrokenFile, type MadeRendition } from './still.ts';
import { cutFilm } from './stills/motion.ts';
import { makeStreams } from './video/hls.ts';

/** The outcome of a transcode. The reason of `broken` is one clause about the file. */
export type Transcoded =
  | { outcome: 'done'; renditions: readonly MadeRendition[] }
  | { outcome: 'broken'; reason: Sentence };

/** Returns whether a file with these facts has renditions that are made by a transcode. */
export function isTranscoded(mime: string, facts: MediaFacts): boolean {
  if (!mediaTypes.includes(mime)) return facts.motion === true;
  if (facts.has_video === true) return true;
  return facts.audio_codec !== undefined && !isPlayed(mime, facts.audio_codec);
}

const MINUTE_MS = 60_000;
/** How many times longer than the video's duration encoding may take. */
const PATIENCE = 30;

/**
 * Maximum duration of a video with streams: a few bytes may declare a century, which would be encoded frame by frame.
 */
const MOST_SECONDS = 24 * 3600;
/** More than the longest video takes on a slow machine. */
const MOST_MS = 72 * 60 * MINUTE_MS;

/** Returns the time limit of a transcode, in milliseconds. */
export function transcodeLimit({ duration_seconds = 0 }: MediaFacts): number {
  return Math.min(MOST_MS, 10 * MINUTE_MS + Math.ceil(duration_seconds * 1000) * PATIENCE);
}

/** Returns the film of a motion photo, or the file itself. */
async function filmOf(file: Source, outDir: string): Promise<Source> {
  if (mediaTypes.includes(file.mime)) return file;
  const film = await cutFilm(file, outDir);
  if (film === null) throw new BrokenFile(sentence('it has no film'));
  return { path: film.path, mime: 'video/mp4' };
}

/**
 * Makes the slow renditions of a video or a sound in `outDir`. Passes progress from 0 to 1 to `onProgress`. Rejects
 * only on faults of the machine, which are retryable.
 */
export async function transcode(
  file: Source,
  outDir: string,
  onProgress: (part: number) => void,
): Promise<Transcoded> {
  try {
    const player = await ffmpeg();
    const source = await filmOf(file, outDir);
    const probe = await player.probe(source);
    const { video, durationSeconds } = probe;
    if (durationSeconds !== null && durationSeconds > MOST_SECONDS) {
      return { outcome: 'broken', reason: sentence('it is longer than 24 hours') };
    }
    const renditions =
      video === null
        ? await makePlayable(player, source, probe, outDir, onProgress)
        : await makeStreams(player, { source, probe, video }, outDir, onProgress);
    return { outcome: 'done', renditions };
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    await requireRoomIn(outDir);
    return { outcome: 'broken', reason: error.sentence };
  }
}
