import type { Socket } from 'node:net';
import { type ErrorBody, errorCodes, errorHeader } from '@vitrine/contract/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pg from 'pg';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import { isOutOfRoom, NoRoom } from '../storage/room.ts';
import { DamagedObject, NoSuchObject, StorageUnavailable } from '../storage/storage.ts';
import { Refusal } from './refuse.ts';
import { closeGently } from './slow-requests.ts';

interface Rendered {
  status: number;
  body: ErrorBody;
  headers?: Readonly<Record<string, string>>;
}

/** PostgreSQL errors caused by the client's values, such as a time out of range. */
const valueFaults = new Set(['22003', '22007', '22008', '22009', '22021', '22P02', '22P05', '22001']);

/**
 * PostgreSQL errors of changes that were rolled back because of concurrent ones; values are `Retry-After` in seconds.
 */
const collisions = new Map([
  // `lock_not_available`: another change holds the lock for long.
  ['55P03', { message: 'another change of this object is in progress; try again later', after: '30' }],
  // `deadlock_detected`: two changes waited for each other.
  ['40P01', { message: 'the change conflicted with a concurrent one; try again', after: '1' }],
  // `foreign_key_violation`: a referenced row, perhaps the caller's own account, was deleted concurrently.
  ['23503', { message: 'something this refers to was deleted meanwhile; try again', after: '1' }],
]);

/** A restarting database is usually back by then. */
const UNAVAILABLE_RETRY_SECONDS = '2';

/** An outage of a storage service usually takes longer. */
const STORAGE_RETRY_SECONDS = '10';

/** Our texts for the framework's own errors. */
const frameworkTexts: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported content type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body too large',
  FST_REQ_FILE_TOO_LARGE: 'the file is larger than this library allows',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body does not match its content-length',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed JSON',
  FST_ERR_BAD_URL: 'malformed address',
};

function statusOf(error: Error): number | null {
  const status = 'statusCode' in error ? error.statusCode : null;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}

function codeOf(error: Error): string | null {
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function renderFault(error: unknown, isRead: boolean): Rendered {
  if (error instanceof Refusal) return { status: error.status, body: error.body, headers: error.headers };
  // Not a 503: retrying cannot succeed until an operator restores the file.
  if (error instanceof DamagedObject || error instanceof NoSuchObject) {
    const { code } = error;
    return { status: 500, body: { error: errorCodes[code] }, headers: { [errorHeader]: code } };
  }
  // The outcome of a write is unknown, because a commit may have been in progress.
  if (error instanceof DatabaseUnavailable) {
    return {
      status: 503,
      body: { error: 'the database is not available; try again' },
      headers: { 'retry-after': UNAVAILABLE_RETRY_SECONDS },
    };
  }
  if (error instanceof StorageUnavailable) {
    const suffix = isRead ? '' : '; nothing was stored';
    return {
      status: 503,
      body: { error: `the file storage is not available${suffix}; try again` },
      headers: { 'retry-after': STORAGE_RETRY_SECONDS },
    };
  }
  // A read fails with this only for lack of temporary space, and may be retried.
  if (isOutOfRoom(error))
    return isRead
      ? { status: 503, body: { error: 'the disk is full' }, headers: { 'retry-after': '60' } }
      : { status: 507, body: { error: 'the disk is full; nothing was stored' } };
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    if (valueFaults.has(code)) return { status: 400, body: { error: 'a value is out of range' } };
    const collision = collisions.get(code);
    if (collision !== undefined) {
      return { status: 503, body: { error: collision.message }, headers: { 'retry-after': collision.after } };
    }
  }
  if (error instanceof Error) {
    const status = statusOf(error);
    const code = codeOf(error);
    // No identifier is that long, so nothing exists under it.
    if (code === 'FST_ERR_MAX_PARAM_LENGTH') return { status: 404, body: { error: 'not found' } };
    if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
      return { status: 400, body: { error: 'the connection was cut off' } };
    }
    if (status !== null) return { status, body: { error: frameworkTexts[code ?? ''] ?? error.message } };
    // The form parser's own errors carry no code.
    if (/multipart|Malformed (part|content)/i.test(error.message)) {
      return { status: 400, body: { error: 'malformed form' } };
    }
  }
  return { status: 500, body: { error: 'server error' } };
}

/** Sends the response for an error; logs internal errors with their cause. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body, headers } = renderFault(error, request.method === 'GET' || request.method === 'HEAD');
  // A response that fails before its first byte leaves its headers.
  for (const name of ['etag', 'content-length', 'content-range', 'content-disposition'])
    reply.removeHeader(name);
  if (status >= 500) reply.header('cache-control', 'no-store');
  // One cause can affect thousands of requests: one line each, without a stack.
  if (error instanceof DatabaseUnavailable || error instanceof NoRoom || error instanceof StorageUnavailable)
    request.log.warn({ reason: error.message }, 'request failed');
  else if (status >= 500 && !(error instanceof Refusal)) request.log.error({ err: error }, 'request failed');
  if (headers !== undefined) reply.headers(headers);
  reply.header('x-request-id', request.id);
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}

/** Sends every error as `{error}` with its status (HTTP-1). */
export function renderErrors(server: FastifyInstance): void {
  server.setErrorHandler(sendFault);
}

/** Status line and text by the parser's code, for requests that never reach the framework. */
const brokenRequests: Record<string, { status: string; error: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: 'the request head is too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', error: 'the request did not arrive in time' },
};

/**
 * Responds to what never reaches the framework: 431 for a head that is too large, 408 for one that takes too long, 400
 * for invalid HTTP. The response is `{error}` with the headers of every other response; the connection is closed within
 * `lingerMs`.
 */
export function brokenRequestAnswer(headers: Readonly<Record<string, string>>, lingerMs: number) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
      return;
    }
    const known = brokenRequests[error.code ?? ''];
    const { status, error: message } = known ?? { status: '400 Bad Request', error: 'malformed request' };
    const body = JSON.stringify({ error: message });
    const sent = {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      connection: 'close',
    };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    socket.write([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
    closeGently(socket, lingerMs);
  };
}
