import type { MediaFacts } from '@vitrine/contract/media';
import { isFaultOfTheMachine } from '../faults.ts';
import type { Shape } from '../ladder.ts';

/** A rendition that a maker has written. */
export interface MadeFile {
  /** The last part of its address, such as `page-1`, `sprites.jpg` or `hls/master.m3u8`. */
  key: string;
  path: string;
  contentType: string;
  sizeBytes: number;
  width?: number;
  height?: number;
}

/** A file to be drawn. */
export interface SourceFile {
  path: string;
  mime: string;
  /** The moment of a video that is drawn, if somebody chose one. */
  posterSeconds?: number;
}

/** What a maker makes of a file. */
export interface Still {
  /** A picture for the ladder, of a type that libvips opens; null when nothing of the file can be drawn. */
  picture: { path: string; mime: string } | null;
  /** Why there is no picture: one clause about the file. */
  reason?: string;
  /** Pixels of the original, if the picture has fewer. */
  shape?: Shape;
  /** Renditions besides the ladder. */
  extras?: readonly MadeFile[];
  facts?: MediaFacts;
  /** Plain text of the file, for search. */
  text?: string;
}

/**
 * Makes a still of a file in `outDir`, which the caller removes. Runs in a decoder process. Throws NotDrawable or
 * BrokenFile for faults of the file, and anything else for faults of the machine, which may pass.
 */
export type StillMaker = (file: SourceFile, outDir: string) => Promise<Still>;

/** The file is sound as far as we know, but we cannot draw it. The message is one clause about the file. */
export class NotDrawable extends Error {}

/** The file is damaged. The message is one clause about the file; the cause is what a parser tripped over, if that is not clear. */
export class BrokenFile extends Error {}

/** What is made of a file, or null when the file is damaged. */
export async function unlessBroken<T>(made: Promise<T>): Promise<T | null> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof BrokenFile) return null;
    throw error;
  }
}

/**
 * Runs what reads an untrusted file. Parsers throw all kinds of errors for a damaged file: any error except those of the
 * machine and those above becomes a BrokenFile with this reason.
 */
export async function blamingFile<T>(reason: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotDrawable || error instanceof BrokenFile || isFaultOfTheMachine(error))
      throw error;
    throw new BrokenFile(reason, { cause: error });
  }
}
