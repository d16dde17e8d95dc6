import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import '@fastify/cookie';
import type { MultipartFile } from '@fastify/multipart';
import {
  type BodyOf,
  isPlain,
  type Operation,
  type ParamsOf,
  type QueryOf,
} from '@vitrine/contract/operation';
import { basePath } from '@vitrine/contract/operations';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, SignedIn } from '../../access/caller.ts';
import type { Deps } from '../../deps.ts';
import type { Answer, NotModified, ScopedCookie, SessionCookie } from './answer.ts';
import { clientAddress } from './client-address.ts';
import type { UploadLimits } from './concurrency.ts';
import type { EventStreams, Look } from './event-streams.ts';
import { refuse } from './refuse.ts';
import { unlistedHeaders } from './security-headers.ts';
import { hasBody, isFilePart, isForm } from './slow-requests.ts';
import { type InputChecks, inputChecks } from './validate.ts';

/** A part of an incoming form: a field, or the file as a stream that must be read immediately. */
export type FormPart = { kind: 'field'; name: string; value: string } | { kind: 'file'; file: MultipartFile };

/** The parts of HTTP that a use case may use. */
export interface HttpFacts {
  address: string;
  userAgent: string;
  /** The token of the session cookie, as received. */
  cookieToken: string | null;
  /** Another cookie, as received. */
  cookie(name: string): string | null;
  header(
    name: 'range' | 'if-range' | 'if-none-match' | 'authorization' | 'host' | 'origin',
  ): string | undefined;
  /** The bytes of a raw body (APPEARANCE-4), empty when there were none. */
  raw: Buffer;
  /** Opens an account's event stream for the lifetime of this response. */
  openEvents(accountRef: number, look: Look): Readable;
}

type CallerBehind<O extends Operation> = O['door'] extends 'open' | 'public' ? Caller : SignedIn;

export interface RequestOf<O extends Operation> {
  caller: CallerBehind<O>;
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
export interface Bound {
  operation: Operation;
  /** `confirm` resolves the caller once the body is complete; it throws when the caller may no longer enter. */
  run(
    deps: Deps,
    request: FastifyRequest,
    http: HttpFacts,
    confirm: () => Promise<Caller>,
  ): Promise<AnyAnswer>;
}

function behind<O extends Operation>(operation: O, caller: Caller): caller is CallerBehind<O> {
  return caller.kind === 'user' || operation.door === 'open' || operation.door === 'public';
}

/** Binds a handler to its operation; the contract determines the types of its input and response. */
export function handle<O extends Operation>(operation: O, handler: Handler<O>): Bound {
  const checks = inputChecks(operation);
  return {
    operation,
    async run(deps, request, http, confirm) {
      const caller = await confirm();
      if (!behind(operation, caller)) throw refuse(401, 'sign in first');
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
 * Binds a handler to an operation that takes a multipart form or JSON. The form is read completely before the caller is
 * resolved for the handler: reading may take long, and rights may end meanwhile (HTTP-29). `form` is null when the body
 * is JSON.
 */
export function handleForm<O extends Operation, F>(
  operation: O,
  reader: FormReader<F>,
  handler: (deps: Deps, request: RequestOf<O> & { form: F | null }) => Promise<Answer<O> | NotModified>,
): Bound {
  const checks = inputChecks(operation);
  return {
    operation,
    async run(deps, request, http, confirm) {
      const form = request.isMultipart() ? await reader.read(deps, formParts(request)) : null;
      try {
        const caller = await confirm();
        if (!behind(operation, caller)) throw refuse(401, 'sign in first');
        return await handler(deps, { caller, http, form, ...checked(operation, checks, request) });
      } finally {
        if (form !== null) await reader.discard(form);
      }
    },
  };
}

type Input<O extends Operation> = Pick<RequestOf<O>, 'params' | 'query' | 'body'>;

/** The request's validated parts; validation makes this signature true. */
function checked<O extends Operation>(operation: O, checks: InputChecks, request: FastifyRequest): Input<O>;
function checked(operation: Operation, checks: InputChecks, request: FastifyRequest) {
  const isForm = request.isMultipart();
  const isRaw = Buffer.isBuffer(request.body);
  const isUrlencoded = request.body instanceof URLSearchParams;
  if (isUrlencoded && operation.unreadForm !== true) throw refuse(415, 'unsupported content type');
  const takesForm = operation.form !== undefined || operation.unreadForm === true;
  if ((isForm && !takesForm) || (isRaw && operation.raw === undefined)) {
    throw refuse(415, 'unsupported content type');
  }
  if (isFilePart(request.raw) && operation.tus !== true) throw refuse(415, 'unsupported content type');
  if (operation.form === 'only' && !isForm) throw refuse(415, 'send a multipart form');
  return {
    params: checks.params(request.params),
    query: checks.query(request.query),
    body: isForm ? undefined : checks.body(request.body),
  };
}

export interface Mounting {
  deps: Deps;
  streams: EventStreams;
  uploads: UploadLimits;
  /** Resolves the caller and checks the operation's door; throws when it is closed. */
  enter(operation: Operation, request: FastifyRequest): Promise<Caller>;
  /**
   * Resolves the caller again once the body is complete; throws when the caller may no longer enter. Counts nothing.
   */
  confirm(operation: Operation, request: FastifyRequest): Promise<Caller>;
  sendCookie(reply: FastifyReply, cookie: SessionCookie | ScopedCookie): void;
  /** Renews the caller's cookie when this request extended the session. */
  renewalOf(request: FastifyRequest): SessionCookie | null;
  /** Counts against the budgets that need the body; throws when one is spent. */
  countWithBody(operation: Operation, request: FastifyRequest): Promise<void>;
}

/** Returns the path of an operation in the router's syntax. */
export function routePath(path: string): string {
  return basePath + path.replace(/\{(\w+)\}/g, ':$1');
}

async function* formParts(request: FastifyRequest): AsyncIterable<FormPart> {
  for await (const part of request.parts()) {
    if (part.type === 'file') yield { kind: 'file', file: part };
    else
      yield { kind: 'field', name: part.fieldname, value: typeof part.value === 'string' ? part.value : '' };
  }
}

function factsOf(request: FastifyRequest, reply: FastifyReply, streams: EventStreams): HttpFacts {
  return {
    address: clientAddress(request),
    userAgent: request.headers['user-agent']?.slice(0, 500) ?? '',
    cookieToken: request.cookies.user ?? null,
    cookie: (name) => request.cookies[name] ?? null,
    header: (name) => [request.headers[name] ?? []].flat()[0],
    raw: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    openEvents: (accountRef, look) => streams.open(accountRef, look, reply.raw),
  };
}

function jsonSchemas(operation: Operation): Record<string, unknown> {
  const schemas = Object.entries(operation.responses).filter(([, body]) => !isPlain(body));
  return Object.fromEntries(schemas);
}

/** HTTP-20: responses depend on the caller, so no cache may share them unless the response says otherwise. */
const forOneCaller = 'private, no-cache';

/** Mounts an operation: door, body, caller again, validation, handler, serialisation. */
export function mount(server: FastifyInstance, { operation, run }: Bound, mounting: Mounting): void {
  /** Callers whose request was complete, body included, before the caller was resolved. GET has no body. */
  const settled = new WeakMap<FastifyRequest, Caller>();
  server.route({
    method: operation.method,
    url: routePath(operation.path),
    schema: { response: jsonSchemas(operation) },
    ...(operation.raw === undefined ? {} : { bodyLimit: operation.raw.maxBytes }),
    // HTTP-30: the door is checked before the body is read, so that refused callers do not upload.
    onRequest: async (request, reply) => {
      reply.header('cache-control', forOneCaller);
      if (operation.unlisted === true) reply.headers(unlistedHeaders);
      // A body that was sent with the head is parsed in this turn of the event loop; when it is complete before the
      // credential is read, the caller needs no second check.
      if (hasBody(request.raw)) await nextTurn();
      const isComplete = operation.method === 'GET' || request.raw.complete;
      const caller = await mounting.enter(operation, request);
      if (isComplete) settled.set(request, caller);
      if (operation.raw !== undefined || isForm(request.raw) || isFilePart(request.raw)) {
        const ref = caller.kind === 'user' ? caller.ref : null;
        mounting.uploads.begin(reply.raw, clientAddress(request), ref);
      }
      const type = request.headers['content-type'] ?? '';
      if (operation.raw !== undefined && /^application\/json/i.test(type))
        throw refuse(415, 'unsupported content type');
    },
    handler: async (request, reply) => {
      const confirm = async () => {
        const caller = settled.get(request) ?? (await mounting.confirm(operation, request));
        const renewal = mounting.renewalOf(request);
        if (renewal !== null) mounting.sendCookie(reply, renewal);
        return caller;
      };
      await mounting.countWithBody(operation, request);
      const http = factsOf(request, reply, mounting.streams);
      const answer = await run(mounting.deps, request, http, confirm);
      reply.code(answer.status);
      if (answer.headers !== undefined) reply.headers(answer.headers);
      if (answer.cookie !== undefined) mounting.sendCookie(reply, answer.cookie);
      if (answer.scopedCookie !== undefined) mounting.sendCookie(reply, answer.scopedCookie);
      // For HEAD, the framework would read a stream to its end and discard the bytes.
      if (request.method === 'HEAD' && answer.body instanceof Readable) {
        answer.body.destroy();
        return reply.send(Readable.from([]));
      }
      return reply.send(answer.body ?? undefined);
    },
  });
}
