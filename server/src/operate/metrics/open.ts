import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../core/deps.ts';
import { type ReplicaReads, readServers } from '../../core/replica-reads.ts';
import type { PoolActivity } from '../../platform/database/activity.ts';
import type { EventStreams } from '../../platform/http/event-streams.ts';
import { type Collect, countRequests } from '../../platform/http/metrics.ts';
import { openLibraryGauges } from './library.ts';
import { openProcessMetrics, type ProcessMetrics } from './process.ts';
import { collectOthers, reportToParent } from './siblings.ts';

/** The metrics of a serving process. */
export interface ServiceMetrics extends ProcessMetrics {
  /** Returns all metrics of this library on this machine. */
  collect: Collect;
  /** Reports the number of open event streams. */
  count(streams: EventStreams): void;
  /** Reports the lag of the replica, and which server answers the reads that it may serve. */
  observeReads(reads: ReplicaReads): void;
}

/**
 * Counts the requests of a server and opens all other metrics; returns null, at no cost, unless a metrics token is
 * configured. Call it before routes are added. `hasSiblings`: other processes serve the same port, and their parent
 * collects their figures.
 */
export async function openMetrics(
  server: FastifyInstance,
  deps: Deps,
  activity: PoolActivity | null,
  hasSiblings: boolean,
): Promise<ServiceMetrics | null> {
  if (deps.config.metricsToken === null) return null;
  const { AggregatorRegistry, Counter, Gauge } = await import('prom-client');
  const metrics = await openProcessMetrics(deps, activity);
  const { registry } = metrics;
  await countRequests(server, registry);
  const library = await openLibraryGauges(deps);
  if (hasSiblings) reportToParent(registry);
  return {
    ...metrics,
    async collect() {
      const [others] = await Promise.all([hasSiblings ? collectOthers() : [], library.read()]);
      const own = await Promise.all([registry.getMetricsAsJSON(), library.registry.getMetricsAsJSON()]);
      const all = AggregatorRegistry.aggregate([...own, ...others]);
      return { contentType: registry.contentType, text: await all.metrics() };
    },
    observeReads(reads) {
      new Gauge({
        name: 'vitrine_replica_lag_seconds',
        help: "Age of the primary's state that the replica is known to have",
        registers: [registry],
        collect() {
          this.set(reads.state().lagSeconds);
        },
      });
      const counter = new Counter({
        name: 'vitrine_replica_reads_total',
        help: 'Reads that a replica may serve by the server that answered: repeated ones failed on the replica',
        labelNames: ['server'],
        registers: [registry],
      });
      for (const server of readServers) counter.inc({ server }, 0);
      reads.observe = (server) => counter.inc({ server });
    },
    count(streams) {
      new Gauge({
        name: 'vitrine_event_streams',
        help: 'Open event streams',
        registers: [registry],
        collect() {
          this.set(streams.count());
        },
      });
    },
  };
}
