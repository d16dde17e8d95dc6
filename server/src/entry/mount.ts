import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isPlain, type Operation } from '@vitrine/contract/operation';
import { basePath, operations } from '@vitrine/contract/operations';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { Deps } from '../core/deps.ts';
import type { BoundOperation, HttpFacts } from '../core/handle.ts';
import type { ReplicaReads } from '../core/replica-reads.ts';
import { InactiveAccount } from '../people/identity/authenticate.ts';
import { JsonText, type ScopedCookie, type SessionCookie } from '../platform/http/answer.ts';
import { clientAddress } from '../platform/http/client-address.ts';
import type { UploadLimits } from '../platform/http/concurrency.ts';
import type { EventStreams } from '../platform/http/event-streams.ts';
import { refuseOtherMethods } from '../platform/http/methods.ts';
import { pageLanguage } from '../platform/http/page-language.ts';
import { refuse } from '../platform/http/refuse.ts';
import { unlistedHeaders } from '../platform/http/security-headers.ts';
import { hasBody, isFilePart, isForm } from '../platform/http/slow-requests.ts';
import { activeSpan } from '../platform/tracing/active-span.ts';
import { errorHandlerOf } from './undeclared-codes.ts';

export interface Mounting {
  deps: Deps;
  /** Null without a replica. */
  reads: ReplicaReads | null;
  streams: EventStreams;
  uploads: UploadLimits;
  /** Resolves the caller and checks the operation's door; throws when the caller may not enter. */
  enter(operation: Operation, request: FastifyRequest): Promise<Caller>;
  /**
   * Resolves the caller again once the body is complete; throws when the caller may no longer enter. Spends no
   * budget.
   */
  confirm(operation: Operation, request: FastifyRequest): Promise<Caller>;
  sendCookie(reply: FastifyReply, cookie: SessionCookie | ScopedCookie): void;
  /** The position that a replica must have replayed; undefined when no replica may serve the request. */
  lastWriteOf(request: FastifyRequest): string | null | undefined;
  /** Renews the caller's cookie when this request extended the session. */
  renewalOf(request: FastifyRequest): SessionCookie | null;
  /** Spends the budgets that depend on the body; throws when one is exhausted. */
  countWithBody(operation: Operation, request: FastifyRequest): Promise<void>;
}

/** Returns the path of an operation in the router's syntax. */
function routePath(path: string): string {
  return basePath + path.replace(/\{(\w+)\}/g, ':$1');
}

function factsOf(request: FastifyRequest, reply: FastifyReply, streams: EventStreams): HttpFacts {
  return {
    address: clientAddress(request),
    isHead: request.method === 'HEAD',
    ownOrigin: `${request.protocol}://${request.host}`,
    search: /\?.*$/.exec(request.url)?.[0] ?? '',
    userAgent: request.headers['user-agent']?.slice(0, 500) ?? '',
    language: () => pageLanguage(request),
    cookieToken: request.cookies.user ?? null,
    cookie: (name) => request.cookies[name] ?? null,
    header: (name) => [request.headers[name] ?? []].flat()[0],
    raw: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    openEvents: (accountRef, look, topic) =>
      streams.open(accountRef ?? clientAddress(request), look, reply.raw, topic),
  };
}

function jsonSchemas(operation: Operation): Record<string, unknown> {
  const schemas = Object.entries(operation.responses).filter(([, body]) => !isPlain(body));
  return Object.fromEntries(schemas);
}

function bodyLimitOf({ raw, postedForm }: Operation): { bodyLimit?: number } {
  const bodyLimit = raw?.maxBytes ?? postedForm?.maxBytes;
  return bodyLimit === undefined ? {} : { bodyLimit };
}

/**
 * HTTP-20: responses depend on the caller, so shared caches may not store them unless the response says otherwise.
 */
const forOneCaller = 'private, no-cache';

/** Resolves a caller, and clears the session cookie of an account that is not active (SESSION-5). */
async function orClearCookie(reply: FastifyReply, { sendCookie }: Mounting, caller: Promise<Caller>) {
  return caller.catch((error: unknown) => {
    if (error instanceof InactiveAccount) sendCookie(reply, { token: null, maxAgeSeconds: 0 });
    throw error;
  });
}

/**
 * Mounts an operation. Checks the door, reads the body, resolves the caller again, validates, runs the handler and
 * serialises its answer.
 */
function mount(server: FastifyInstance, { operation, run }: BoundOperation, mounting: Mounting): void {
  /** Callers whose request, including the body, was complete before they were resolved. GET has no body. */
  const enteredCallers = new WeakMap<FastifyRequest, Caller>();
  server.route({
    method: operation.method,
    url: routePath(operation.path),
    config: { operation: operation.id },
    errorHandler: errorHandlerOf(operation),
    schema: { response: jsonSchemas(operation) },
    ...bodyLimitOf(operation),
    // HTTP-30: checks the door before the body is read, so that refused callers do not upload.
    onRequest: async (request, reply) => {
      reply.header('cache-control', forOneCaller);
      if (operation.unlisted === true) reply.headers(unlistedHeaders);
      // A body sent together with the head is parsed in this turn of the event loop. If it is complete before the
      // credential is read, the caller needs no second check.
      if (hasBody(request.raw)) await nextTurn();
      const isComplete = operation.method === 'GET' || request.raw.complete;
      const caller = await orClearCookie(reply, mounting, mounting.enter(operation, request));
      activeSpan.getStore()?.set({ 'vitrine.caller': caller.kind });
      if (isComplete) enteredCallers.set(request, caller);
      if (operation.raw !== undefined || isForm(request.raw) || isFilePart(request.raw)) {
        const ref = caller.kind === 'user' ? caller.ref : null;
        mounting.uploads.begin(reply.raw, clientAddress(request), ref);
      }
      const type = request.headers['content-type'] ?? '';
      if (operation.raw !== undefined && /^(application\/json|multipart\/)/i.test(type))
        throw refuse('unsupported-content-type');
    },
    handler: async (request, reply) => {
      const last: { caller: Caller | null } = { caller: null };
      // Asks again each time: a handler that has received bytes for long checks its caller once more (HTTP-29).
      const confirm = async () => {
        const caller =
          enteredCallers.get(request) ??
          (await orClearCookie(reply, mounting, mounting.confirm(operation, request)));
        last.caller = caller;
        const renewal = mounting.renewalOf(request);
        if (renewal !== null) mounting.sendCookie(reply, renewal);
        return caller;
      };
      await mounting.countWithBody(operation, request);
      const http = factsOf(request, reply, mounting.streams);
      const { reads, deps } = mounting;
      const runWith = (given: Deps) => run(given, request, http, confirm);
      const answer =
        reads !== null && operation.replica === true
          ? await reads.read(operation, mounting.lastWriteOf(request), runWith)
          : await runWith(deps);
      if (reads !== null && operation.method !== 'GET')
        await reads.recordWrite(operation, last.caller ?? (await confirm()));
      reply.code(answer.status);
      if (answer.headers !== undefined) reply.headers(answer.headers);
      if (answer.cookie !== undefined) mounting.sendCookie(reply, answer.cookie);
      if (answer.scopedCookie !== undefined) mounting.sendCookie(reply, answer.scopedCookie);
      // For HEAD, the framework would read a stream to its end and discard the bytes.
      if (request.method === 'HEAD' && answer.body instanceof Readable) {
        answer.body.destroy();
        return reply.send(Readable.from([]));
      }
      if (answer.body instanceof JsonText) {
        const { text } = answer.body;
        return reply
          .header('content-type', 'application/json; charset=utf-8')
          .send(typeof text === 'string' ? text : Readable.from(text, { objectMode: false }));
      }
      return reply.send(answer.body ?? undefined);
    },
  });
}

/** Mounts operations that take raw bytes of any other content type, or of none, and validate the content themselves. */
function mountRaw(server: FastifyInstance, bound: readonly BoundOperation[], mounting: Mounting): void {
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    for (const operation of bound) mount(scope, operation, mounting);
  });
}

/** Mounts every operation under the base path. */
export function mountOperations(
  server: FastifyInstance,
  bound: readonly BoundOperation[],
  mounting: Mounting,
): void {
  const isRaw = ({ operation }: BoundOperation) => operation.raw !== undefined;
  for (const operation of bound) if (!isRaw(operation)) mount(server, operation, mounting);
  mountRaw(server, bound.filter(isRaw), mounting);
  const all: readonly Operation[] = Object.values(operations);
  const paths = Map.groupBy(all, (operation) => operation.path);
  refuseOtherMethods(
    server,
    Array.from(paths, ([path, atPath]) => ({
      url: routePath(path),
      methods: atPath.flatMap((operation) =>
        operation.tus === true ? [operation.method, 'OPTIONS' as const] : [operation.method],
      ),
    })),
  );
}
