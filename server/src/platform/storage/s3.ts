import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { requireRoom } from './room.ts';
import { etagOf, sendFile } from './s3-files.ts';
import { readSteadily } from './s3-reading.ts';
import { retryStrategy } from './s3-retries.ts';
import type { S3Settings } from './s3-settings.ts';
import {
  DamagedObject,
  NoSuchObject,
  type Storage,
  StorageUnavailable,
  type StoredObject,
} from './storage.ts';

const CONNECT_MS = 3_000;
/** How long a request without a body may take, attempts included. */
const ANSWER_MS = 20_000;
const READY_MS = 3_000;
/** How long a service may be silent while a file is sent. */
const SILENT_MS = 30_000;
/** How long sending one file may take. */
const SENDING_MS = 6 * 3600 * 1000;
/** Readers that wait for slow clients keep a connection each. */
const MOST_CONNECTIONS = 1_000;
/** Staged files that are remembered. */
const MOST_STAGED = 1_000;
/** The nightly sweep removes incoming files that have not changed for a day. */
const LEASE_TOUCHED_MS = 3600 * 1000;

interface Found extends StoredObject {
  etag: string;
}

interface Lease {
  path: Promise<string>;
  users: number;
}

/** The local part of the storage: files that arrive, and those lent to programs. */
type Local = Pick<Storage, 'incomingDir' | 'uploadsDir' | 'room' | 'checkReady'>;

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const { $metadata } = error;
  const status =
    typeof $metadata === 'object' && $metadata !== null && 'httpStatusCode' in $metadata
      ? $metadata.httpStatusCode
      : null;
  return typeof status === 'number' ? status : null;
}

/** Describes a failure without its request, whose headers contain the signature. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const status = statusOf(error);
  return status === null ? code : `${code} (${status})`;
}

function unavailable(what: string, error: unknown): StorageUnavailable {
  return error instanceof StorageUnavailable ? error : new StorageUnavailable(`${what}: ${describe(error)}`);
}

function openClient({
  endpoint,
  region,
  forcePathStyle,
  accessKeyId,
  secretAccessKey,
}: S3Settings): S3Client {
  const agent = { keepAlive: true, maxSockets: MOST_CONNECTIONS };
  return new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint }),
    forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    // Many services do not know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    retryStrategy,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: SILENT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/**
 * Storage in a bucket. Files arrive in the directories of `local` and are sent from there. Every failure of the service,
 * after some attempts, is StorageUnavailable. Objects are visible when they are complete. Sending a file takes at most
 * `sendingMs`.
 */
export function openS3Storage(settings: S3Settings, local: Local, { sendingMs = SENDING_MS } = {}): Storage {
  const client = openClient(settings);
  const { bucket: Bucket, prefix } = settings;
  const nameOf = (key: string) => `${prefix}${key}`;
  /** By path: what was sent for a later `adopt`. */
  const staged = new Map<string, { key: string; etag: string }>();
  const leases = new Map<string, Lease>();
  let knowsConditions = true;

  /** Limits the time until the response begins, not that of its body. */
  const within = async <T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> => {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), ANSWER_MS);
    try {
      return await send({ abortSignal: stop.signal });
    } finally {
      clearTimeout(timer);
    }
  };

  const find = async (key: string): Promise<Found | null> => {
    try {
      const head = await within((limit) =>
        client.send(new HeadObjectCommand({ Bucket, Key: nameOf(key) }), limit),
      );
      const { ContentLength = 0, LastModified, ETag = '' } = head;
      return { key, sizeBytes: ContentLength, modifiedAt: LastModified?.getTime() ?? 0, etag: ETag };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw unavailable(`look for ${key}`, error);
    }
  };

  /** Opens the bytes from `start`, of the object with this ETag if one is given. */
  const open = async (key: string, start: number, end: number | null, etag?: string) => {
    const Range = start === 0 && end === null ? undefined : `bytes=${start}-${end ?? ''}`;
    try {
      const command = new GetObjectCommand({
        Bucket,
        Key: nameOf(key),
        ...(Range === undefined ? {} : { Range }),
        ...(etag === undefined ? {} : { IfMatch: etag }),
      });
      const {
        Body,
        ContentLength = 0,
        ContentRange,
        ETag,
      } = await within((limit) => client.send(command, limit));
      if (!(Body instanceof Readable)) throw new Error('the response has no body');
      const total = ContentRange === undefined ? ContentLength : Number(ContentRange.split('/')[1]);
      return { body: Body, total, etag: ETag };
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) throw new NoSuchObject(key);
      if (status === 416) throw new DamagedObject(key, 'it is too short');
      if (status === 412) throw new DamagedObject(key, 'it was replaced while it was read');
      throw unavailable(`read ${key}`, error);
    }
  };

  const read = async (
    key: string,
    range: { start: number; end: number } | null,
    sizeBytes: number | null,
  ) => {
    const { body, total, etag } = await open(key, range?.start ?? 0, range?.end ?? null);
    // Without a listener, an aborted body would end the process.
    body.on('error', () => {});
    if (sizeBytes !== null && total !== sizeBytes) {
      body.destroy();
      throw new DamagedObject(key, `it has ${total} of ${sizeBytes} bytes`);
    }
    const { start, end } = range ?? { start: 0, end: total - 1 };
    const stream = readSteadily(body, { start, end }, async (position) => {
      const again = await open(key, position, end, etag);
      again.body.on('error', () => {});
      return again.body;
    });
    return { stream, total };
  };

  /** Sends a file unless the bucket has it, and returns the ETag of the object. */
  const sendUnlessThere = async (path: string, key: string): Promise<string> => {
    for (const onlyIfAbsent of [true, false]) {
      const found = await find(key);
      if (found !== null && found.etag === (await etagOf(path))) return found.etag;
      const signal = AbortSignal.timeout(sendingMs);
      const isConditional = onlyIfAbsent && found === null && knowsConditions;
      try {
        const name = nameOf(key);
        return await sendFile(client, { path, bucket: Bucket, name, onlyIfAbsent: isConditional, signal });
      } catch (error) {
        const status = statusOf(error);
        if (isConditional && status === 501) knowsConditions = false;
        // 412 and 409: another process has just sent it.
        else if (!isConditional || (status !== 412 && status !== 409))
          throw unavailable(`store ${key}`, error);
      }
    }
    throw new StorageUnavailable(`store ${key}: it changes all the time`);
  };

  const stage = async (path: string, key: string): Promise<void> => {
    const etag = await sendUnlessThere(path, key);
    staged.set(path, { key, etag });
    const [oldest] = staged.keys();
    if (staged.size > MOST_STAGED && oldest !== undefined) staged.delete(oldest);
  };

  const fetchFile = async (key: string): Promise<string> => {
    const path = join(local.incomingDir, `lent-${randomUUID()}`);
    const { stream, total } = await read(key, null, null);
    try {
      await requireRoom(local, total);
      await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o640 }));
      return path;
    } catch (error) {
      stream.destroy();
      await rm(path, { force: true });
      throw error;
    }
  };

  return {
    incomingDir: local.incomingDir,
    uploadsDir: local.uploadsDir,
    room: () => local.room(),
    stage,
    async adopt(path, key) {
      const known = staged.get(path);
      // It may have been removed or replaced since it was staged.
      if (known?.key !== key || (await find(key))?.etag !== known.etag) await stage(path, key);
      staged.delete(path);
      await rm(path);
    },
    async get(key, sizeBytes, range) {
      return (await read(key, range ?? null, sizeBytes)).stream;
    },
    async head(key) {
      const found = await find(key);
      return found === null ? null : { key, sizeBytes: found.sizeBytes, modifiedAt: found.modifiedAt };
    },
    async withLocalFile(key, use) {
      const lease = leases.get(key) ?? { path: fetchFile(key), users: 0 };
      leases.set(key, lease);
      lease.users += 1;
      const touch = async () => {
        const now = new Date();
        await lease.path.then((path) => utimes(path, now, now)).catch(() => {});
      };
      const timer = setInterval(touch, LEASE_TOUCHED_MS);
      try {
        return await use(await lease.path);
      } finally {
        clearInterval(timer);
        lease.users -= 1;
        if (lease.users === 0) {
          leases.delete(key);
          await lease.path.then((path) => rm(path, { force: true })).catch(() => {});
        }
      }
    },
    async checkReady() {
      await local.checkReady();
      try {
        await client.send(new HeadBucketCommand({ Bucket }), { abortSignal: AbortSignal.timeout(READY_MS) });
      } catch (error) {
        throw unavailable(`reach the bucket ${Bucket}`, error);
      }
    },
    async delete(key) {
      try {
        await within((limit) => client.send(new DeleteObjectCommand({ Bucket, Key: nameOf(key) }), limit));
      } catch (error) {
        if (statusOf(error) !== 404) throw unavailable(`delete ${key}`, error);
      }
    },
    async *list(below) {
      const pages = paginateListObjectsV2(
        { client },
        { Bucket, Prefix: nameOf(below === '' ? '' : `${below}/`) },
      );
      try {
        for await (const { Contents = [] } of pages) {
          for (const { Key = '', Size = 0, LastModified } of Contents) {
            const key = Key.slice(prefix.length);
            yield { key, sizeBytes: Size, modifiedAt: LastModified?.getTime() ?? 0 };
          }
        }
      } catch (error) {
        throw unavailable(`list ${below}`, error);
      }
    },
    async removeUnfinished(olderThan) {
      // Younger ones may still be being sent.
      const before = Math.min(olderThan, Date.now() - sendingMs);
      let removed = 0;
      let after: Pick<ListMultipartUploadsCommandInput, 'KeyMarker' | 'UploadIdMarker'> = {};
      try {
        for (;;) {
          const command = new ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...after });
          const page = await within((limit) => client.send(command, limit));
          for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
            if (!Key.startsWith(prefix) || Initiated === undefined || Initiated.getTime() >= before) continue;
            const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
            await within((limit) => client.send(abort, limit));
            removed += 1;
          }
          if (page.IsTruncated !== true) break;
          after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
        }
      } catch (error) {
        // Some services have no such list.
        if (![400, 405, 501].includes(statusOf(error) ?? 0))
          throw unavailable('remove unfinished uploads', error);
      }
      return removed;
    },
  };
}
