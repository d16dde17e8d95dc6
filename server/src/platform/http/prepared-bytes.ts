import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCurrent } from './etag.ts';

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);
const asZstd = promisify(zstdCompress);

const encodings = ['br', 'zstd', 'gzip'] as const;
type Encoding = (typeof encodings)[number];

/** Bytes that are the same for every caller, with their compressed variants. All responses share them. */
export interface PreparedBytes {
  type: string;
  etag: string;
  plain: Buffer;
  compressed: Readonly<Record<Encoding, Buffer>>;
}

/** The bytes of all prepared responses: sending them takes no further memory. */
const shared = new WeakSet<Buffer>();

/** Returns whether a body is shared by all responses that send it. */
export function isShared(body: Buffer): boolean {
  return shared.has(body);
}

/** Compresses the bytes once in every encoding that the service speaks. */
export async function prepareBytes(type: string, plain: Buffer): Promise<PreparedBytes> {
  const compressed = {
    br: await asBrotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
    zstd: await asZstd(plain, { params: { [constants.ZSTD_c_compressionLevel]: 9 } }),
    gzip: await asGzip(plain, { level: 6 }),
  };
  for (const body of [plain, ...Object.values(compressed)]) shared.add(body);
  // Weak, because the variants share it.
  const etag = `"${createHash('sha256').update(plain).digest('base64url')}"`;
  return { type, etag, plain, compressed };
}

/** Sends prepared bytes in the encoding that the client prefers, or 304 if it has them. */
export function sendPrepared(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, compressed }: PreparedBytes,
  cacheControl: string,
): FastifyReply {
  reply.header('etag', `W/${etag}`).header('cache-control', cacheControl).header('vary', 'Accept-Encoding');
  if (hasCurrent(headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(type);
  const accepted = negotiate(String(headers['accept-encoding'] ?? ''), [...encodings]);
  const encoding = encodings.find((one) => one === accepted);
  if (encoding === undefined) return reply.send(plain);
  return reply.header('content-encoding', encoding).send(compressed[encoding]);
}
