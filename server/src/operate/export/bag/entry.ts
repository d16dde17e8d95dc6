import type { Readable } from 'node:stream';
import type { Sentence } from '../../../platform/language/sentence.ts';

/** What a file of an export contains. */
export type EntryContent =
  | { kind: 'text'; text: string }
  /** A stored file, whose hash is known before it is read. */
  | { kind: 'file'; sha256: string; bytes: number; open(): Promise<Readable> }
  /** A long text, made as it is written. */
  | { kind: 'stream'; open(): AsyncIterable<string> };

/**
 * A file of an export. Keys are unique, and entries come in the order of their keys, so that two runs are compared in
 * constant memory.
 */
export interface Entry {
  key: string;
  /** Its path below the export, with `/`. No other key has it in any run. */
  path: string;
  content: EntryContent;
}

/** A file that an export has. */
export interface WrittenFile {
  key: string;
  path: string;
  /** In hex; empty for a file that was begun. */
  sha256: string;
  bytes: number;
  /** Milliseconds since 1970, which tell whether somebody has changed the file since. */
  modified: number;
}

/** A stored file that an export could not read. */
export interface LostFile {
  path: string;
  reason: Sentence;
}
