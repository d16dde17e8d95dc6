import { createHash, hash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, writeFileSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type MediaKind, sniff } from '../../media/sniff.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { requireRoom } from '../../platform/storage/room.ts';
import type { Storage } from '../../platform/storage/storage.ts';

/** A completely received file, still outside the library. */
export interface Received {
  path: string;
  /** SHA-256 in hex. */
  hash: string;
  sizeBytes: number;
  mime: string;
  extension: string | null;
  kind: MediaKind;
}

/** How many bytes are written between two checks of the free space. */
const ROOM_CHECKED_EVERY = 16 * 1024 * 1024;

/**
 * Streams bytes to a file in the incoming directory and hashes them. Rejects with NoRoom when they would use the
 * reserve, and with a 413 when there are more than `maxBytes`. Leaves no file after a broken stream or on a full disk.
 */
export async function receive(
  stream: Readable,
  storage: Pick<Storage, 'incomingDir' | 'room'>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Received> {
  const path = join(storage.incomingDir, randomUUID());
  const digest = createHash('sha256');
  let sizeBytes = 0;
  let checkedAt = 0;
  try {
    await pipeline(
      stream,
      async function* measured(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          digest.update(chunk);
          sizeBytes += chunk.length;
          if (sizeBytes > maxBytes) throw refuse('received-too-large', { max: maxBytes });
          if (sizeBytes - checkedAt >= ROOM_CHECKED_EVERY) {
            checkedAt = sizeBytes;
            await requireRoom(storage, 0);
          }
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

/** Local files up to this size are read at once, which takes half the processor time of streaming them. */
export const WHOLE_BYTES = 1024 * 1024;

/**
 * Receives a few bytes, as `receive` does. Writes synchronously, so only commands may call it: passing a small file to a thread
 * takes longer than writing it.
 */
export async function receiveBytes(
  bytes: Buffer,
  { incomingDir }: Pick<Storage, 'incomingDir'>,
): Promise<Received> {
  const path = join(incomingDir, randomUUID());
  try {
    writeFileSync(path, bytes, { flag: 'wx', mode: 0o640 });
    return { path, hash: hash('sha256', bytes), sizeBytes: bytes.length, ...(await sniff(path, bytes)) };
  } catch (error) {
    await discard(path);
    throw error;
  }
}

/** Receives a copy of a local file, as `receive` does. */
export async function receiveFile(
  from: string,
  storage: Pick<Storage, 'incomingDir' | 'room'>,
): Promise<Received> {
  if ((await stat(from)).size > WHOLE_BYTES) return receive(createReadStream(from), storage);
  return receiveBytes(await readFile(from), storage);
}

/** Deletes a received file that is not needed. */
export async function discard(path: string): Promise<void> {
  await rm(path, { force: true });
}

/**
 * Control characters, and those that change the direction of the text after them, with which the name of a program
 * looks like that of a picture.
 */
const hiddenControls = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns the client's file name without folders. It is never used as a name on disk. Browsers encode a quotation
 * mark in a form as `%22`.
 */
export function baseName(name: string): string {
  const last = name.replaceAll('%22', '"').split(/[/\\]/).at(-1) ?? '';
  const clean = last.replace(hiddenControls, '').toWellFormed().trim();
  return Array.from(clean === '' || clean === '.' || clean === '..' ? 'file' : clean)
    .slice(-255)
    .join('');
}
