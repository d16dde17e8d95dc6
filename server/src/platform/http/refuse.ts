import type { ErrorBody, ErrorStatus } from '@vitrine/contract/errors';
import {
  definitionOf,
  type ErrorCode,
  type ErrorParam,
  type ErrorParamNames,
  errorText,
} from '@vitrine/contract/errors/codes';
import { errorHeader, formatErrorHeader } from '@vitrine/contract/errors/header';
import { type Sentence, type SentenceValue, WordedError } from '../language/sentence.ts';

type Headers = Readonly<Record<string, string>>;

/** The parameters of an error. A sentence is in English in the header, and in the reader's language in the body. */
type Params = Sentence['values'];

/** Returns a sentence as an error has it in English, whose numbers are not grouped. */
function inEnglish({ text, values }: Sentence): string {
  return errorText(text, englishParams(values));
}

function englishParam(value: SentenceValue): ErrorParam {
  if (typeof value !== 'object') return value;
  if ('text' in value) return inEnglish(value);
  return value.map((part) => (typeof part === 'string' ? part : inEnglish(part)));
}

function englishParams(params: Params): Record<string, ErrorParam> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, englishParam(value)]));
}

/** An error response, thrown from anywhere below a handler (HTTP-1, HTTP-43). */
export class Refusal extends WordedError {
  /** Its text is the key of its translations. */
  override readonly sentence: Sentence;
  readonly code: ErrorCode;
  readonly status: ErrorStatus;
  readonly body: ErrorBody;
  /** Includes `Vitrine-Error`. */
  readonly headers: Headers;
  constructor(
    code: ErrorCode,
    params: Params = {},
    { headers = {}, updatedAt }: { headers?: Headers; updatedAt?: string } = {},
  ) {
    const { status, text, property } = definitionOf(code);
    const values = property === undefined ? params : { property, ...params };
    const english = englishParams(values);
    const error = errorText(text, english);
    super(error);
    this.sentence = { text, values };
    this.code = code;
    this.status = status;
    this.body = updatedAt === undefined ? { error } : { error, updated_at: updatedAt };
    this.headers = { ...headers, [errorHeader]: formatErrorHeader(code, english) };
  }

  /** Returns the same refusal with more headers. */
  with(headers: Headers): Refusal {
    const { updated_at: updatedAt } = this.body;
    const all = { headers: { ...this.headers, ...headers } };
    return new Refusal(
      this.code,
      this.sentence.values,
      updatedAt === undefined ? all : { ...all, updatedAt },
    );
  }
}

/** The parameters of a code: those of its text, and the property that the error is about. */
type ParamsOf<C extends ErrorCode> = C extends unknown
  ? { readonly [Name in ErrorParamNames<C>]: SentenceValue } & { readonly property?: string }
  : never;

type Args<C extends ErrorCode> = [ErrorParamNames<C>] extends [never]
  ? [params?: ParamsOf<C>, headers?: Headers]
  : [params: ParamsOf<C>, headers?: Headers];

/** Returns the error of this code, to be thrown. Its status and text are in `contract/src/errors/`. */
export function refuse<C extends ErrorCode>(code: C, ...[params, headers = {}]: Args<C>): Refusal {
  return new Refusal(code, params, { headers });
}

/** Returns the 404 that is the same for a missing object and for one that the caller may not know of. */
export function notFound(): Refusal {
  return refuse('not-found');
}
