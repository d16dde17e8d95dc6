import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding, encode } from './encodings.ts';
import { isShared } from './prepared-bytes.ts';

/** Used in this order unless the client prefers another one, each at its cheapest useful level. */
const cheapestFirst = ['zstd', 'br', 'gzip'] as const;
const cheapest = { zstd: 1, br: 1, gzip: 1 };

/** In bytes. A smaller body fits into one packet without compression. */
const SMALLEST = 1024;

/** Images, video and archives are compressed already. */
const compressible =
  /^(?:text\/(?!event-stream)|application\/(?:json|xml|javascript|[\w.-]+\+(?:json|xml))|image\/svg\+xml)/;

/**
 * Whether the body of a response may be compressed for clients that accept it (HTTP-39). Bytes that are served in
 * ranges stay as stored, because ranges count the bytes that are sent.
 */
function isCompressible(request: FastifyRequest, reply: FastifyReply): boolean {
  // Responses to other methods are small, and the only ones with credentials (HTTP-40).
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  if (!compressible.test(String(reply.getHeader('content-type') ?? ''))) return false;
  return !['content-encoding', 'content-range', 'accept-ranges'].some((name) => reply.hasHeader(name));
}

/** Whether another site may have caused the request, and could learn from the length of the response (HTTP-40). */
function isFromElsewhere({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

function varyByEncoding(reply: FastifyReply): void {
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`);
}

/** Compresses responses whose bodies are in memory and large enough (HTTP-39). Streams are sent unchanged. */
export function compressResponses(server: FastifyInstance): void {
  server.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    if (typeof payload !== 'string' && isShared(payload)) return payload;
    if (payload.length < SMALLEST || !isCompressible(request, reply)) return payload;
    varyByEncoding(reply);
    if (isFromElsewhere(request)) return payload;
    const encoding = acceptedEncoding(request, cheapestFirst);
    if (encoding === null) return payload;
    // A strong tag would name the uncompressed bytes.
    const etag = reply.getHeader('etag');
    if (typeof etag === 'string' && !etag.startsWith('W/')) reply.header('etag', `W/${etag}`);
    const compressed = await encode(encoding, Buffer.from(payload), cheapest);
    reply.header('content-encoding', encoding).header('content-length', compressed.length);
    return compressed;
  });
}
