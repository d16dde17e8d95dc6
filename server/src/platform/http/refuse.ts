import type { ErrorBody, ErrorStatus } from '@vitrine/contract/errors';

/** An answer that is an error, thrown from wherever it is known (HTTP-1). */
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

/** The error `{error: text}` with this status, to be thrown. */
export function refuse(status: ErrorStatus, text: string, headers: Record<string, string> = {}): Refusal {
  return new Refusal(status, { error: text }, headers);
}

/** The one 404 of things that are missing and things the caller may not know of. */
export function notFound(): Refusal {
  return refuse(404, 'not found');
}
