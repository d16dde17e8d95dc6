import { findProgram } from './program.ts';

/** A file to be read. The demuxer follows from the media type, so that no file decides which parser reads it. */
export interface Source {
  path: string;
  mime: string;
}

export interface VideoStream {
  index: number;
  codec: string;
  /** Pixels as shown: upright and square. */
  width: number;
  height: number;
  /** Frames per second as a fraction, at most 1,000; null when the file does not say. */
  frameRate: { num: number; den: number } | null;
  /** The transfer function of a high dynamic range, which screens need tone-mapped. */
  hdr: 'pq' | 'hlg' | null;
  interlaced: boolean;
}

export interface AudioStream {
  index: number;
  codec: string;
}

/** What a file is made of. */
export interface Probe {
  /** Null when the file does not say. */
  durationSeconds: number | null;
  /** The first moving picture. */
  video: VideoStream | null;
  audio: AudioStream | null;
  /** The first still picture that goes with the file, such as the cover of an album. */
  cover: { index: number } | null;
}

/** Which frame is wanted. */
export interface FrameWish {
  atSeconds: number;
  /** Filters that bring an upright frame to `width` x `height` pixels. */
  filter: string;
  width: number;
  height: number;
  /** The frame at this very moment, rather than the keyframe before it, which is found much sooner. */
  exact: boolean;
}

/** One file to encode. Options are those of FFmpeg's muxers and encoders. */
export interface Output {
  path: string;
  format: 'hls' | 'mp4';
  options: Readonly<Record<string, string>>;
  video: {
    filter: string;
    frameRate: { num: number; den: number };
    options: Readonly<Record<string, string>>;
  } | null;
  /** AAC in stereo at 48 kHz. */
  audio: { bitRate: number } | null;
}

/** The sample rate at which `samples` answers. */
export const SAMPLE_RATE = 8000;

/**
 * FFmpeg, either the system's program or the library of the npm package. Used in decoder processes only. Functions throw
 * BrokenFile for faults of the file, and anything else for faults of the machine.
 */
export interface Ffmpeg {
  /** Whether this build has a filter. */
  hasFilter(name: string): Promise<boolean>;
  probe(source: Source): Promise<Probe>;
  /** When the last packet of any stream ends, in seconds. Reads the whole file without decoding it. */
  findDuration(source: Source): Promise<number>;
  /** The pixels of a frame as RGB, 8 bits each; null when there is none at or after that moment. */
  frame(source: Source, stream: VideoStream, wish: FrameWish): Promise<Buffer | null>;
  /** The bytes of the still picture in this stream, in a format of its own; null when there is none. */
  cover(source: Source, index: number): Promise<Buffer | null>;
  /** The sound as signed 16-bit samples, mono, `SAMPLE_RATE` a second. */
  samples(source: Source, stream: AudioStream): AsyncIterable<Buffer>;
  /** Encodes a file to several outputs, decoding it once. Passes the number of encoded seconds to `onTime`. */
  encode(
    source: Source,
    probe: Probe,
    outputs: readonly Output[],
    onTime: (seconds: number) => void,
  ): Promise<void>;
}

/** The largest edge of a video that is decoded, which is H.265's. */
const MOST_EDGE = 8192 * 2;

/** Whether pictures of this size are decoded. */
export function isDecodableSize({ width, height }: { width: number; height: number }): boolean {
  return width >= 2 && height >= 2 && Math.max(width, height) <= MOST_EDGE;
}

/** The size of a stream as shown: with square pixels and upright. */
export function shownSize(
  coded: { width: number; height: number },
  pixelAspect: number,
  rotation: number,
): { width: number; height: number } {
  const isSane = Number.isFinite(pixelAspect) && pixelAspect >= 0.1 && pixelAspect <= 10;
  const width = Math.round(coded.width * (isSane ? pixelAspect : 1));
  const isTurned = Math.abs(Math.round(rotation / 90)) % 2 === 1;
  return isTurned ? { width: coded.height, height: width } : { width, height: coded.height };
}

/** A frame rate that can be worked with, or null. */
export function saneRate(num: number, den: number): { num: number; den: number } | null {
  const rate = num / den;
  return Number.isFinite(rate) && rate > 0 && rate <= 1000 ? { num, den } : null;
}

let found: Promise<Ffmpeg> | null = null;

/** The FFmpeg of this process: the program it was given, else the system's, else the npm package's. */
export function ffmpeg(): Promise<Ffmpeg> {
  found ??= ffmpegOf(process.env.FFMPEG_PROGRAM);
  return found;
}

/** The FFmpeg that a setting names, as `locateProgram` has it. */
export async function ffmpegOf(named: string | undefined): Promise<Ffmpeg> {
  const program = await findProgram(named);
  if (program !== null) return (await import('./system.ts')).systemFfmpeg(program);
  const { packagedFfmpeg } = await import('./packaged.ts');
  return packagedFfmpeg();
}
