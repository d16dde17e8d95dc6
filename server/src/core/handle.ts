import type { Readable } from 'node:stream';
import '@fastify/cookie';
import type { MultipartFile } from '@fastify/multipart';
import type { Language } from '@vitrine/contract/languages';
import type { BodyOf, Operation, ParamsOf, QueryOf } from '@vitrine/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { Caller, SignedIn } from '../access/caller.ts';
import type { Answer, NotModified, ScopedCookie, SessionCookie } from '../platform/http/answer.ts';
import type { ReadStreamState, Topic } from '../platform/http/event-streams.ts';
import { refuse } from '../platform/http/refuse.ts';
import { isFilePart } from '../platform/http/slow-requests.ts';
import { type InputChecks, inputChecks } from '../platform/http/validate.ts';
import type { Deps } from './deps.ts';

/** A part of an incoming form: a field, or the file as a stream that must be read immediately. */
export type FormPart = { kind: 'field'; name: string; value: string } | { kind: 'file'; file: MultipartFile };

/** The parts of HTTP that a use case may use. */
export interface HttpFacts {
  address: string;
  /** Whether the client asks for the headers alone. */
  isHead: boolean;
  /** The scheme and the host that the client has addressed, such as `https://media.example`. */
  ownOrigin: string;
  /** The query of the request as received. */
  search: string;
  userAgent: string;
  /** The language in which the client's pages are (LANGUAGE-1). */
  language(): Language;
  /** The token of the session cookie, as received. */
  cookieToken: string | null;
  /** Another cookie, as received. */
  cookie(name: string): string | null;
  header(
    name: 'range' | 'if-range' | 'if-none-match' | 'authorization' | 'host' | 'origin',
  ): string | undefined;
  /** The bytes of a raw body (APPEARANCE-4), empty when there were none. */
  raw: Buffer;
  /** Opens an event stream for the lifetime of this response: of an account, or of the address of a visitor (null). */
  openEvents(accountRef: number | null, readState: ReadStreamState, topic?: Topic): Readable;
}

type AdmittedCaller<O extends Operation> = O['door'] extends 'open' | 'public' ? Caller : SignedIn;

export interface RequestOf<O extends Operation> {
  caller: AdmittedCaller<O>;
  params: ParamsOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
  http: HttpFacts;
}

export type Handler<O extends Operation> = (
  deps: Deps,
  request: RequestOf<O>,
) => Promise<Answer<O> | NotModified>;

interface AnyAnswer {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  cookie?: SessionCookie;
  scopedCookie?: ScopedCookie;
}

/** An operation with its handler, ready to be mounted. */
export interface BoundOperation<O extends Operation = Operation> {
  operation: O;
  /** `confirm` resolves the caller once the body is complete; it throws when the caller may no longer enter. */
  run(
    deps: Deps,
    request: FastifyRequest,
    http: HttpFacts,
    confirm: () => Promise<Caller>,
  ): Promise<AnyAnswer>;
}

function isAdmitted<O extends Operation>(operation: O, caller: Caller): caller is AdmittedCaller<O> {
  return caller.kind === 'user' || operation.door === 'open' || operation.door === 'public';
}

/** Binds a handler to its operation; the contract determines the types of its input and response. */
export function handle<O extends Operation>(operation: O, handler: Handler<NoInfer<O>>): BoundOperation<O> {
  const checks = inputChecks(operation);
  return {
    operation,
    async run(deps, request, http, confirm) {
      const caller = await confirm();
      if (!isAdmitted(operation, caller)) throw refuse('sign-in-required');
      return handler(deps, { caller, http, ...checked(operation, checks, request) });
    },
  };
}

/** Reads the multipart form of an operation. */
export interface FormReader<F> {
  /** Reads every part; on an error it throws and leaves nothing behind. */
  read(deps: Deps, parts: AsyncIterable<FormPart>): Promise<F>;
  /** Removes the files that reading created. Called after the handler, whether it succeeded or not. */
  discard(form: F): Promise<void>;
}

/**
 * Binds a handler to an operation that takes a multipart form or JSON. Reads the whole form before the caller is
 * resolved for the handler, because reading may take long and rights may end meanwhile (HTTP-29). `form` is null when
 * the body is JSON.
 */
export function handleForm<O extends Operation, F>(
  operation: O,
  reader: FormReader<F>,
  handler: (deps: Deps, request: RequestOf<O> & { form: F | null }) => Promise<Answer<O> | NotModified>,
): BoundOperation<O> {
  const checks = inputChecks(operation);
  return {
    operation,
    async run(deps, request, http, confirm) {
      const form = request.isMultipart() ? await reader.read(deps, formParts(request)) : null;
      try {
        const caller = await confirm();
        if (!isAdmitted(operation, caller)) throw refuse('sign-in-required');
        return await handler(deps, { caller, http, form, ...checked(operation, checks, request) });
      } finally {
        if (form !== null) await reader.discard(form);
      }
    },
  };
}

type Input<O extends Operation> = Pick<RequestOf<O>, 'params' | 'query' | 'body'>;

/** Returns the validated parts of the request. */
function checked<O extends Operation>(operation: O, checks: InputChecks, request: FastifyRequest): Input<O> {
  const isForm = request.isMultipart();
  const isUrlencoded = request.body instanceof URLSearchParams;
  const isPosted = operation.postedForm !== undefined;
  if (isUrlencoded ? operation.unreadForm !== true && !isPosted : isPosted)
    throw refuse('unsupported-content-type');
  const takesForm = operation.form !== undefined || operation.unreadForm === true;
  if (isForm && !takesForm) throw refuse('unsupported-content-type');
  if (isFilePart(request.raw) && operation.tus !== true) throw refuse('unsupported-content-type');
  if (operation.form === 'only' && !isForm) throw refuse('form-required');
  // The checks are made from the schemas of this operation, from which its types are derived.
  return {
    params: checks.params(request.params),
    query: checks.query(request.query),
    body: isForm ? undefined : checks.body(isPosted ? fieldsOf(request.body) : request.body),
  } as Input<O>;
}

/** Returns the fields of a form; of a repeated one, the first. */
function fieldsOf(body: unknown): Record<string, string> {
  const fields = body instanceof URLSearchParams ? [...body].reverse() : [];
  return Object.fromEntries(fields);
}

async function* formParts(request: FastifyRequest): AsyncIterable<FormPart> {
  for await (const part of request.parts()) {
    if (part.type === 'file') yield { kind: 'file', file: part };
    else
      yield { kind: 'field', name: part.fieldname, value: typeof part.value === 'string' ? part.value : '' };
  }
}
