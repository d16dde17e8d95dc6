import type { SubtitleTrack } from '@vitrine/contract/assets';
import type { MediaFacts } from '@vitrine/contract/media';
import type { RenditionType } from '@vitrine/contract/renditions';
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
  reason?: string;
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

/** The file seems valid but cannot be drawn. The message is one clause about the file. */
export class NotDrawable extends Error {}

/**
 * The file is damaged. The message is one clause about the file; the cause is the parser's error, if the fault is
 * unclear.
 */
export class BrokenFile extends Error {}

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
export async function asFileFault<T>(reason: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotDrawable || error instanceof BrokenFile || isFaultOfTheMachine(error))
      throw error;
    throw new BrokenFile(reason, { cause: error });
  }
}
