import type { SubtitleTrack } from '@vitrine/contract/assets';
import type { MediaFacts } from '@vitrine/contract/media';
import type { RenditionType } from '@vitrine/contract/renditions';
import { type Sentence, SentenceError, sentence } from '../platform/language/sentence.ts';
import { isFaultOfTheMachine } from './faults.ts';
import type { Shape } from './ladder.ts';

/** A track found inside a film, as WebVTT. */
export interface EmbeddedSubtitles {
  /** A canonical BCP 47 tag, different for each track of a file. */
  lang: string;
  label: string;
  format: SubtitleTrack['source_format'];
  path: string;
}

/** A rendition written by a maker. */
export interface MadeFile {
  /** The last part of its address, such as `page-1`, `sprites.jpg` or `hls/master.m3u8`. */
  key: string;
  path: string;
  contentType: string;
  sizeBytes: number;
  width?: number;
  height?: number;
}

/** A registered rendition: its key and type belong together. Pictures of the ladder have keys that operators choose. */
export type MadeRendition = MadeFile & RenditionType;

/** A file to draw. */
export interface SourceFile {
  path: string;
  mime: string;
  /** The moment of a video to draw, if a user chose one. */
  posterSeconds?: number;
}

/** The output of a maker. */
export interface Still {
  /** A picture for the ladder, of a type that libvips opens; null if nothing of the file can be drawn. */
  picture: { path: string; mime: string } | null;
  /** The reason why there is no picture: one clause about the file. */
  reason?: Sentence;
  /** Size of the original in pixels, if the picture is smaller. */
  shape?: Shape;
  /** Renditions besides the ladder. */
  extras?: readonly MadeRendition[];
  facts?: MediaFacts;
  /** Plain text of the file, for search. */
  text?: string;
  /** Subtitles inside a film. */
  subtitles?: readonly EmbeddedSubtitles[];
}

/**
 * Makes a still of a file in `outDir`, which the caller removes. Runs in a decoder process. Throws NotDrawable or
 * BrokenFile for faults of the file, and other errors for faults of the machine, which are retryable. Makers that take
 * long pass their progress from 0 to 1 to `report`.
 */
export type StillMaker = (
  file: SourceFile,
  outDir: string,
  report?: (part: number) => void,
) => Promise<Still>;

/** What is wrong with a file, as one clause about it. */
export class FileFault extends SentenceError {}

/** The file seems valid but cannot be drawn. */
export class NotDrawable extends FileFault {}

/** The file is damaged. The cause is the parser's error, if the fault is unclear. */
export class BrokenFile extends FileFault {}

/** Returns the error of a damaged header. Here and below, the detail is technical and the same in every language. */
export const damagedHeader = (detail: string): BrokenFile =>
  new BrokenFile(sentence('its header is damaged ({detail})', { detail }));

/** Returns the error of damaged pixels. */
export const damagedPixels = (detail: string): BrokenFile =>
  new BrokenFile(sentence('its pixels are damaged ({detail})', { detail }));

/** Returns the error of pixels in a format that no decoder reads. */
export const unreadablePixels = (detail: string): NotDrawable =>
  new NotDrawable(sentence('its pixels are stored in a way that cannot be read ({detail})', { detail }));

/** Returns the error of a file with too many bytes. */
export const tooLarge = (bytes: number): NotDrawable =>
  new NotDrawable(sentence('a file of {bytes} bytes is more than is rendered', { bytes }));

/** Returns the error of a picture or a film with too many pixels. */
export const tooManyPixels = ({ width, height }: { width: number; height: number }): NotDrawable =>
  new NotDrawable(sentence('{width} x {height} pixels are more than are rendered', { width, height }));

/** Returns why a file cannot be decoded, and quotes what the library or program said, if anything. */
export const undecodable = (detail: string): Sentence =>
  detail === ''
    ? sentence('it cannot be decoded')
    : sentence('it cannot be decoded (“{detail}”)', { detail });

/** Resolves to the result of `made`, or to null if it rejects with BrokenFile. */
export async function nullIfBroken<T>(made: Promise<T>): Promise<T | null> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof BrokenFile) return null;
    throw error;
  }
}

/**
 * Runs code that reads an untrusted file. Parsers throw all kinds of errors for a damaged file, so any error except
 * those above and faults of the machine becomes a BrokenFile with this reason.
 */
export async function asFileFault<T>(reason: Sentence, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FileFault || isFaultOfTheMachine(error)) throw error;
    throw new BrokenFile(reason, { cause: error });
  }
}
