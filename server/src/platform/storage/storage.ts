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
 * An object is whole or absent: `adopt` makes it visible in one step. Disks lose bytes all the same, so every read says
 * how many bytes it expects.
 */
export interface Storage {
  /** A directory on this machine, on the same volume where possible, for files on their way in. */
  incomingDir: string;
  /** Another one, for uploads that may take days. */
  uploadsDir: string;
  /**
   * Moves a finished local file in under `key`, atomically and durably. Replaces an object that is already there: the
   * new file was just written, whereas the old one may have been damaged since. Open reads go on with the old object.
   */
  adopt(path: string, key: string): Promise<void>;
  /**
   * The bytes of an object or a range of it. Rejects with NoSuchObject, or with DamagedObject when the object does not
   * have `sizeBytes` bytes; the stream fails with DamagedObject when it cannot deliver all of them.
   */
  get(key: string, sizeBytes: number, range?: ByteRange): Promise<Readable>;
  /** Size and age, or null when there is none. */
  head(key: string): Promise<StoredObject | null>;
  /** A path to read the object from on this machine. */
  localPath(key: string): Promise<string>;
  /** What the volume has left for us, and how much of that is not for files. */
  room(): Promise<{ freeBytes: number; reserveBytes: number }>;
  delete(key: string): Promise<void>;
  /** Every object whose key begins with `prefix`. */
  list(prefix: string): AsyncIterable<StoredObject>;
}

export class NoSuchObject extends Error {
  readonly key: string;
  constructor(key: string) {
    super(`no object ${key}`);
    this.key = key;
  }
}

/** The object is there, but not all of its bytes can be read. */
export class DamagedObject extends Error {
  constructor(key: string, reason: string, options?: ErrorOptions) {
    super(`object ${key} is damaged: ${reason}`, options);
  }
}
