import type { ErrorBody, ErrorStatus } from '@vitrine/contract/errors';
import {
  definitionOf,
  type ErrorCode,
  type ErrorParam,
  type ErrorParamNames,
  type ErrorParams,
  errorText,
} from '@vitrine/contract/errors/codes';
import { errorHeader, formatErrorHeader } from '@vitrine/contract/errors/header';
import { type Sentence, WordedError } from '../language/sentence.ts';

type Headers = Readonly<Record<string, string>>;

/** An error response, thrown from anywhere below a handler (HTTP-1, HTTP-43). */
export class Refusal extends WordedError {
  /** Its text is the key of its translations. */
  override readonly sentence: Sentence;
  readonly code: ErrorCode;
  readonly params: Readonly<Record<string, ErrorParam>>;
  readonly status: ErrorStatus;
  readonly body: ErrorBody;
  /** Includes `Vitrine-Error`. */
  readonly headers: Headers;
  constructor(
    code: ErrorCode,
    params: Readonly<Record<string, ErrorParam>> = {},
    { headers = {}, updatedAt }: { headers?: Headers; updatedAt?: string } = {},
  ) {
    const { status, text, property } = definitionOf(code);
    const error = errorText(text, params);
    super(error);
    this.sentence = { text, values: params };
    this.code = code;
    this.params = property === undefined ? params : { property, ...params };
    this.status = status;
    this.body = updatedAt === undefined ? { error } : { error, updated_at: updatedAt };
    this.headers = { ...headers, [errorHeader]: formatErrorHeader(code, this.params) };
  }

  /** Returns the same refusal with more headers. */
  with(headers: Headers): Refusal {
    const { updated_at: updatedAt } = this.body;
    const all = { headers: { ...this.headers, ...headers } };
    return new Refusal(this.code, this.params, updatedAt === undefined ? all : { ...all, updatedAt });
  }
}

type Args<C extends ErrorCode> = [ErrorParamNames<C>] extends [never]
  ? [params?: ErrorParams<C>, headers?: Headers]
  : [params: ErrorParams<C>, headers?: Headers];

/** Returns the error of this code, to be thrown. Its status and text are in `contract/src/errors/`. */
export function refuse<C extends ErrorCode>(code: C, ...[params, headers = {}]: Args<C>): Refusal {
  return new Refusal(code, params, { headers });
}

/** Returns the 404 that is the same for a missing object and for one that the caller may not know of. */
export function notFound(): Refusal {
  return refuse('not-found');
}
