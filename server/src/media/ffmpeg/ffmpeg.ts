import type { CodePoints } from '../colour/video.ts';

/** A file to read. The demuxer follows from the media type, so that the file cannot choose its parser. */
export interface Source {
  path: string;
  mime: string;
}

export interface VideoStream {
  index: number;
  codec: string;
  /** Size as displayed: upright, with square pixels. */
  width: number;
  height: number;
  /** Average frames per second as a fraction, at most 1,000; null if unknown. */
  frameRate: { num: number; den: number } | null;
  /** The rate that shows every frame, if their lengths differ; otherwise that of `frameRate`. */
  fullRate: { num: number; den: number } | null;
  /** Colours as described by the file. */
  colour: CodePoints;
  /** Size as encoded. */
  codedSize: { width: number; height: number };
  interlaced: boolean;
  /** Whether its colours are those of Dolby Vision's profile 5 (IPT), whatever `colour` says. */
  isIpt: boolean;
  /** Whether its frames have transparent parts. */
  hasAlpha: boolean;
  /** FFmpeg's name of the decoder that decodes all of it; null for the usual one. */
  decoder: 'libvpx' | 'libvpx-vp9' | null;
  /** What the container cuts off at each edge of a coded frame. */
  crop: Crop | null;
}

/** Rows and columns at the edges of a frame. */
export interface Crop {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export interface AudioStream {
  index: number;
  codec: string;
}

export interface SubtitleStream {
  index: number;
  codec: string;
  /** As written in the file; '' if it does not say. */
  language: string;
  title: string;
  /** Forced subtitles translate only what is foreign in the film; SDH is made for people who do not hear it. */
  kind: 'full' | 'forced' | 'sdh';
}

/** A packet of a subtitle stream. */
export interface TimedText {
  index: number;
  /** Since the beginning of the film. */
  startSeconds: number;
  /** 0 if unknown. */
  durationSeconds: number;
  data: Buffer;
}

/** Limit of all subtitles of a file, in bytes. */
export const MOST_TEXT_BYTES = 10 * 1024 * 1024;

/** The streams of a file. */
export interface Probe {
  /** Null if unknown. */
  durationSeconds: number | null;
  /** The film: the video that players show. */
  video: VideoStream | null;
  /** The sound that players play. */
  audio: AudioStream | null;
  /** The first attached picture, such as an album cover. */
  cover: { index: number } | null;
  subtitles: readonly SubtitleStream[];
  /** The timecode of the first frame; null if the file has none. */
  timecode: string | null;
}

/** Selects a frame. */
interface FrameRequest {
  atSeconds: number;
  /** Filters that scale an upright frame to `width` x `height` pixels. */
  filter: string;
  width: number;
  height: number;
  /**
   * Whether to decode the frame at exactly this moment instead of the keyframe before it, which is much faster to
   * find.
   */
  exact: boolean;
}

/** Selects frames at equal intervals, each the last one at or before the middle of its interval. */
export interface FramesRequest extends Omit<FrameRequest, 'atSeconds'> {
  count: number;
  /** In seconds. */
  interval: number;
  /** Ends the run early. */
  signal: AbortSignal;
}

/** Returns the FFmpeg filter that selects these frames, for timestamps that start at 0. */
export function intervalFilter({ interval }: Pick<FramesRequest, 'interval'>): string {
  return `fps=fps=1/${interval}:start_time=${interval / 2}:round=up`;
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

/** The sample rate of `samples`, in Hz. */
export const SAMPLE_RATE = 8000;

/**
 * FFmpeg, either the system's program or the library of the npm package. Used only in decoder processes. Functions
 * throw BrokenFile for faults of the file, and other errors for faults of the machine.
 */
export interface Ffmpeg {
  /** Returns whether this build has a filter. */
  hasFilter(name: string): Promise<boolean>;
  probe(source: Source): Promise<Probe>;
  /** Returns the end of the last packet of any stream, in seconds. Reads the whole file without decoding it. */
  findDuration(source: Source): Promise<number>;
  /** Returns the pixels of a frame as RGB with 8 bits per channel; null if there is none at or after that moment. */
  frame(source: Source, stream: VideoStream, request: FrameRequest): Promise<Buffer | null>;
  /**
   * Yields the pixels of up to `count` frames, as `frame` does, in one pass over the file. Inexact frames are keyframes,
   * which are the only ones decoded. Ends when the signal is aborted.
   */
  frames(source: Source, stream: VideoStream, request: FramesRequest): AsyncIterable<Buffer>;
  /** Returns the bytes of the attached picture in this stream, in its own format; null if there is none. */
  cover(source: Source, index: number): Promise<Buffer | null>;
  /** Returns the packets of these subtitle streams. Reads the whole file without decoding it. */
  texts(source: Source, indices: readonly number[]): Promise<TimedText[]>;
  /** Returns the audio as signed 16-bit mono samples at `SAMPLE_RATE`. */
  samples(source: Source, stream: AudioStream): AsyncIterable<Buffer>;
  /** Encodes a file to several outputs, decoding it once. Passes the number of encoded seconds to `onTime`. */
  encode(
    source: Source,
    probe: Probe,
    outputs: readonly Output[],
    onTime: (seconds: number) => void,
  ): Promise<void>;
}

/** Longest edge of a video that is decoded, in pixels; the limit of H.265. */
const MOST_EDGE = 8192 * 2;

/** Returns whether frames of this size are decoded. */
export function isDecodableSize({ width, height }: { width: number; height: number }): boolean {
  return width >= 2 && height >= 2 && Math.max(width, height) <= MOST_EDGE;
}

/** Returns the size of a stream as displayed: upright, with square pixels. */
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

/** Returns a plausible frame rate, or null. */
export function plausibleFrameRate(num: number, den: number): { num: number; den: number } | null {
  const rate = num / den;
  return Number.isFinite(rate) && rate > 0 && rate <= 1000 ? { num, den } : null;
}
