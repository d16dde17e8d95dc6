import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyRequest } from 'fastify';

/** The encodings in which responses are sent (HTTP-39). */
export type Encoding = 'zstd' | 'br' | 'gzip';

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);
const asZstd = promisify(zstdCompress);

/** They run in the thread pool, so that other requests do not wait. */
const encoders = {
  zstd: (body: Buffer, level: number) =>
    asZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
  br: (body: Buffer, level: number) =>
    asBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: level } }),
  gzip: (body: Buffer, level: number) => asGzip(body, { level }),
};

/** Compresses a body at the level of its encoding. */
export function encode(
  encoding: Encoding,
  body: Buffer,
  levels: Readonly<Record<Encoding, number>>,
): Promise<Buffer> {
  return encoders[encoding](body, levels[encoding]);
}

/** Returns the encoding that the client prefers, or the first one among equals; null: none. */
export function acceptedEncoding(
  { headers }: FastifyRequest,
  supported: readonly Encoding[],
): Encoding | null {
  const accepted = negotiate(String(headers['accept-encoding'] ?? ''), [...supported]);
  return supported.find((encoding) => encoding === accepted) ?? null;
}
