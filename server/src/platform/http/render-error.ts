import type { Socket } from 'node:net';
import type { ErrorBody } from '@vitrine/contract/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pg from 'pg';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import { isOutOfRoom, NoRoom } from '../storage/room.ts';
import { DamagedObject } from '../storage/storage.ts';
import { Refusal } from './refuse.ts';
import { closeGently } from './slow-requests.ts';

interface Rendered {
  status: number;
  body: ErrorBody;
  headers?: Readonly<Record<string, string>>;
}

/** Faults of values that PostgreSQL alone can tell, such as a time out of its range: the client's, not ours. */
const valueFaults = new Set(['22003', '22007', '22008', '22009', '22021', '22P02', '22P05', '22001']);

/** Changes that were given up with nothing written for others that are under way; when to try again, in seconds. */
const collisions = new Map([
  // `lock_not_available`: what is to be changed is being changed, by something that takes its time.
  ['55P03', { told: 'a long change to this is under way; try again later', after: '30' }],
  // `deadlock_detected`: two changes waited for each other.
  ['40P01', { told: 'this and another change were in each other’s way; try again', after: '1' }],
  // `foreign_key_violation`: what the change refers to, perhaps the caller's own account, was deleted meanwhile.
  ['23503', { told: 'something this refers to was deleted meanwhile; try again', after: '1' }],
]);

/** A database that restarts is usually back by then. */
const UNAVAILABLE_RETRY_SECONDS = '2';

/** What the framework calls its own refusals, in our words. */
const frameworkTexts: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported content type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body too large',
  FST_REQ_FILE_TOO_LARGE: 'the file is larger than this library takes',
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
  // Trying again is of no use until an operator puts the file back, so it is no 503.
  if (error instanceof DamagedObject) return { status: 500, body: { error: 'the stored file is damaged' } };
  // Never a success, nor a claim that nothing was written: a commit may have been under way.
  if (error instanceof DatabaseUnavailable) {
    return {
      status: 503,
      body: { error: 'the database is not available; try again' },
      headers: { 'retry-after': UNAVAILABLE_RETRY_SECONDS },
    };
  }
  // A read fails like this only for want of room to sort, and may be tried again.
  if (isOutOfRoom(error))
    return isRead
      ? { status: 503, body: { error: 'the disk is full' }, headers: { 'retry-after': '60' } }
      : { status: 507, body: { error: 'the disk is full; nothing was stored' } };
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    if (valueFaults.has(code)) return { status: 400, body: { error: 'a value is out of range' } };
    const collision = collisions.get(code);
    if (collision !== undefined) {
      return { status: 503, body: { error: collision.told }, headers: { 'retry-after': collision.after } };
    }
  }
  if (error instanceof Error) {
    const status = statusOf(error);
    const code = codeOf(error);
    // No identifier is as long as that, so nothing is there.
    if (code === 'FST_ERR_MAX_PARAM_LENGTH') return { status: 404, body: { error: 'not found' } };
    if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
      return { status: 400, body: { error: 'the connection was cut off' } };
    }
    if (status !== null) return { status, body: { error: frameworkTexts[code ?? ''] ?? error.message } };
    // The form parser's own faults carry no code.
    if (/multipart|Malformed (part|content)/i.test(error.message)) {
      return { status: 400, body: { error: 'malformed form' } };
    }
  }
  return { status: 500, body: { error: 'server error' } };
}

/** Sends what an error comes to; faults of ours are logged with their cause. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body, headers } = renderFault(error, request.method === 'GET' || request.method === 'HEAD');
  // A stream that fails before its first byte leaves the headers of the answer it was part of.
  if (status >= 500) {
    for (const name of ['etag', 'content-length', 'content-range', 'content-disposition'])
      reply.removeHeader(name);
    reply.header('cache-control', 'no-store');
  }
  // One reason for thousands of requests: a line each, without a stack.
  if (error instanceof DatabaseUnavailable || error instanceof NoRoom)
    request.log.warn({ reason: error.message }, 'request failed');
  else if (status >= 500 && !(error instanceof Refusal)) request.log.error({ err: error }, 'request failed');
  if (headers !== undefined) reply.headers(headers);
  reply.header('x-request-id', request.id);
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}

/** Every error leaves as `{error}` with its status (HTTP-1). */
export function renderErrors(server: FastifyInstance): void {
  server.setErrorHandler(sendFault);
}

/** Requests that never become one of the framework's, by the parser's code: the status line and what is said. */
const brokenRequests: Record<string, { status: string; error: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: 'the request head is too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', error: 'the request did not arrive in time' },
};

/**
 * Answers what never becomes a request of the framework's: 431 for a head that is too large, 408 for one that takes
 * too long, 400 for what is not HTTP. The answer is `{error}` with the headers of every other response; the
 * connection is closed within `lingerMs`.
 */
export function brokenRequestAnswer(headers: Readonly<Record<string, string>>, lingerMs: number) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
      return;
    }
    const known = brokenRequests[error.code ?? ''];
    const { status, error: told } = known ?? { status: '400 Bad Request', error: 'malformed request' };
    const body = JSON.stringify({ error: told });
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
