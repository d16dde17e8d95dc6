import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding, type Encoding, encode } from './encodings.ts';
import { hasCurrent } from './etag.ts';

/** Smallest results first. The levels are worth their time, because bytes are prepared once. */
const smallestFirst = ['br', 'zstd', 'gzip'] as const;
const levels = { br: 6, zstd: 9, gzip: 6 };

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
    br: await encode('br', plain, levels),
    zstd: await encode('zstd', plain, levels),
    gzip: await encode('gzip', plain, levels),
  };
  for (const body of [plain, ...Object.values(compressed)]) shared.add(body);
  // Weak, because the variants share it.
  const etag = `"${createHash('sha256').update(plain).digest('base64url')}"`;
  return { type, etag, plain, compressed };
}

/** Sends prepared bytes in the encoding that the client prefers, or 304 if it has them. */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, plain, compressed }: PreparedBytes,
  cacheControl: string,
): FastifyReply {
  reply.header('etag', `W/${etag}`).header('cache-control', cacheControl).header('vary', 'Accept-Encoding');
  if (hasCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(type);
  const encoding = acceptedEncoding(request, smallestFirst);
  if (encoding === null) return reply.send(plain);
  return reply.header('content-encoding', encoding).send(compressed[encoding]);
}
