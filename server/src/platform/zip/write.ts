import { crc32 } from 'node:zlib';
import type { ByteRange } from '../storage/storage.ts';
import { descriptor, directoryEntry, endOfArchive, localHeader, type ZipFile } from './records.ts';

/** A file to write: where its bytes come from. */
export interface ZipSource extends ZipFile {
  /** The CRC-32 of its bytes, if known: then only what is asked for is read. */
  readonly crc: number | null;
  /** Opens the bytes, or a range of them. */
  open(range?: ByteRange): Promise<AsyncIterable<Buffer>>;
  /** Is called with the CRC of a file that was read entirely. */
  read?(crc: number): void;
}

/** Yields the part of a chunk at `at` of the archive that is in the range. */
function* within(chunk: Buffer, at: number, { start, end }: ByteRange): Generator<Buffer> {
  const from = Math.max(start - at, 0);
  const to = Math.min(end + 1 - at, chunk.length);
  if (from < to) yield chunk.subarray(from, to);
}

/** Yields the bytes of a file, which begin at `at`, that are in the range, and returns its CRC. */
async function* writeBytes(file: ZipSource, at: number, range: ByteRange): AsyncGenerator<Buffer, number> {
  const from = Math.max(range.start - at, 0);
  const to = Math.min(range.end - at, file.sizeBytes - 1);
  if (file.crc !== null) {
    if (from > to) return file.crc;
    const part = from > 0 || to < file.sizeBytes - 1 ? { start: from, end: to } : undefined;
    yield* await file.open(part);
    return file.crc;
  }
  let crc = 0;
  let place = at;
  for await (const chunk of await file.open()) {
    crc = crc32(chunk, crc);
    yield* within(chunk, place, range);
    place += chunk.length;
  }
  if (place - at !== file.sizeBytes) throw new Error('a file of an archive has another size than stated');
  file.read?.(crc);
  return crc;
}

/**
 * Yields the bytes of an archive, or a range of them, file by file: each is opened when the previous one was sent. Keeps
 * only the directory in memory.
 */
export async function* writeZip(
  files: AsyncIterable<ZipSource>,
  range: ByteRange = { start: 0, end: Number.MAX_SAFE_INTEGER },
): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let at = 0;
  for await (const file of files) {
    const header = localHeader(file);
    const offset = at;
    yield* within(header, at, range);
    at += header.length;
    const crc = yield* writeBytes(file, at, range);
    at += file.sizeBytes;
    const after = descriptor(file, crc);
    yield* within(after, at, range);
    at += after.length;
    if (at > range.end) return;
    directory.push(directoryEntry(file, crc, offset));
  }
  const begin = at;
  for (const entry of directory) {
    yield* within(entry, at, range);
    at += entry.length;
  }
  const end = endOfArchive({ entries: directory.length, offset: begin, sizeBytes: at - begin });
  yield* within(end, at, range);
}
