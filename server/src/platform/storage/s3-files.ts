import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

const MIB = 1024 * 1024;
/** Files up to this size are sent in one request, and larger ones in parts of at least this size. */
const PART_BYTES = 8 * MIB;
/** The protocol allows 10,000 parts. */
const MOST_PARTS = 9_000;
const PARTS_AT_ONCE = 3;

/** A local file to be sent, and where to. */
export interface Outgoing {
  path: string;
  bucket: string;
  /** The name in the bucket. */
  name: string;
  /** Fails with 412 when the object exists, if the service supports that. */
  onlyIfAbsent: boolean;
  signal: AbortSignal;
}

function partBytes(sizeBytes: number): number {
  return Math.max(PART_BYTES, Math.ceil(sizeBytes / MOST_PARTS / MIB) * MIB);
}

function md5(bytes: Buffer): Buffer {
  return createHash('md5').update(bytes).digest();
}

/**
 * Returns the ETag that a service without encryption of its own gives a file sent by `sendFile`: its MD5, or the MD5 of
 * those of its parts.
 */
export async function etagOf(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size <= PART_BYTES) return `"${md5(await readFile(path)).toString('hex')}"`;
  const digests: Buffer[] = [];
  const step = partBytes(size);
  for (let start = 0; start < size; start += step) {
    const digest = createHash('md5');
    const part = createReadStream(path, { start, end: start + step - 1, highWaterMark: MIB });
    for await (const chunk of part) digest.update(chunk);
    digests.push(digest.digest());
  }
  return `"${md5(Buffer.concat(digests)).toString('hex')}-${digests.length}"`;
}

/** Sends a file, a large one in parts, and returns the ETag. Parts are removed when sending fails. */
export async function sendFile(client: S3Client, file: Outgoing): Promise<string> {
  const { path, bucket: Bucket, name: Key, signal } = file;
  const { size } = await stat(path);
  const params = { Bucket, Key, ...(file.onlyIfAbsent ? { IfNoneMatch: '*' } : {}) };
  if (size <= PART_BYTES) {
    const Body = await readFile(path);
    const command = new PutObjectCommand({ ...params, Body, ContentMD5: md5(Body).toString('base64') });
    return (await client.send(command, { abortSignal: signal })).ETag ?? '';
  }
  const abortController = new AbortController();
  const stop = () => abortController.abort();
  signal.addEventListener('abort', stop, { once: true });
  const Body = createReadStream(path, { highWaterMark: MIB });
  try {
    const upload = new Upload({
      client,
      params: { ...params, Body },
      partSize: partBytes(size),
      queueSize: PARTS_AT_ONCE,
      abortController,
    });
    return (await upload.done()).ETag ?? '';
  } finally {
    signal.removeEventListener('abort', stop);
    Body.destroy();
  }
}
