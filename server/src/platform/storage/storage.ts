import type { Readable } from 'node:stream';

/** A piece of an object, in bytes, both ends included. */
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

/**
 * Bytes by key. Keys are made by us (see object-key.ts), never by a client.
 * An object is whole or absent: `adopt` makes it visible in one step.
 */
export interface Storage {
  /** A directory on this machine, on the same volume where possible, for files on their way in. */
  incomingDir: string;
  /** Moves a finished local file in under `key`; when the key is there already, the file is dropped. */
  adopt(path: string, key: string): Promise<void>;
  /** The bytes of an object or a range of it; rejects with NoSuchObject. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** Size and age, or null when there is none. */
  head(key: string): Promise<StoredObject | null>;
  /** A path to read the object from on this machine. */
  localPath(key: string): Promise<string>;
  delete(key: string): Promise<void>;
  /** Every object whose key begins with `prefix`. */
  list(prefix: string): AsyncIterable<StoredObject>;
}

export class NoSuchObject extends Error {
  constructor(key: string) {
    super(`no object ${key}`);
  }
}
