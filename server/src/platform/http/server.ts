import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import { operations } from '@vitrine/contract/operations';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { SessionCookie } from './answer.ts';
import { type Bound, type Mounting, mount, routePath } from './bind.ts';
import { refuseMethods } from './methods.ts';
import { refuse } from './refuse.ts';
import { renderErrors, sendFault } from './render-error.ts';

export interface HttpOptions {
  logLevel: string;
  /** Whether the session cookie is only sent over https. */
  secureCookie: boolean;
  maxFileBytes: number;
  rateLimits: boolean;
  /** Who a request counts for: an account, or an address. */
  rateKey(request: { ip: string; cookies: Record<string, string | undefined> }): string;
}

const STOP_WITHIN_MS = 3000;

/** choices, general: JSON bodies. */
const JSON_BYTES = 1024 * 1024;

/** choices, rate limits: requests a minute of one caller and of one anonymous address. */
const CALLER_LIMIT = 600;
const ANONYMOUS_LIMIT = 120;
/** A page of the feed loads some fifty pictures, so bytes have a budget of their own. */
const BYTES_FACTOR = 10;

/** A bare server with what every part of ours relies on: errors, cookies, forms, limits, safe headers. */
export async function openServer(options: HttpOptions): Promise<FastifyInstance> {
  const server = Fastify({
    logger: {
      level: options.logLevel,
      // Addresses without their query, and no headers: no token or search ends up in a log.
      serializers: {
        req: (request) => ({ method: request.method, path: request.url.split('?')[0], address: request.ip }),
      },
    },
    bodyLimit: JSON_BYTES,
    genReqId: () => crypto.randomUUID(),
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    return503OnClosing: true,
    // Addresses that cannot be read at all never reach a handler.
    frameworkErrors: sendFault,
  });
  renderErrors(server);
  // Requests under way may finish; one that hangs holds up the stop for no longer than this.
  server.addHook('preClose', async () => {
    setTimeout(() => server.server.closeAllConnections(), STOP_WITHIN_MS).unref();
  });
  server.removeAllContentTypeParsers();
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else
      parseJson(request, String(body), (error, value) =>
        done(error === null ? null : refuse(400, 'malformed JSON'), value),
      );
  });
  server.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  await server.register(cookie);
  await server.register(helmet, {
    // Pages carry their own policy (the web app's build writes it); what the API answers is never a page.
    contentSecurityPolicy: false,
    strictTransportSecurity: options.secureCookie,
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'same-origin' },
  });
  await server.register(multipart, {
    limits: { fileSize: options.maxFileBytes, files: 2, fields: 100, fieldSize: JSON_BYTES, parts: 110 },
    throwFileSizeLimit: true,
  });
  if (options.rateLimits) {
    await server.register(rateLimit, {
      global: false,
      keyGenerator: (request) => options.rateKey({ ip: request.ip, cookies: request.cookies }),
      errorResponseBuilder: (_, context) =>
        refuse(429, 'too many requests', { 'retry-after': String(Math.ceil(context.ttl / 1000)) }),
    });
  }
  return server;
}

/** The limit of an operation: sign-in by address and name is its own, bytes are counted apart (choices). */
export function limitOf(operation: { id: string; responses: object }): Record<string, unknown> {
  if (operation.id === 'login') {
    return { max: 10, timeWindow: 60_000, hook: 'preHandler', groupId: 'sign-in', keyGenerator: signInKey };
  }
  const isBytes = operation.id === 'getAssetFile' || operation.id === 'getAssetVariant';
  const factor = isBytes ? BYTES_FACTOR : 1;
  return {
    max: (_request: unknown, key: string) =>
      factor * (key.startsWith('caller ') ? CALLER_LIMIT : ANONYMOUS_LIMIT),
    timeWindow: 60_000,
    groupId: isBytes ? 'bytes' : 'all',
  };
}

function signInKey(request: { ip: string; body?: unknown }): string {
  const { body } = request;
  const name = typeof body === 'object' && body !== null && 'username' in body ? String(body.username) : '';
  return `sign-in ${request.ip} ${name.toLowerCase().slice(0, 500)}`;
}

/** Sets or takes away the session cookie (choices, sign-in). */
export function sendCookie(reply: FastifyReply, sent: SessionCookie, secure: boolean): void {
  const base = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  if (sent.token === null) reply.clearCookie('user', base);
  else reply.setCookie('user', sent.token, { ...base, maxAge: sent.maxAgeSeconds });
}

/** Mounts every operation under the base path. */
export function mountOperations(server: FastifyInstance, bound: readonly Bound[], mounting: Mounting): void {
  for (const one of bound) mount(server, one, mounting);
  const paths = Map.groupBy(Object.values(operations), (operation) => operation.path);
  for (const [path, its] of paths)
    refuseMethods(
      server,
      routePath(path),
      its.map((operation) => operation.method),
    );
}
