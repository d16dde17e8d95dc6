import { type Static, Type } from 'typebox';
import { Timestamp } from './values.ts';

/** HTTP-1: what each status means. 405, 412, 413, 415, 416, 431 and 507 have their standard HTTP meaning. */
export const statusMeaning = {
  400: 'Bad request.',
  401: 'Not signed in, or authentication missing or invalid.',
  403: 'Missing capability or scope.',
  404: 'Not found.',
  405: 'Method not allowed: `Allow` names the methods of this path.',
  408: 'The request took too long to arrive.',
  409: 'Conflict.',
  412: 'Precondition failed: `Tus-Resumable: 1.0.0` is missing.',
  413: 'Body too large.',
  415: 'Unsupported content type.',
  416: 'Range not satisfiable.',
  422: 'Unprocessable.',
  429: 'Rate-limited: try again after `Retry-After` seconds.',
  431: 'Request head too large.',
  500: 'Server error. The code says if a stored file is the cause.',
  501: 'Feature not installed.',
  503: 'Not ready, or given up because of a concurrent change: try again after `Retry-After` seconds.',
  507: 'Out of storage: nothing was written.',
} as const;

export type ErrorStatus = keyof typeof statusMeaning;

/** HTTP-1, HTTP-19: every error is `{error}`; a failed `if_unchanged_since` also returns `updated_at`. */
export const ErrorBody = Type.Object(
  { error: Type.String(), updated_at: Type.Optional(Timestamp) },
  { additionalProperties: false },
);
export type ErrorBody = Static<typeof ErrorBody>;
