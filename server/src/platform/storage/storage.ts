import type { Readable } from 'node:stream';
import type { FileOperations } from '../files/operations.ts';
import { type Sentence, sentence, sentenceCount, WordedError } from '../language/sentence.ts';
import type { Buffers } from './buffers.ts';

/** A byte range of an object, both ends inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredObject {
  key: string;
  sizeBytes: number;
  /** Milliseconds since 1970. */
  modifiedAt: number;
}

/** The headers of a response that another service sends. */
export interface DownloadHeaders {
  type: string;
  disposition: string;
}

/** A complete local file, and the key that it gets. */
export interface ToAdopt {
  path: string;
  key: string;
}

/**
 * Bytes by key. Keys come from object-key.ts, never from a client. An object is complete or absent: `adopt` makes it
 * visible atomically. Disks may still lose bytes, so every read states the expected size.
 */
export interface Storage {
  /** A local directory for incoming files, on the volume of the objects if those are local. */
  incomingDir: string;
  /** A local directory for uploads, which may take days. */
  uploadsDir: string;
  /** How files in these directories are changed. */
  operations: FileOperations;
  /**
   * Performs the slow part of a later `adopt` of the same file, outside the transaction and the lock that `adopt`
   * needs. Optional: `adopt` performs the steps that are missing. The file stays where it is.
   */
  stage(path: string, key: string): Promise<void>;
  /**
   * Moves a complete local file to `key`, atomically and durably. Replaces an existing object, which may have been
   * damaged since it was written. Open reads continue with the old object.
   */
  adopt(path: string, key: string): Promise<void>;
  /** Does what `adopt` does for several files. A disk syncs them together, and each directory once. */
  adoptAll(files: readonly ToAdopt[]): Promise<void>;
  /**
   * Reads an object or a range of it. Rejects with NoSuchObject, or with DamagedObject when the object does not have
   * `sizeBytes` bytes; the stream fails with DamagedObject when it cannot deliver all of them. Chunks from a disk are read into `buffers`.
   */
  get(key: string, sizeBytes: number, range?: ByteRange, buffers?: Buffers): Promise<Readable>;
  /**
   * Returns an address at which anyone can read the object for some minutes, as a download of this type and disposition,
   * or null when only this service sends it. Rejects as `get`, but may resolve with null for an object that is missing.
   */
  addressOf(key: string, sizeBytes: number, headers: DownloadHeaders): Promise<string | null>;
  /** Size and age; null when there is none. */
  head(key: string): Promise<StoredObject | null>;
  /**
   * Calls `use` with a local path of the object, for programs that read files. The path is valid, and must not be
   * written to, until `use` settles. Without an object, either this or the first read of the path fails.
   */
  withLocalFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T>;
  /** Rejects when objects cannot be stored or read at all. */
  checkReady(): Promise<void>;
  /** Free space of the volume, and how much of it is reserved. */
  room(): Promise<{ freeBytes: number; reserveBytes: number }>;
  delete(key: string): Promise<void>;
  /** Lists every object below `prefix`, a folder of keys. Takes long in a bucket: not for requests. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Removes what transfers left behind that began before `olderThan` and never finished. Returns how many. */
  removeUnfinished(olderThan: number): Promise<number>;
}

/** The object does not exist, or is in a bucket that is no longer configured. */
export class NoSuchObject extends WordedError {
  readonly key: string;
  readonly code: 'file-missing' | 'bucket-not-configured';
  constructor(key: string, code: NoSuchObject['code'] = 'file-missing') {
    super(sentence('no object {key}', { key }));
    this.key = key;
    this.code = code;
  }
}

/** Objects cannot currently be stored or read, for a reason outside Vitrine. The message contains no secret. */
export class StorageUnavailable extends WordedError {}

/** Returns the reason that an object of the wrong size is damaged. */
export const wrongSize = (found: number, sizeBytes: number): Sentence =>
  sentenceCount(sizeBytes, ['has {found} of # byte', 'has {found} of # bytes'], { found });

/** The object exists, but not all of its bytes can be read. */
export class DamagedObject extends WordedError {
  readonly code = 'file-damaged';
  constructor(key: string, reason: Sentence, options?: ErrorOptions) {
    super(sentence('object {key} is damaged: {reason}', { key, reason }), options);
  }
}
