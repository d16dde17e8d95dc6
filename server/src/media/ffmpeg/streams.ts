import type { CodePoints } from '../colour/video.ts';
import {
  type AudioStream,
  type Crop,
  type Probe,
  plausibleFrameRate,
  type SubtitleStream,
  shownSize,
  type VideoStream,
} from './ffmpeg.ts';

/** A fraction of FFmpeg; 0/0 or 0/1 if unknown. */
interface Fraction {
  num: number;
  den: number;
}

/** What FFmpeg says of a stream, in the same form for the program and for the library. */
export interface StreamFacts {
  index: number;
  kind: 'video' | 'audio' | 'subtitle' | 'other';
  /** FFmpeg's name of the codec; null if it is unknown. */
  codec: string | null;
  /** Number of frames or packets; null if the container does not say. */
  frames: number | null;
  disposition: Disposition;
  width: number;
  height: number;
  pixelAspect: Fraction;
  /** In degrees. */
  rotation: number;
  averageRate: Fraction;
  /** The lowest rate that represents all timestamps. */
  baseRate: Fraction;
  fieldOrder: 'progressive' | 'interlaced';
  /** The configuration of Dolby Vision, if it has one. */
  dolbyVision: { profile: number; compatibility: number } | null;
  /** FFmpeg's name of the pixel format; '' if it is unknown. */
  pixelFormat: string;
  /** The value of Matroska's AlphaMode: '1' if transparency is in a second picture of each packet. */
  alphaMode: string;
  /** What the container cuts off: its clean aperture or its crop. */
  crop: Crop | null;
  colour: CodePoints;
  language: string;
  title: string;
  /** Of its first frame, as the container says; '' if it does not. */
  timecode: string;
}

interface Disposition {
  default: boolean;
  /** A cover, or another picture that belongs to the file and not to its time line. */
  picture: boolean;
  /** Commentaries, and sound made for people who hear or see less. */
  secondary: boolean;
  forced: boolean;
  hearingImpaired: boolean;
}

/** Codecs of pictures. A film may use them, too: many cameras record Motion JPEG. */
const pictureCodecs: readonly string[] = [
  ...['mjpeg', 'mjpegb', 'jpegls', 'jpeg2000', 'jpegxl', 'ljpeg'],
  ...['png', 'apng', 'bmp', 'gif', 'tiff', 'webp', 'targa', 'ppm', 'pam', 'svg'],
];

/** Returns whether FFmpeg lists this stream as a picture that does not belong to the film. */
function isAttached({ kind, disposition }: StreamFacts): boolean {
  return kind === 'video' && disposition.picture;
}

/** Returns the streams that may be the film. There is a choice to make if there are several. */
function filmCandidates(streams: readonly StreamFacts[]): readonly StreamFacts[] {
  return streams.filter((stream) => stream.kind === 'video' && stream.codec !== null && !isAttached(stream));
}

/** Number of seconds at the beginning of a file in which packets are counted, to find stills among its streams. */
export const MOST_COUNTED_SECONDS = 10;

/** Returns whether the packets must be counted, because a file has several candidates of unknown length. */
export function isUnclear(streams: readonly StreamFacts[]): boolean {
  const candidates = filmCandidates(streams);
  return candidates.length > 1 && candidates.some(({ frames }) => frames === null);
}

/**
 * Returns the stream that players show: the first of those marked as default, but a stream that moves before a still,
 * and a codec of films before one of pictures.
 */
function chooseFilm(streams: readonly StreamFacts[]): StreamFacts | null {
  const rank = ({ codec, frames, disposition }: StreamFacts) =>
    (frames === 0 ? 8 : 0) +
    (frames === 1 ? 4 : 0) +
    (pictureCodecs.includes(codec ?? '') ? 2 : 0) +
    (disposition.default ? 0 : 1);
  return lowest(filmCandidates(streams), rank);
}

/**
 * Returns the sound that players play: the first of those marked as default, otherwise the first that is neither a
 * commentary nor made for people who hear or see less.
 */
function chooseSound(streams: readonly StreamFacts[]): StreamFacts | null {
  const sounds = streams.filter(({ kind, codec }) => kind === 'audio' && codec !== null);
  const rank = ({ frames, disposition }: StreamFacts) =>
    (frames === 0 ? 4 : 0) + (disposition.default ? 0 : 2) + (disposition.secondary ? 1 : 0);
  return lowest(sounds, rank);
}

/** Returns the first element with the lowest rank. */
function lowest<T>(among: readonly T[], rank: (element: T) => number): T | null {
  const least = Math.min(...among.map(rank));
  return among.find((element) => rank(element) === least) ?? null;
}

/** Frame rates above this are rarely those of a film, but the resolution of its timestamps. */
const MOST_FRAME_RATE = 60;

/**
 * Returns the rate that shows every frame of a stream whose frames may have different lengths; at most 60 per second
 * unless the average is higher.
 */
function fullRate({ averageRate, baseRate, fieldOrder }: StreamFacts): Fraction | null {
  const average = plausibleFrameRate(averageRate.num, averageRate.den);
  const base = baseRate.den > 0 && baseRate.num > 0 ? baseRate : null;
  if (base === null || average === null) return average ?? plausibleFrameRate(baseRate.num, baseRate.den);
  const [slow, fast] = [average.num / average.den, base.num / base.den];
  // The base rate of interlaced video counts fields.
  if (fieldOrder === 'interlaced' && fast < slow * 2.1) return average;
  if (fast <= slow) return average;
  if (fast <= MOST_FRAME_RATE) return base;
  return slow > MOST_FRAME_RATE ? average : { num: MOST_FRAME_RATE, den: 1 };
}

/** Codecs whose alpha channel is meant. Raw pixels often have a fourth byte without a meaning. */
const alphaCodecs: readonly string[] = [
  ...['prores', 'hevc', 'png', 'apng', 'qtrle', 'ffv1', 'utvideo', 'magicyuv', 'cfhd', 'hap', 'jpeg2000'],
];
const alphaFormat = /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ya8|ya16)/;

/** Decoders of alpha that is in a second picture, which FFmpeg's own ones ignore. */
const alphaDecoders: ReadonlyMap<string | null, VideoStream['decoder']> = new Map([
  ['vp8', 'libvpx'],
  ['vp9', 'libvpx-vp9'],
]);

/** Returns the part that a container crops, if it leaves a picture. */
function saneCrop({ crop, width, height }: StreamFacts): Crop | null {
  if (crop === null) return null;
  const { top, bottom, left, right } = crop;
  if (top + bottom + left + right === 0) return null;
  return width - left - right >= 2 && height - top - bottom >= 2 ? crop : null;
}

function videoStreamOf(stream: StreamFacts): VideoStream {
  const { num, den } = stream.pixelAspect;
  const crop = saneCrop(stream);
  const cut = {
    width: stream.width - (crop === null ? 0 : crop.left + crop.right),
    height: stream.height - (crop === null ? 0 : crop.top + crop.bottom),
  };
  const decoder = stream.alphaMode === '1' ? (alphaDecoders.get(stream.codec) ?? null) : null;
  return {
    index: stream.index,
    codec: stream.codec ?? '',
    ...shownSize(cut, num > 0 && den > 0 ? num / den : 1, stream.rotation),
    frameRate:
      plausibleFrameRate(stream.averageRate.num, stream.averageRate.den) ??
      plausibleFrameRate(stream.baseRate.num, stream.baseRate.den),
    fullRate: fullRate(stream),
    colour: stream.colour,
    codedSize: { width: stream.width, height: stream.height },
    interlaced: stream.fieldOrder === 'interlaced',
    // Other profiles have a base layer that any player shows.
    isIpt: stream.dolbyVision?.profile === 5 && stream.dolbyVision.compatibility === 0,
    hasAlpha:
      decoder !== null || (alphaCodecs.includes(stream.codec ?? '') && alphaFormat.test(stream.pixelFormat)),
    decoder,
    crop,
  };
}

function soundStreamOf({ index, codec }: StreamFacts): AudioStream {
  return { index, codec: codec ?? '' };
}

function subtitleStreamOf({
  index,
  kind,
  codec,
  language,
  title,
  disposition,
}: StreamFacts): SubtitleStream[] {
  if (kind !== 'subtitle' || codec === null) return [];
  const made = disposition.forced ? 'forced' : disposition.hearingImpaired ? 'sdh' : 'full';
  return [{ index, codec, language, title, kind: made }];
}

/** Hours, minutes, seconds and frames; `;` before the frames means drop-frame. */
const TIMECODE = /^\d\d:[0-5]\d:[0-5]\d[:;]\d\d$/;

/** Returns what of a file is shown and played. */
export function readStreams(streams: readonly StreamFacts[], durationSeconds: number | null): Probe {
  const film = chooseFilm(streams);
  const sound = chooseSound(streams);
  const cover = streams.find(isAttached);
  return {
    durationSeconds,
    video: film === null ? null : videoStreamOf(film),
    audio: sound === null ? null : soundStreamOf(sound),
    cover: cover === undefined ? null : { index: cover.index },
    subtitles: streams.flatMap(subtitleStreamOf),
    timecode: streams.map(({ timecode }) => timecode).find((timecode) => TIMECODE.test(timecode)) ?? null,
  };
}
