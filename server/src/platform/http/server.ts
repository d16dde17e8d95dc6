import cookie from '@fastify/cookie';
import multipart from '@fastify/multipart';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import compileWriter from 'fast-json-stringify';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { ScopedCookie, SessionCookie } from './answer.ts';
import { type Bound, type Mounting, mount, routePath } from './bind.ts';
import { clientAddress } from './client-address.ts';
import { limitConnections } from './concurrency.ts';
import { type Departure, departInOrder } from './departure.ts';
import { refuseMethods } from './methods.ts';
import { refuse } from './refuse.ts';
import { brokenRequestAnswer, renderErrors, sendFault } from './render-error.ts';
import { responseWith, securityHeaders } from './security-headers.ts';
import { boundSlowRequests, isHalfSent, type Timeouts } from './slow-requests.ts';

export interface HttpOptions {
  logLevel: string;
  /** Whether browsers are told to come by https alone; for an address of the environment, which is not mistyped. */
  strictTransport: boolean;
  maxFileBytes: number;
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-*` headers count. */
  trustedProxies: readonly string[];
  departure: Departure;
  /** How long requests under way may take to finish when the server closes. */
  stopWithinMs: number;
  /** Open connections of one address, trusted proxies aside. */
  connectionsPerAddress: number;
  timeouts: Timeouts;
}

/** An address for the log: without its query, and without segments that look like the token of a share link. */
function withoutSecrets(url: string): string {
  return (url.split('?')[0] ?? '').replace(/(?<=\/)[A-Za-z0-9]{32}(?=\/|$)/g, '***');
}

/** HTTP-15: JSON bodies. */
const JSON_BYTES = 1024 * 1024;

/** Writes answers by their schema. The writer is compiled with the first answer: all at once would hold up the start. */
function writerOf({ schema }: { schema: object }): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined;
  return (answer) => {
    write ??= compileWriter(schema);
    return write(answer);
  };
}

/** A bare server with what every part of ours relies on: errors, cookies, forms, limits, safe headers. */
export async function openServer(options: HttpOptions): Promise<FastifyInstance> {
  const { timeouts } = options;
  const headers = securityHeaders(options.strictTransport);
  const slow = boundSlowRequests(timeouts);
  const server = Fastify({
    http: {
      ServerResponse: responseWith(headers, slow.watch),
      headersTimeout: timeouts.headMs,
      // Bodies are timed by what they are (slow-requests.ts): no one limit suits JSON and 20 GiB.
      requestTimeout: 0,
      connectionsCheckingInterval: timeouts.headMs / 4,
    },
    logger: {
      level: options.logLevel,
      // No headers either: no token or search ends up in a log.
      serializers: {
        req: (request) => ({
          method: request.method,
          path: withoutSecrets(request.url),
          address: clientAddress(request),
        }),
      },
    },
    trustProxy: options.trustedProxies.length > 0 && [...options.trustedProxies],
    bodyLimit: JSON_BYTES,
    genReqId: () => crypto.randomUUID(),
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    // A request that still comes while the server closes is answered like any other (departure.ts).
    return503OnClosing: false,
    // Addresses that cannot be read at all never reach a handler.
    frameworkErrors: sendFault,
    clientErrorHandler: brokenRequestAnswer(headers, timeouts.lingerMs),
  });
  const { connectionsPerAddress, trustedProxies } = options;
  const checkConnection = limitConnections(server.server, connectionsPerAddress, trustedProxies);
  server.addHook('onRequest', async ({ raw }) => {
    slow.check(raw);
    checkConnection(raw);
  });
  server.addHook('preParsing', async ({ raw }) => slow.check(raw));
  renderErrors(server);
  server.setSerializerCompiler(writerOf);
  departInOrder(server, options.departure, options.stopWithinMs);
  server.removeAllContentTypeParsers();
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else
      parseJson(request, String(body), (error, value) =>
        done(error === null ? null : refuse(400, 'malformed JSON'), value),
      );
  });
  // For mail programs that post a form (RFC 8058); an operation that does not take one says so.
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 10_000 },
    (_, body, done) => done(null, new URLSearchParams(String(body))),
  );
  // Bytes as they are: for the few operations that take them, which look at what they are themselves.
  server.addContentTypeParser(
    /^(image\/|application\/octet-stream)/,
    { parseAs: 'buffer' },
    (_, body, done) => {
      done(null, body);
    },
  );
  // Parts of files stay unread here: their operations stream them (UPLOAD-9).
  server.addContentTypeParser('application/offset+octet-stream', (_request, _body, done) => {
    done(null, undefined);
  });
  server.addHook('onSend', async (request, reply) => {
    if (isHalfSent(request.raw)) reply.header('connection', 'close');
    reply.header('x-request-id', request.id);
  });
  await server.register(cookie);
  await server.register(multipart, {
    limits: { fileSize: options.maxFileBytes, files: 2, fields: 100, fieldSize: JSON_BYTES, parts: 110 },
    throwFileSizeLimit: true,
  });
  return server;
}

/** Sets or takes away the session cookie (SIGNIN-1), or sets another for one path. */
export function sendCookie(reply: FastifyReply, sent: SessionCookie | ScopedCookie, secure: boolean): void {
  if ('path' in sent) {
    const { name, value, path, maxAgeSeconds: maxAge } = sent;
    reply.setCookie(name, value, { path, httpOnly: true, sameSite: 'lax', secure, maxAge });
    return;
  }
  const base = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  if (sent.token === null) reply.clearCookie('user', base);
  else reply.setCookie('user', sent.token, { ...base, maxAge: sent.maxAgeSeconds });
}

/** Mounts every operation under the base path. */
export function mountOperations(server: FastifyInstance, bound: readonly Bound[], mounting: Mounting): void {
  for (const one of bound) mount(server, one, mounting);
  const all: readonly Operation[] = Object.values(operations);
  const paths = Map.groupBy(all, (operation) => operation.path);
  for (const [path, its] of paths)
    refuseMethods(
      server,
      routePath(path),
      its.flatMap((one) => (one.tus === true ? [one.method, 'OPTIONS' as const] : [one.method])),
    );
}
