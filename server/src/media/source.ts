import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { sentence } from '../platform/language/sentence.ts';
import { isFaultOfTheMachine, withoutPaths } from './faults.ts';
import { BrokenFile, FileFault, tooLarge, tooManyPixels, undecodable } from './still.ts';

/** Maximum number of pixels that a maker decodes; libvips' own limit (16,383 squared). */
const MAX_PIXELS = 268_402_689;

/** A file that a maker reads by offset. Reads are synchronous, because a decoder process has nothing else to do. */
export interface Source {
  size: number;
  /** Returns exactly `length` bytes at `at`. Throws BrokenFile if the file is shorter. */
  read(at: number, length: number): Buffer;
  /** Returns at most `length` bytes at `at`; fewer at the end of the file. */
  readUpTo(at: number, length: number): Buffer;
}

/**
 * Opens a file for `use` and closes it afterwards. Errors of `use` become faults of the file, as in `fromLibrary`.
 */
export async function withSource<T>(path: string, use: (source: Source) => T | Promise<T>): Promise<T> {
  const fd = openSync(path, 'r');
  const { size } = fstatSync(fd);
  const readUpTo = (at: number, length: number) => {
    const room = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - at)));
    let filled = 0;
    while (filled < room.length) {
      const read = readSync(fd, room, filled, room.length - filled, at + filled);
      if (read === 0) break;
      filled += read;
    }
    return room.subarray(0, filled);
  };
  const read = (at: number, length: number) => {
    const bytes = at >= 0 && length >= 0 && at + length <= size ? readUpTo(at, length) : null;
    if (bytes?.length !== length) throw new BrokenFile(sentence('it ends too early'));
    return bytes;
  };
  try {
    return await fromLibrary(() => use({ size, read, readUpTo }));
  } finally {
    closeSync(fd);
  }
}

/**
 * Checks the dimensions that a header declares against the limit, before anything is allocated. Throws BrokenFile or
 * NotDrawable.
 */
export function checkShape(width: number, height: number, maxPixels = MAX_PIXELS): void {
  if (!(width > 0 && height > 0)) throw new BrokenFile(sentence('it has no pixels'));
  if (width * height > maxPixels) {
    throw tooManyPixels({ width, height });
  }
}

/** Reads a whole file into memory. Throws NotDrawable if it has more than `limit` bytes. */
export function readAll(source: Source, limit: number): Buffer {
  if (source.size > limit) throw tooLarge(source.size);
  return source.read(0, source.size);
}

/**
 * Runs a library on untrusted bytes. Any error becomes a BrokenFile unless the machine is at fault, because libraries
 * throw RangeError, TypeError or strings for malformed bytes.
 */
export async function fromLibrary<T>(decode: () => T | Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch (error) {
    if (error instanceof FileFault) throw error;
    // WebAssembly throws numbers.
    const message = error instanceof Error ? error.message : '';
    if (isFaultOfTheMachine(error)) throw error;
    if (/out of memory|allocat|array buffer|invalid typed array length/i.test(message)) {
      // The parent process reports this message as the memory limit.
      throw new Error('out of memory', { cause: error });
    }
    const reason = withoutPaths(message.split('\n')[0] ?? '').slice(0, 200);
    throw new BrokenFile(undecodable(reason), { cause: error });
  }
}
