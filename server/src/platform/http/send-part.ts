import type { Readable } from 'node:stream';
import type { ByteRange } from '../storage/storage.ts';
import { hasCurrent, isSameForRange } from './etag.ts';
import { readRange } from './range.ts';
import { refuse } from './refuse.ts';

/** Bytes to send, and how browsers may keep them. */
export interface SentBytes {
  type: string;
  sizeBytes: number;
  etag: string;
  /** The address identifies the bytes by `?v=`, so they may be cached permanently. */
  immutable: boolean;
  headers: Record<string, string>;
}

/**
 * Sends bytes entirely, in part or not at all, as the conditions of the request demand. `open` reads them, or a range of
 * them; what it throws is passed on.
 */
export async function sendPart(
  http: { header: (name: 'if-none-match' | 'if-range' | 'range') => string | undefined },
  sending: SentBytes,
  open: (range?: ByteRange) => Promise<Readable | Buffer>,
) {
  const headers = {
    etag: sending.etag,
    // Access to bytes can change, so shared caches must not store them.
    'cache-control': sending.immutable ? 'private, max-age=31536000, immutable' : 'private, no-cache',
    'accept-ranges': 'bytes',
    vary: 'Cookie, Authorization',
    ...sending.headers,
  };
  if (hasCurrent(http.header('if-none-match'), sending.etag)) return { status: 304, headers } as const;
  const range = isSameForRange(http.header('if-range'), sending.etag) ? http.header('range') : undefined;
  const outcome = readRange(range, sending.sizeBytes);
  if (outcome.kind === 'outside') {
    throw refuse('range-not-satisfiable', {}, { 'content-range': `bytes */${sending.sizeBytes}` });
  }
  const typed = { ...headers, 'content-type': sending.type };
  if (outcome.kind === 'whole') {
    const body = await open();
    return { status: 200, body, headers: { ...typed, 'content-length': String(sending.sizeBytes) } } as const;
  }
  const { start, end } = outcome.range;
  const body = await open(outcome.range);
  const partial = {
    ...typed,
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${sending.sizeBytes}`,
  };
  return { status: 206, body, headers: partial } as const;
}
