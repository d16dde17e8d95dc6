import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorBody } from '@vitrine/contract/errors';
import type { PlainErrorCode } from '@vitrine/contract/errors/codes';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pg from 'pg';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import { saySentence } from '../language/sentence.ts';
import { isOutOfRoom, NoRoom } from '../storage/room.ts';
import { DamagedObject, NoSuchObject, StorageUnavailable } from '../storage/storage.ts';
import { pageLanguage } from './page-language.ts';
import { Refusal, refuse } from './refuse.ts';
import { closeGently } from './slow-requests.ts';

/** PostgreSQL errors caused by the client's values, such as a time out of range. */
const valueFaults = new Set(['22003', '22007', '22008', '22009', '22021', '22P02', '22P05', '22001']);

/**
 * PostgreSQL errors of changes that were rolled back because of concurrent ones; `after` is `Retry-After` in seconds.
 */
const collisions = new Map<string, { code: PlainErrorCode; after: string }>([
  // `lock_not_available`: another change holds the lock for long.
  ['55P03', { code: 'object-locked', after: '30' }],
  // `deadlock_detected`: two changes waited for each other.
  ['40P01', { code: 'write-conflict', after: '1' }],
  // `foreign_key_violation`: a referenced row, perhaps the caller's own account, was deleted concurrently.
  ['23503', { code: 'referenced-object-deleted', after: '1' }],
]);

/** A restarting database is usually back by then. */
const UNAVAILABLE_RETRY_SECONDS = '2';

/** An outage of a storage service usually takes longer. */
const STORAGE_RETRY_SECONDS = '10';

/** Our errors for the framework's own. */
const frameworkErrors = new Map<string, PlainErrorCode>([
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported-content-type'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'body-too-large'],
  ['FST_REQ_FILE_TOO_LARGE', 'file-too-large'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'content-length-mismatch'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'malformed-json'],
  ['FST_ERR_BAD_URL', 'malformed-address'],
  // No identifier is that long, so nothing exists under it.
  ['FST_ERR_MAX_PARAM_LENGTH', 'not-found'],
  ['ECONNRESET', 'connection-cut-off'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'connection-cut-off'],
]);

function statusOf(error: Error): number | null {
  const status = 'statusCode' in error ? error.statusCode : null;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Returns our error for one of the framework or of the form parser; null for any other. */
function frameworkRefusal(error: Error): Refusal | null {
  const code = frameworkErrors.get(codeOf(error));
  if (code !== undefined) return refuse(code);
  const status = statusOf(error);
  if (status === 404) return refuse('not-found');
  if (status === 413) return refuse('too-many-form-parts');
  if (status !== null) return refuse('request-refused', { reason: error.message });
  // The form parser's own errors carry no code.
  return /multipart|Malformed (part|content)/i.test(error.message) ? refuse('malformed-form') : null;
}

function databaseRefusal({ code = '' }: pg.DatabaseError): Refusal | null {
  if (valueFaults.has(code)) return refuse('value-out-of-range');
  const collision = collisions.get(code);
  return collision === undefined ? null : refuse(collision.code, {}, { 'retry-after': collision.after });
}

/** Returns the error response for anything that was thrown. */
function refusalOf(error: unknown, isRead: boolean): Refusal {
  if (error instanceof Refusal) return error;
  // Not a 503: retrying cannot succeed until an operator restores the file.
  if (error instanceof DamagedObject || error instanceof NoSuchObject) return refuse(error.code);
  // The outcome of a write is unknown, because a commit may have been in progress.
  if (error instanceof DatabaseUnavailable)
    return refuse('database-unavailable', {}, { 'retry-after': UNAVAILABLE_RETRY_SECONDS });
  if (error instanceof StorageUnavailable) {
    const code = isRead ? 'storage-unavailable' : 'storage-unavailable-for-writing';
    return refuse(code, {}, { 'retry-after': STORAGE_RETRY_SECONDS });
  }
  // A read fails with this only for lack of temporary space, and may be retried.
  if (isOutOfRoom(error))
    return isRead ? refuse('temporary-space-full', {}, { 'retry-after': '60' }) : refuse('disk-full');
  const known =
    error instanceof pg.DatabaseError
      ? databaseRefusal(error)
      : error instanceof Error
        ? frameworkRefusal(error)
        : null;
  return known ?? refuse('server-error');
}

/** Returns the error response for anything that was thrown; logs internal errors with their cause. */
export function refusalFor(error: unknown, request: FastifyRequest): Refusal {
  const refusal = refusalOf(error, request.method === 'GET' || request.method === 'HEAD');
  // One cause can affect thousands of requests: one line each, without a stack.
  if (error instanceof DatabaseUnavailable || error instanceof NoRoom || error instanceof StorageUnavailable)
    request.log.warn({ reason: error.message }, 'request failed');
  else if (refusal.status >= 500 && !(error instanceof Refusal))
    request.log.error({ err: error }, 'request failed');
  return refusal;
}

/** Returns the body of an error in the language of the pages that the client shows (LANGUAGE-9). */
function bodyFor({ body, sentence }: Refusal, { cookies, headers }: FastifyRequest): ErrorBody {
  // A malformed address is refused before cookies are read.
  const language = pageLanguage({ cookies: cookies ?? {}, headers });
  return language === 'en' ? body : { ...body, error: saySentence(language, sentence) };
}

/** Sends the response for an error. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalFor(error, request);
  const { status, headers } = refusal;
  // A response that fails before its first byte leaves its headers.
  for (const name of ['etag', 'content-length', 'content-range', 'content-disposition'])
    reply.removeHeader(name);
  if (status >= 500) reply.header('cache-control', 'no-store');
  reply.headers(headers);
  reply.header('x-request-id', request.id);
  return reply.code(status).type('application/json; charset=utf-8').send(bodyFor(refusal, request));
}

/** Sends every error as `{error}` with its status (HTTP-1). */
export function renderErrors(server: FastifyInstance): void {
  server.setErrorHandler(sendFault);
}

/** Errors by the parser's code, for requests that never reach the framework. */
const brokenRequests = new Map<string, PlainErrorCode>([
  ['HPE_HEADER_OVERFLOW', 'head-too-large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'head-timeout'],
]);

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
    const refusal = refuse(brokenRequests.get(error.code ?? '') ?? 'malformed-request');
    const body = JSON.stringify(refusal.body);
    const sent = {
      ...headers,
      ...refusal.headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      connection: 'close',
    };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    const { status } = refusal;
    socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
    closeGently(socket, lingerMs);
  };
}
