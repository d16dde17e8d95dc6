import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';
import type { S3Settings } from '../../src/platform/storage/s3-settings.ts';
import { listen } from './listen.ts';

/** What the proxy in front of the service does to requests. */
type Fault =
  | 'none'
  /** Every third request is answered 503. */
  | 'third'
  /** Connections are closed before an answer. */
  | 'gone'
  /** Half of each object is sent, then the connection is closed. */
  | 'truncated'
  /** Half of each object is sent once per request target, then the connection is closed. */
  | 'truncated-once'
  /** The credentials are refused. */
  | 'denied'
  /** Requests are answered after a while. */
  | 'slow'
  /** Parts of large files are refused. */
  | 'no-parts';

/** A bucket on a real service behind a proxy. */
export interface TestBucket {
  settings: S3Settings;
  /** The settings as environment variables. */
  env: Record<string, string>;
  /** Method and address of every request that the proxy received. */
  requests: string[];
  /** `slowMs`: how long `slow` delays each request. */
  setFault(fault: Fault, slowMs?: number): void;
  /** Keys of all objects, read without the proxy. */
  keys(): Promise<string[]>;
  /** Begins to send a large file and never continues. */
  abandon(name: string): Promise<void>;
  /** Returns the names of large files that were sent incompletely; null if the service cannot list them. */
  unfinished(): Promise<string[] | null>;
  close(): Promise<void>;
}

/** An S3 service. */
export interface BucketService {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  stop(): Promise<void>;
}

const {
  TEST_S3_ENDPOINT: endpoint,
  TEST_S3_ACCESS_KEY_ID: accessKeyId,
  TEST_S3_SECRET_ACCESS_KEY: secretAccessKey,
} = process.env;

/** The service named by the environment, such as Ceph's radosgw; null without one. */
export const namedService: BucketService | null =
  endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined
    ? null
    : { endpoint, accessKeyId, secretAccessKey, stop: async () => {} };

/** The service from npm, in this process. It checks no signatures and ignores conditions of writes. */
export async function startService(): Promise<BucketService> {
  const server = await startFauxqs({ port: 0, logger: false });
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    accessKeyId: 'test-key',
    secretAccessKey: 'test-secret-that-must-not-be-shown',
    stop: () => server.stop(),
  };
}

function refusal(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>injected</Message></Error>`);
}

/** Creates a bucket and puts a proxy in front of it. */
export async function openBucket(service: BucketService, prefix = ''): Promise<TestBucket> {
  const bucket = `vitrine-${randomBytes(6).toString('hex')}`;
  const credentials = { accessKeyId: service.accessKeyId, secretAccessKey: service.secretAccessKey };
  const direct = new S3Client({
    endpoint: service.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await direct.send(new CreateBucketCommand({ Bucket: bucket }));
  const { hostname, port } = new URL(service.endpoint);
  const requests: string[] = [];
  const truncated = new Set<string>();
  let fault: Fault = 'none';
  let count = 0;
  let delayMs = 0;

  const forward = (from: IncomingMessage, to: ServerResponse, truncate: boolean) => {
    const { method, url, headers } = from;
    const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!truncate || method !== 'GET') return answer.pipe(to);
      let left = Math.floor(Number(answer.headers['content-length'] ?? 0) / 2);
      answer.on('data', (chunk: Buffer) => {
        if (left <= 0) return;
        const part = chunk.subarray(0, left);
        left -= part.length;
        to.write(part, () => left <= 0 && to.destroy());
      });
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
    from.on('error', () => onward.destroy());
  };

  const proxy = createServer((from, to) => {
    const target = `${from.method} ${from.url}`;
    requests.push(target);
    count += 1;
    if (fault === 'gone') return void from.socket.destroy();
    if (fault === 'denied') return refusal(to, 403, 'AccessDenied');
    if (fault === 'third' && count % 3 === 0) return refusal(to, 503, 'SlowDown');
    if (fault === 'no-parts' && from.url?.includes('partNumber=2')) return refusal(to, 403, 'AccessDenied');
    if (fault === 'slow') return void setTimeout(() => forward(from, to, false), delayMs);
    const isFirst = fault === 'truncated-once' && !truncated.has(target);
    if (isFirst) truncated.add(target);
    return forward(from, to, fault === 'truncated' || isFirst);
  });
  const proxied = `http://127.0.0.1:${await listen(proxy)}`;
  return {
    settings: {
      endpoint: proxied,
      region: 'us-east-1',
      bucket,
      ...credentials,
      prefix,
      forcePathStyle: true,
      writes: true,
      redirectSeconds: 0,
      publicEndpoint: null,
    },
    env: {
      VITRINE_S3_ENDPOINT: proxied,
      VITRINE_S3_BUCKET: bucket,
      VITRINE_S3_ACCESS_KEY_ID: credentials.accessKeyId,
      VITRINE_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...(prefix === '' ? {} : { VITRINE_S3_PREFIX: prefix }),
    },
    requests,
    setFault(next, slowMs = 200) {
      fault = next;
      delayMs = slowMs;
      truncated.clear();
    },
    async keys() {
      const keys: string[] = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client: direct }, { Bucket: bucket }))
        keys.push(...Contents.map(({ Key = '' }) => Key));
      return keys;
    },
    async abandon(name) {
      await direct.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: name }));
    },
    async unfinished() {
      if (service !== namedService) return null;
      const { Uploads = [] } = await direct.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      return Uploads.map(({ Key = '' }) => Key);
    },
    async close() {
      direct.destroy();
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
