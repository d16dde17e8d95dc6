import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ffmpeg, Probe, Source } from '../ffmpeg/ffmpeg.ts';
import type { MadeRendition } from '../still.ts';

/** Media types that browsers play, with the codecs that they support in each. */
const played: ReadonlyMap<string, readonly string[]> = new Map([
  ['audio/mpeg', ['mp3']],
  ['audio/wav', ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_f32le']],
  ['audio/flac', ['flac']],
  ['audio/ogg', ['vorbis', 'opus', 'flac']],
  ['audio/ogg; codecs=opus', ['opus']],
  ['application/ogg', ['vorbis', 'opus', 'flac']],
  ['audio/aac', ['aac']],
  ['audio/mp4', ['aac', 'mp3', 'flac', 'opus']],
  ['audio/x-m4a', ['aac', 'mp3', 'flac', 'opus']],
  ['audio/webm', ['opus', 'vorbis']],
  ['video/mp4', ['aac', 'mp3', 'flac', 'opus']],
  ['video/webm', ['opus', 'vorbis']],
]);

/** Returns whether current browsers play an audio file without conversion. */
export function isPlayed(mime: string, codec: string): boolean {
  return played.get(mime)?.includes(codec) === true;
}

const BIT_RATE = 192_000;

/**
 * Encodes the audio of a file as `audio.m4a`, which every browser plays. Throws BrokenFile if it cannot be decoded.
 */
export async function makePlayable(
  ffmpeg: Ffmpeg,
  source: Source,
  probe: Probe,
  outDir: string,
  onProgress: (part: number) => void,
): Promise<MadeRendition[]> {
  const key = 'audio.m4a';
  const path = join(outDir, key);
  const duration = probe.durationSeconds ?? 0;
  const output = {
    path,
    format: 'mp4',
    options: { movflags: '+faststart' },
    video: null,
    audio: { bitRate: BIT_RATE },
  } as const;
  await ffmpeg.encode(source, { ...probe, video: null }, [output], (seconds) =>
    onProgress(duration > 0 ? Math.min(1, seconds / duration) : 0),
  );
  return [{ key, path, contentType: 'audio/mp4', sizeBytes: (await stat(path)).size }];
}
