import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { refuseMethods } from './methods.ts';
import { notFound, refuse } from './refuse.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that a route serves, as metrics name it. */
    operation?: string;
  }
}

/** Seconds; a feed page takes some tens of milliseconds, an upload minutes. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Counts requests and their durations by operation, never by address: the number of addresses has no bound. */
export async function countRequests(server: FastifyInstance, registry: Registry): Promise<void> {
  const { Counter, Gauge, Histogram } = await import('prom-client');
  const durations = new Histogram({
    name: 'vitrine_request_duration_seconds',
    help: 'Duration of requests by operation, method and status',
    labelNames: ['operation', 'method', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const running = new Gauge({
    name: 'vitrine_requests_running',
    help: 'Requests in progress, event streams included',
    registers: [registry],
  });
  const received = new Counter({
    name: 'vitrine_received_bytes_total',
    help: 'Bytes that clients sent, by operation: uploads, and the heads of all requests',
    labelNames: ['operation'],
    registers: [registry],
  });
  /** The bytes of earlier requests, by connection. */
  const counted = new WeakMap<Socket, number>();
  server.addHook('onRequest', async (request, reply) => {
    running.inc();
    const { socket } = request.raw;
    reply.raw.once('close', () => {
      running.dec();
      const operation = request.routeOptions.config.operation ?? 'other';
      received.inc({ operation }, socket.bytesRead - (counted.get(socket) ?? 0));
      counted.set(socket, socket.bytesRead);
    });
  });
  server.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? 'other';
    durations.observe(
      { operation, method: request.method, status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
  });
}

/** Returns all metrics as text. */
export type Collect = () => Promise<{ contentType: string; text: string }>;

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * `GET /metrics` in the format of Prometheus, for the holder of the configured token alone (RUN-22); 404 without a
 * token. Requests at the same time share one collection.
 */
export function serveMetrics(server: FastifyInstance, token: string | null, collect: Collect | null): void {
  let collecting: ReturnType<Collect> | null = null;
  server.get('/metrics', async (request, reply) => {
    if (token === null || collect === null) throw notFound();
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), digest(token)))
      throw refuse('metrics-token-required', {}, { 'www-authenticate': 'Bearer' });
    collecting ??= collect().finally(() => {
      collecting = null;
    });
    const { contentType, text } = await collecting;
    return reply.header('cache-control', 'no-store').type(contentType).send(text);
  });
  refuseMethods(server, '/metrics', ['GET']);
}
