import type { FastifyInstance } from 'fastify';
import { secretsOf } from '../core/config/known-secrets.ts';
import type { Deps } from '../core/deps.ts';
import { openMetrics, type ServiceMetrics } from '../operate/metrics/open.ts';
import type { PoolActivity } from '../platform/database/activity.ts';
import { serveHealth } from '../platform/http/health.ts';
import { serveMetrics } from '../platform/http/metrics.ts';
import { openServer } from '../platform/http/server.ts';
import { usualTimeouts } from '../platform/http/slow-requests.ts';

export interface WorkerStatus {
  server: FastifyInstance;
  /** Null unless a token for metrics is configured. */
  metrics: ServiceMetrics | null;
  /** Announces that the process is about to stop: readiness fails. */
  announceStop(): void;
}

/** Creates the server of a process that only runs jobs: `/healthz`, `/readyz` and `/metrics`, and nothing else (RUN-29). */
export async function openWorkerStatus(
  deps: Deps,
  { activity, traces }: { activity: PoolActivity | null; traces: 'on' | 'off' },
): Promise<WorkerStatus> {
  const { config } = deps;
  const stop = { announced: false };
  const server = await openServer({
    logLevel: config.logLevel,
    secrets: secretsOf(config),
    strictTransport: false,
    maxFileBytes: config.maxFileBytes,
    trustedProxies: config.trustedProxies,
    stop,
    tracing: null,
    stopWithinMs: config.stopSeconds * 1000,
    connectionsPerAddress: config.concurrency.connectionsPerAddress,
    timeouts: usualTimeouts,
  });
  const metrics = await openMetrics(server, deps, activity, false);
  serveHealth(server, { ...deps, replica: null }, stop, { metrics: metrics === null ? 'off' : 'on', traces });
  serveMetrics(server, config.metricsToken, metrics?.collect ?? null);
  return {
    server,
    metrics,
    announceStop() {
      stop.announced = true;
    },
  };
}
