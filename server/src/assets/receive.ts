import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type MediaKind, sniff } from '../media/sniff.ts';

/** A file that has arrived whole, still outside the library. */
export interface Received {
  path: string;
  /** SHA-256 in hex. */
  hash: string;
  sizeBytes: number;
  mime: string;
  extension: string | null;
  kind: MediaKind;
}

/** Streams bytes to a file of the incoming directory, hashing them on the way; a broken stream leaves no file. */
export async function receive(stream: Readable, incomingDir: string): Promise<Received> {
  const path = join(incomingDir, randomUUID());
  const digest = createHash('sha256');
  let sizeBytes = 0;
  try {
    await pipeline(
      stream,
      async function* measured(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          digest.update(chunk);
          sizeBytes += chunk.length;
          yield chunk;
        }
      },
      createWriteStream(path, { flags: 'wx', mode: 0o640 }),
    );
    return { path, hash: digest.digest('hex'), sizeBytes, ...(await sniff(path)) };
  } catch (error) {
    await discard(path);
    throw error;
  }
}

/** Removes a received file that is not wanted after all. */
export async function discard(path: string): Promise<void> {
  await rm(path, { force: true });
}
