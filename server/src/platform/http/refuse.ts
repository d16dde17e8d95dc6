import type { ErrorBody, ErrorStatus } from '@vitrine/contract/errors';

/** An error response, thrown from anywhere below a handler (HTTP-1). */
export class Refusal extends Error {
  readonly status: ErrorStatus;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: ErrorStatus, body: ErrorBody, headers: Record<string, string> = {}) {
    super(body.error);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Returns the error `{error: text}` with this status, to be thrown. */
export function refuse(status: ErrorStatus, text: string, headers: Record<string, string> = {}): Refusal {
  return new Refusal(status, { error: text }, headers);
}

/** Returns the 404 that is the same for a missing object and for one that the caller may not know of. */
export function notFound(): Refusal {
  return refuse(404, 'not found');
}
