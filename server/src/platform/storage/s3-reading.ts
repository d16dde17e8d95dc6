import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { sentenceOfError } from '../faults/worded-errors.ts';
import { sentence, sentenceCount, WordedError } from '../language/sentence.ts';
import { StorageUnavailable } from './storage.ts';

/** How long a service may send nothing in the middle of an object. */
const SILENT_MS = 15_000;
/** The number of consecutive interruptions that a read tolerates. */
const ATTEMPTS = 4;
/** After this many bytes without an interruption, the count starts again. */
const PROGRESS_BYTES = 1024 * 1024;
const PAUSE_MS = 200;

/** Opens the object again at a position. */
export type OpenAt = (position: number) => Promise<Readable>;

async function nextWithin<T>(chunks: AsyncIterator<T>, ms: number): Promise<IteratorResult<T>> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new WordedError(sentence('the service sends nothing'))), ms);
  try {
    return await Promise.race([chunks.next(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Streams the bytes from `start` to `end`, both inclusive, of which `first` has the beginning. When the connection breaks
 * or ends early, it continues where it stopped; fails when that does not help.
 */
export function readSteadily(
  first: Readable,
  { start, end }: { start: number; end: number },
  openAt: OpenAt,
) {
  let source = first;
  async function* steady(): AsyncGenerator<Buffer> {
    let position = start;
    let failures = 0;
    let failedAt = start;
    while (position <= end) {
      try {
        const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
        while (position <= end) {
          const { done, value } = await nextWithin(chunks, SILENT_MS);
          if (done === true)
            throw new WordedError(
              sentenceCount(position, ['the service ended after # byte', 'the service ended after # bytes']),
            );
          const wanted = value.subarray(0, end + 1 - position);
          position += wanted.length;
          yield wanted;
        }
      } catch (error) {
        source.destroy();
        failures = position - failedAt >= PROGRESS_BYTES ? 1 : failures + 1;
        failedAt = position;
        if (failures >= ATTEMPTS)
          throw new StorageUnavailable(
            sentence('read an object: {reason}', { reason: sentenceOfError(error) }),
          );
        await sleep(PAUSE_MS * failures);
        source = await openAt(position);
      }
    }
  }
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      yield* steady();
    } finally {
      source.destroy();
    }
  }
  const stream = Readable.from(bytes(), { objectMode: false, highWaterMark: 64 * 1024 });
  // Also when the reader leaves while a chunk is awaited.
  stream.once('close', () => source.destroy());
  return stream;
}
