import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type ActiveSpan, activeSpan } from '../tracing/active-span.ts';
import type { Tracing } from '../tracing/open.ts';
import { addressList } from './concurrency.ts';

/** What traces the requests of a server. */
export interface RequestTracing {
  /** Starts the span of a request, and gives all its log lines the ids of the span. */
  childLoggerFactory: FastifyInstance['childLoggerFactory'];
  /** Adds the hook. Call it before adding other hooks, so that their statements are part of the request's span. */
  follow(server: FastifyInstance): void;
}

/**
 * Traces each request as a span (RUN-24). `traceparent` counts when the connection is that of a trusted proxy: other clients
 * could add their requests to any trace.
 */
export function traceRequests(tracing: Tracing, trustedProxies: readonly string[]): RequestTracing {
  const isTrusted = addressList(trustedProxies);
  const spans = new WeakMap<IncomingMessage, ActiveSpan>();
  return {
    childLoggerFactory(logger, bindings, options, raw) {
      const { traceparent } = raw.headers;
      const isProxy = isTrusted(raw.socket.remoteAddress ?? '');
      const span = tracing.startRequest(isProxy ? [traceparent ?? []].flat()[0] : undefined);
      spans.set(raw, span);
      return logger.child({ ...bindings, trace_id: span.traceId, span_id: span.spanId }, options);
    },
    follow(server) {
      server.addHook('onRequest', (request, reply, done) => {
        const span = spans.get(request.raw);
        if (span === undefined) return done();
        reply.raw.once('close', () => {
          const { config, url } = request.routeOptions;
          const { statusCode, writableFinished } = reply.raw;
          span.rename(config.operation ?? 'other');
          span.set({
            'http.request.method': request.method,
            'http.response.status_code': statusCode,
            ...(url === undefined ? {} : { 'http.route': url }),
            'vitrine.request_id': request.id,
          });
          if (!writableFinished) span.end('aborted');
          else span.end(statusCode >= 500 ? String(statusCode) : undefined);
        });
        activeSpan.run(span, done);
      });
    },
  };
}
