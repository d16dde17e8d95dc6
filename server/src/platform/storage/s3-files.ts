import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
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
    return sendWhole(client, { ...params, Body: await readFile(path) }, signal);
  }
  const Body = createReadStream(path, { highWaterMark: MIB });
  return sendParts(
    client,
    { ...params, Body },
    { partSize: partBytes(size), queueSize: PARTS_AT_ONCE },
    signal,
  );
}

/**
 * Sends content, a large one in parts, which are removed when sending fails. `sizeBytes` is about its size, if that is
 * known; otherwise it can have up to 80 GB.
 */
export async function sendStream(
  client: S3Client,
  {
    content,
    sizeBytes,
    bucket: Bucket,
    name: Key,
    signal,
  }: Omit<Outgoing, 'path' | 'onlyIfAbsent'> & {
    content: AsyncIterable<Uint8Array>;
    sizeBytes: number | null;
  },
): Promise<void> {
  const chunks = content[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= PART_BYTES) {
    const { done, value } = await chunks.next();
    if (done === true) {
      await sendWhole(client, { Bucket, Key, Body: Buffer.concat(first) }, signal);
      return;
    }
    first.push(value);
    bytes += value.length;
  }
  const all = async function* () {
    yield* first.splice(0);
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  const Body = Readable.from(all(), { objectMode: false });
  await sendParts(
    client,
    { Bucket, Key, Body },
    { partSize: partBytes(sizeBytes ?? 0), queueSize: 1 },
    signal,
  );
}

async function sendWhole(
  client: S3Client,
  params: { Bucket: string; Key: string; Body: Buffer; IfNoneMatch?: string },
  signal: AbortSignal,
): Promise<string> {
  const command = new PutObjectCommand({ ...params, ContentMD5: md5(params.Body).toString('base64') });
  return (await client.send(command, { abortSignal: signal })).ETag ?? '';
}

async function sendParts(
  client: S3Client,
  params: { Bucket: string; Key: string; Body: Readable; IfNoneMatch?: string },
  parts: { partSize: number; queueSize: number },
  signal: AbortSignal,
): Promise<string> {
  const abortController = new AbortController();
  const stop = () => abortController.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const upload = new Upload({ client, params, ...parts, abortController });
    return (await upload.done()).ETag ?? '';
  } finally {
    signal.removeEventListener('abort', stop);
    params.Body.destroy();
  }
}
