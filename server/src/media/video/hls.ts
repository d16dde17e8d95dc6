import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { renditions } from '@vitrine/contract/renditions';
import { sentence } from '../../platform/language/sentence.ts';
import { madeColours } from '../colour/video.ts';
import type { Ffmpeg, Output, Probe, Source, VideoStream } from '../ffmpeg/ffmpeg.ts';
import { readHead } from '../head.ts';
import type { Shape } from '../ladder.ts';
import { BrokenFile, type MadeRendition } from '../still.ts';
import { pictureFilters } from './filters.ts';

/** One quality of a video: the shorter edge in pixels, and the maximum bits per second of video and audio. */
interface Rung {
  name: string;
  edge: number;
  bitRate: number;
  soundBitRate: number;
}

const rungs: readonly Rung[] = [
  { name: '360p', edge: 360, bitRate: 900_000, soundBitRate: 96_000 },
  { name: '720p', edge: 720, bitRate: 3_000_000, soundBitRate: 128_000 },
  { name: '1080p', edge: 1080, bitRate: 6_000_000, soundBitRate: 160_000 },
];

/** Longest edge that common H.264 levels allow, in pixels. */
const LONGEST_EDGE = 4096;
const MOST_FRAME_RATE = 60;
const SEGMENT_SECONDS = 4;
/** A video at least this fraction of a rung, such as one of 1,072 lines, has that rung at its own size. */
const NEARLY = 0.9;
/** Number of bytes that contain the header of an encoded file. */
const HEADER_BYTES = 64 * 1024;

/** Returns the size of a video in a rung. Both edges are even, as H.264 requires, and never enlarged. */
export function sizeIn(edge: number, { width, height }: Shape): Shape {
  const scale = Math.min(1, edge / Math.min(width, height), LONGEST_EDGE / Math.max(width, height));
  const even = (length: number) => Math.max(2, 2 * Math.round((length * scale) / 2));
  return { width: even(width), height: even(height) };
}

/** Returns the rungs of a video of this size; always includes the lowest. */
export function rungsOf(size: Shape): readonly Rung[] {
  return rungs.filter(({ edge }, index) => index === 0 || Math.min(size.width, size.height) >= edge * NEARLY);
}

/** Returns the constant frame rate of the encoded video. */
function frameRateOf({ fullRate }: VideoStream): { num: number; den: number } {
  if (fullRate === null) return { num: 25, den: 1 };
  return fullRate.num / fullRate.den > MOST_FRAME_RATE ? { num: MOST_FRAME_RATE, den: 1 } : fullRate;
}

async function outputOf(
  ffmpeg: Ffmpeg,
  video: VideoStream,
  hasSound: boolean,
  rung: Rung,
  outDir: string,
): Promise<Output> {
  const frameRate = frameRateOf(video);
  // Every segment starts with a keyframe, at the same times in every rung.
  const distance = String(Math.max(1, Math.round((SEGMENT_SECONDS * frameRate.num) / frameRate.den)));
  const filters = await pictureFilters(ffmpeg, video, sizeIn(rung.edge, video), 'yuv420p');
  return {
    path: join(outDir, `${rung.name}.m3u8`),
    format: 'hls',
    options: {
      hls_time: String(SEGMENT_SECONDS),
      hls_playlist_type: 'vod',
      hls_segment_type: 'fmp4',
      hls_flags: 'single_file',
      hls_segment_filename: join(outDir, `${rung.name}.mp4`),
    },
    video: {
      // fps is the last filter, so that frames repeated for a still part of the video share their pixels.
      filter: `${filters},fps=${frameRate.num}/${frameRate.den}`,
      frameRate,
      options: {
        preset: 'veryfast',
        profile: 'high',
        crf: '23',
        maxrate: String(rung.bitRate),
        bufsize: String(rung.bitRate * 2),
        g: distance,
        keyint_min: distance,
        sc_threshold: '0',
        ...madeColours,
      },
    },
    audio: hasSound ? { bitRate: rung.soundBitRate } : null,
  };
}

/** Returns the codec string of H.264 (RFC 6381) from the header of the file. */
function codecOf(header: Buffer): string {
  const at = header.indexOf('avcC');
  if (at < 0) throw new Error('the encoded video has no avcC box');
  return `avc1.${header.subarray(at + 5, at + 8).toString('hex')}`;
}

/** Returns the peak and average bits per second of the segments of a playlist. */
function bitRatesOf(playlist: string): { peak: number; average: number } {
  const lengths = [...playlist.matchAll(/^#EXTINF:([\d.]+)/gm)].map((found) => Number(found[1]));
  const sizes = [...playlist.matchAll(/^#EXT-X-BYTERANGE:(\d+)/gm)].map((found) => Number(found[1]));
  const seconds = lengths.reduce((sum, length) => sum + length, 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const rates = sizes.map((size, index) => (size * 8) / Math.max(lengths[index] ?? 0, 0.5));
  return {
    peak: Math.ceil(Math.max(1, ...rates)),
    average: Math.ceil((bytes * 8) / Math.max(seconds, 0.5)),
  };
}

/** Returns the end of the last segment of a playlist, in bytes. */
function endOf(playlist: string): number {
  const ends = [...playlist.matchAll(/^#EXT-X-BYTERANGE:(\d+)@(\d+)/gm)].map(
    ([, length, start]) => Number(length) + Number(start),
  );
  return Math.max(0, ...ends);
}

interface Encoded {
  line: string;
  files: MadeRendition[];
}

async function describe(rung: Rung, video: VideoStream, hasSound: boolean, outDir: string): Promise<Encoded> {
  const playlist = join(outDir, `${rung.name}.m3u8`);
  const media = join(outDir, `${rung.name}.mp4`);
  const text = await readFile(playlist, 'utf8').catch(() => '');
  if (!text.includes('#EXT-X-ENDLIST'))
    throw new BrokenFile(sentence('it has no picture that can be decoded'));
  // Detects a hole that a temporarily full disk left; FFmpeg does not report it.
  if ((await stat(media)).size < endOf(text)) throw new Error('the encoded video was not written as a whole');
  const { head } = await readHead(media, HEADER_BYTES);
  const size = sizeIn(rung.edge, video);
  const rate = frameRateOf(video);
  const { peak, average } = bitRatesOf(text);
  const codecs = [codecOf(head), ...(hasSound ? ['mp4a.40.2'] : [])].join(',');
  const attributes = [
    `BANDWIDTH=${peak}`,
    `AVERAGE-BANDWIDTH=${average}`,
    `RESOLUTION=${size.width}x${size.height}`,
    `FRAME-RATE=${(rate.num / rate.den).toFixed(3)}`,
    `CODECS="${codecs}"`,
  ];
  const file = async (name: string, path: string, contentType: StreamType) => ({
    key: `hls/${name}` as const,
    path,
    contentType,
    sizeBytes: (await stat(path)).size,
    ...size,
  });
  return {
    line: `#EXT-X-STREAM-INF:${attributes.join(',')}\n${rung.name}.m3u8`,
    files: [
      await file(`${rung.name}.m3u8`, playlist, playlistType),
      await file(`${rung.name}.mp4`, media, 'video/mp4'),
    ],
  };
}

/** RFC 8216, 4: the media type of a playlist. */
const playlistType = 'application/vnd.apple.mpegurl';

type StreamType = (typeof renditions)['hls/{name}']['types'][number];

/**
 * Encodes a video as HTTP Live Streaming: H.264 and AAC in fragmented MP4, with one file and one playlist per rung,
 * and `master.m3u8`. Passes progress from 0 to 1 to `onProgress`. Throws BrokenFile if the video cannot be decoded.
 */
export async function makeStreams(
  ffmpeg: Ffmpeg,
  { source, probe, video }: { source: Source; probe: Probe; video: VideoStream },
  outDir: string,
  onProgress: (part: number) => void,
): Promise<MadeRendition[]> {
  const wanted = rungsOf(video);
  const duration = probe.durationSeconds ?? (await ffmpeg.findDuration(source));
  const onTime = (seconds: number) => onProgress(duration > 0 ? Math.min(1, seconds / duration) : 0);
  const encode = async (audio: Probe['audio']) => {
    const outputs = await Promise.all(
      wanted.map((rung) => outputOf(ffmpeg, video, audio !== null, rung, outDir)),
    );
    await ffmpeg.encode(source, { ...probe, audio }, outputs, onTime);
    return audio !== null;
  };
  const hasSound = await encode(probe.audio).catch((error: unknown) => {
    // Encodes the video without its audio if only the audio cannot be decoded.
    if (error instanceof BrokenFile && probe.audio !== null) return encode(null);
    throw error;
  });
  const encoded = await Promise.all(wanted.map((rung) => describe(rung, video, hasSound, outDir)));
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...encoded.map((stream) => stream.line),
  ];
  const path = join(outDir, 'master.m3u8');
  const text = `${lines.join('\n')}\n`;
  await writeFile(path, text);
  const master: MadeRendition = {
    key: 'hls/master.m3u8',
    path,
    contentType: playlistType,
    sizeBytes: Buffer.byteLength(text),
  };
  return [master, ...encoded.flatMap((stream) => stream.files)];
}
