import cookie from '@fastify/cookie';
import multipart from '@fastify/multipart';
import compileWriter from 'fast-json-stringify';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Tracing } from '../tracing/open.ts';
import type { ScopedCookie, SessionCookie } from './answer.ts';
import { byLiteral } from './by-literal.ts';
import { clientAddress } from './client-address.ts';
import { compressResponses } from './compress.ts';
import { limitConnections } from './concurrency.ts';
import { type StopState, stopGracefully } from './graceful-stop.ts';
import { safeLogForm, withoutSecrets } from './log-entries.ts';
import { refuse } from './refuse.ts';
import { brokenRequestAnswer, renderErrors, sendFault } from './render-error.ts';
import { responseWith, securityHeaders } from './security-headers.ts';
import { boundSlowRequests, isHalfSent, type Timeouts } from './slow-requests.ts';
import { traceRequests } from './trace-requests.ts';
import { openUnread } from './unread.ts';

export interface HttpOptions {
  logLevel: string;
  /** Secrets of the settings, which no line of the log contains. */
  secrets: readonly string[];
  /** Whether to send HSTS: only for an address from the environment, which is deliberate. */
  strictTransport: boolean;
  maxFileBytes: number;
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-*` headers count. */
  trustedProxies: readonly string[];
  stop: StopState;
  /** Null: requests are not traced. */
  tracing: Tracing | null;
  /** How long requests in progress may take to finish when the server closes. */
  stopWithinMs: number;
  /** Open connections per address, except trusted proxies. */
  connectionsPerAddress: number;
  timeouts: Timeouts;
}

/**
 * Returns the path and query of a request's target. A target may also be an absolute address (RFC 9112, 3.2.2), whose
 * host is ignored (HTTP-41).
 */
function withoutHost(target: string): string {
  const rest = /^https?:\/\/[^/?#]+(.*)$/i.exec(target)?.[1];
  if (rest === undefined) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** HTTP-15: JSON bodies. */
const JSON_BYTES = 1024 * 1024;

/** Compiled writers by schema: every server of the process shares the contract's schemas. */
const writers = new WeakMap<object, (answer: unknown) => string>();

/**
 * Serialises responses by their schema. Compiled with the first response: compiling all of them would slow the start.
 */
function writerOf({ schema }: { schema: object }): (answer: unknown) => string {
  return (answer) => {
    let write = writers.get(schema);
    if (write === undefined) {
      write = compileWriter(byLiteral({ ...schema }));
      writers.set(schema, write);
    }
    return write(answer);
  };
}

/** Creates a server without routes: errors, cookies, forms, limits, security headers. */
export async function openServer(options: HttpOptions): Promise<FastifyInstance> {
  const { timeouts } = options;
  const headers = securityHeaders(options.strictTransport);
  const slow = boundSlowRequests(timeouts);
  const logForm = safeLogForm(options.secrets);
  const traced = options.tracing === null ? null : traceRequests(options.tracing, options.trustedProxies);
  const server = Fastify({
    ...(traced === null ? {} : { childLoggerFactory: traced.childLoggerFactory }),
    http: {
      ServerResponse: responseWith(headers, slow.watch),
      headersTimeout: timeouts.headMs,
      // Time limits of bodies depend on their kind (slow-requests.ts): no single limit suits JSON and 20 GiB.
      requestTimeout: 0,
      connectionsCheckingInterval: timeouts.headMs / 4,
    },
    logger: {
      level: options.logLevel,
      ...logForm,
      serializers: {
        ...logForm.serializers,
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
    // The router accepts absolute targets, but whatever reads the address of a request expects a path.
    rewriteUrl: ({ url }) => withoutHost(url ?? ''),
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    // Requests that arrive while the server closes get a normal response (graceful-stop.ts).
    return503OnClosing: false,
    // Malformed addresses never reach a handler.
    frameworkErrors: sendFault,
    clientErrorHandler: brokenRequestAnswer(headers, timeouts.lingerMs),
  });
  traced?.follow(server);
  const { connectionsPerAddress, trustedProxies } = options;
  const checkConnection = limitConnections(server.server, connectionsPerAddress, trustedProxies);
  server.addHook('onRequest', async ({ raw }, reply) => {
    // Fastify, streams, metrics and traces each listen for the end of a response: a few more than Node expects.
    reply.raw.setMaxListeners(20);
    slow.check(raw);
    checkConnection(raw);
  });
  const unread = openUnread();
  server.addHook('onRequest', unread.countRequest);
  server.addHook('preParsing', async ({ raw }) => slow.check(raw));
  renderErrors(server);
  server.setSerializerCompiler(writerOf);
  stopGracefully(server, options.stop, options.stopWithinMs);
  server.removeAllContentTypeParsers();
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else
      parseJson(request, String(body), (error, value) =>
        done(error === null ? null : refuse('malformed-json'), value),
      );
  });
  // For mail programs that post a form (RFC 8058); operations that do not accept one refuse it.
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 10_000 },
    (_, body, done) => done(null, new URLSearchParams(String(body))),
  );
  // Upload chunks are not read here: their operations stream them (UPLOAD-9).
  server.addContentTypeParser('application/offset+octet-stream', (_request, _body, done) => {
    done(null, undefined);
  });
  server.addHook('onSend', async (request, reply) => {
    if (isHalfSent(request.raw)) reply.header('connection', 'close');
    reply.header('x-request-id', request.id);
  });
  // Counted before the response waits to be compressed, and again as it is sent.
  server.addHook('onSend', unread.countResponse);
  compressResponses(server);
  server.addHook('onSend', unread.countResponse);
  await server.register(cookie);
  await server.register(multipart, {
    limits: { fileSize: options.maxFileBytes, files: 2, fields: 100, fieldSize: JSON_BYTES, parts: 110 },
    throwFileSizeLimit: true,
  });
  return server;
}

/** Sets or removes the session cookie (SIGNIN-1), or a cookie for one path. */
export function sendCookie(reply: FastifyReply, sent: SessionCookie | ScopedCookie, secure: boolean): void {
  if ('path' in sent) {
    const { name, value, path, maxAgeSeconds: maxAge, crossSite = false } = sent;
    // Browsers accept `None` over https only. Without https, a cookie without the attribute is sent for two minutes.
    const sameSite = crossSite ? (secure ? { sameSite: 'none' as const } : {}) : { sameSite: 'lax' as const };
    reply.setCookie(name, value, { path, httpOnly: true, ...sameSite, secure, maxAge });
    return;
  }
  const base = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  if (sent.token === null) reply.clearCookie('user', base);
  else reply.setCookie('user', sent.token, { ...base, maxAge: sent.maxAgeSeconds });
}
