import type { Readable } from 'node:stream';
import { WordedError } from '../../platform/language/sentence.ts';

/** A backup or restore failed. The message is one line for the operator. */
export class BackupError extends WordedError {}

/**
 * Where backups are stored. Keys are relative paths with `/`. A write becomes visible as a whole or not at all, so a
 * backup is complete once its manifest, which is written last, exists.
 */
export interface BackupTarget {
  /** Its name in messages. */
  readonly place: string;
  /**
   * Stores the content, of about `sizeBytes` if that is known, replacing an earlier one. Durable after `sync`. Throws
   * BackupError when the disk is full.
   */
  write(key: string, content: AsyncIterable<Uint8Array>, sizeBytes?: number): Promise<void>;
  /** Opens the content. Throws BackupError if it does not exist. */
  read(key: string): Promise<Readable>;
  /** Returns the number of bytes, or null if the content does not exist. */
  size(key: string): Promise<number | null>;
  /** Lists the keys that begin with this directory, which ends with `/`, in no particular order. */
  list(directory: string): AsyncIterable<string>;
  remove(key: string): Promise<void>;
  /** Makes everything written so far survive a power failure. Throws BackupError when the lock was lost meanwhile. */
  sync(): Promise<void>;
  /** Locks the target against other writers until released, and removes partial files of killed processes. */
  lock(): Promise<{ release(): void | Promise<void> }>;
}
