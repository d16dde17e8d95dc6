import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
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
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { meaningInWords } from '../faults/worded-errors.ts';
import { type Sentence, sentence, WordedError } from '../language/sentence.ts';
import { etagOf, sendFile, sendStream } from './s3-files.ts';
import { readSteadily } from './s3-reading.ts';
import { retryStrategy } from './s3-retries.ts';
import type { S3Settings } from './s3-settings.ts';
import {
  DamagedObject,
  type DownloadHeaders,
  NoSuchObject,
  StorageUnavailable,
  type StoredObject,
  wrongSize,
} from './storage.ts';

const CONNECT_MS = 3_000;
/** How long a request without a body may take, attempts included. */
const ANSWER_MS = 20_000;
const READY_MS = 3_000;
/** How long a service may be silent while a file is sent. */
const SILENT_MS = 30_000;
/** How long sending one file may take. */
const SENDING_MS = 6 * 3600 * 1000;
/** Each reader that waits for a slow client occupies a connection. */
const MOST_CONNECTIONS = 1_000;

interface BucketObject extends StoredObject {
  etag: string;
}

/**
 * The objects of a bucket below the prefix of its settings. Every failure of the service, after some attempts, is
 * StorageUnavailable. Objects are visible when they are complete.
 */
export interface Bucket {
  /** Returns the metadata of an object; null when it does not exist. */
  find(key: string): Promise<BucketObject | null>;
  /**
   * Reads an object or a range of it, and resolves with its total size, too. Rejects with NoSuchObject, or with DamagedObject
   * if the object's size is not `sizeBytes`. With null, any size is accepted.
   */
  read(
    key: string,
    range: { start: number; end: number } | null,
    sizeBytes: number | null,
  ): Promise<{ stream: Readable; total: number }>;
  /**
   * Signs an address that reads the object as a download while `redirectSeconds` of the settings last; null if they are 0.
   * Rejects as `read`.
   */
  addressOf(key: string, sizeBytes: number, headers: DownloadHeaders): Promise<string | null>;
  /** Sends a local file unless the bucket has it, and returns the ETag of the object. */
  sendUnlessThere(path: string, key: string): Promise<string>;
  /**
   * Sends content of about this size; null: unknown, and at most 80 GB. Fails with the error of the content, if that fails;
   * then nothing is stored.
   */
  send(key: string, content: AsyncIterable<Uint8Array>, sizeBytes: number | null): Promise<void>;
  checkReady(): Promise<void>;
  delete(key: string): Promise<void>;
  /** Lists the objects whose keys begin with this. */
  list(beginning: string): AsyncIterable<StoredObject>;
  /** Aborts uploads in parts that began before `olderThan`; returns their number. */
  removeUnfinished(olderThan: number): Promise<number>;
}

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const { $metadata } = error;
  const status =
    typeof $metadata === 'object' && $metadata !== null && 'httpStatusCode' in $metadata
      ? $metadata.httpStatusCode
      : null;
  return typeof status === 'number' ? status : null;
}

/** The codes of statuses that come without one, as in responses to HEAD. */
const codeOfStatus: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  403: 'AccessDenied',
  503: 'ServiceUnavailable',
};

/** Describes a failure without its request, whose headers contain the signature. */
function describe(error: unknown): Sentence {
  if (!(error instanceof Error)) return sentence('unknown error');
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const status = statusOf(error);
  if (status === null) return meaningInWords([code], code);
  return meaningInWords([code, codeOfStatus[status] ?? ''], `${code} (${status})`);
}

function unavailable(what: Sentence, error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  return new StorageUnavailable(sentence('{attempt}: {reason}', { attempt: what, reason: describe(error) }));
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

/** Opens a bucket, without a request. Sending one file takes at most `sendingMs`. */
export function openBucket(settings: S3Settings, { sendingMs = SENDING_MS } = {}): Bucket {
  const client = openClient(settings);
  const { bucket: Bucket, prefix } = settings;
  const nameOf = (key: string) => `${prefix}${key}`;
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

  const find = async (key: string): Promise<BucketObject | null> => {
    try {
      const head = await within((limit) =>
        client.send(new HeadObjectCommand({ Bucket, Key: nameOf(key) }), limit),
      );
      const { ContentLength = 0, LastModified, ETag = '' } = head;
      return { key, sizeBytes: ContentLength, modifiedAt: LastModified?.getTime() ?? 0, etag: ETag };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw unavailable(sentence('look for {key}', { key }), error);
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
      if (!(Body instanceof Readable)) throw new WordedError(sentence('the response has no body'));
      const total = ContentRange === undefined ? ContentLength : Number(ContentRange.split('/')[1]);
      return { body: Body, total, etag: ETag };
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) throw new NoSuchObject(key);
      if (status === 416) throw new DamagedObject(key, sentence('it is too short'));
      if (status === 412) throw new DamagedObject(key, sentence('it was replaced while it was read'));
      throw unavailable(sentence('read {key}', { key }), error);
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
      throw new DamagedObject(key, wrongSize(total, sizeBytes));
    }
    const { start, end } = range ?? { start: 0, end: total - 1 };
    const stream = readSteadily(body, { start, end }, async (position) => {
      const again = await open(key, position, end, etag);
      again.body.on('error', () => {});
      return again.body;
    });
    return { stream, total };
  };

  const publicClient =
    settings.publicEndpoint === null
      ? client
      : openClient({ ...settings, endpoint: settings.publicEndpoint });
  const addressOf = async (key: string, sizeBytes: number, { type, disposition }: DownloadHeaders) => {
    if (settings.redirectSeconds === 0) return null;
    // The client would get the service's own error for an object that is missing or too short.
    const found = await find(key);
    if (found === null) throw new NoSuchObject(key);
    if (found.sizeBytes !== sizeBytes) throw new DamagedObject(key, wrongSize(found.sizeBytes, sizeBytes));
    const command = new GetObjectCommand({
      Bucket,
      Key: nameOf(key),
      ResponseContentType: type,
      ResponseContentDisposition: disposition,
      ResponseCacheControl: 'private, no-store',
    });
    return getSignedUrl(publicClient, command, { expiresIn: settings.redirectSeconds });
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
          throw unavailable(sentence('store {key}', { key }), error);
      }
    }
    throw new StorageUnavailable(sentence('store {key}: the object keeps changing', { key }));
  };

  return {
    addressOf,
    find,
    read,
    sendUnlessThere,
    async send(key, content, sizeBytes) {
      let failure: unknown = null;
      const chunks = content[Symbol.asyncIterator]();
      const next = () =>
        chunks.next().catch((error: unknown) => {
          failure = error;
          throw error;
        });
      const stop = async () => {
        await chunks.return?.();
        return { done: true, value: undefined } as const;
      };
      const watched = { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
      try {
        const signal = AbortSignal.timeout(sendingMs);
        await sendStream(client, { content: watched, sizeBytes, bucket: Bucket, name: nameOf(key), signal });
      } catch (error) {
        throw failure ?? unavailable(sentence('store {key}', { key }), error);
      }
    },
    async checkReady() {
      try {
        await client.send(new HeadBucketCommand({ Bucket }), { abortSignal: AbortSignal.timeout(READY_MS) });
      } catch (error) {
        const attempt = sentence('reach the bucket {bucket}', { bucket: Bucket });
        // Without a body, the response does not say what is missing.
        throw statusOf(error) === 404
          ? new StorageUnavailable(
              sentence('{attempt}: {reason}', { attempt, reason: meaningInWords(['NoSuchBucket'], '404') }),
            )
          : unavailable(attempt, error);
      }
    },
    async delete(key) {
      try {
        await within((limit) => client.send(new DeleteObjectCommand({ Bucket, Key: nameOf(key) }), limit));
      } catch (error) {
        if (statusOf(error) !== 404) throw unavailable(sentence('delete {key}', { key }), error);
      }
    },
    async *list(beginning) {
      const pages = paginateListObjectsV2({ client }, { Bucket, Prefix: nameOf(beginning) });
      try {
        for await (const { Contents = [] } of pages) {
          for (const { Key = '', Size = 0, LastModified } of Contents) {
            const key = Key.slice(prefix.length);
            yield { key, sizeBytes: Size, modifiedAt: LastModified?.getTime() ?? 0 };
          }
        }
      } catch (error) {
        throw unavailable(sentence('list {beginning}', { beginning }), error);
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
          const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
          // Services that ignore `?uploads` send the list of objects, which has no such marker.
          const isLast = page.IsTruncated !== true || next.KeyMarker === undefined;
          if (isLast || isDeepStrictEqual(next, after)) break;
          after = next;
        }
      } catch (error) {
        // Some services cannot list them.
        if (![400, 405, 501].includes(statusOf(error) ?? 0))
          throw unavailable(sentence('remove unfinished uploads'), error);
      }
      return removed;
    },
  };
}
