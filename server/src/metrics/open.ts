import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import type { PoolActivity } from '../platform/database/activity.ts';
import type { EventStreams } from '../platform/http/event-streams.ts';
import { type Collect, countRequests } from '../platform/http/metrics.ts';
import { openLibraryGauges } from './library.ts';
import { openProcessMetrics, type ProcessMetrics } from './process.ts';
import { collectOthers, reportToParent } from './siblings.ts';

/** The metrics of a serving process. */
export interface ServiceMetrics extends ProcessMetrics {
  /** Returns all metrics of this library on this machine. */
  collect: Collect;
  /** Reports the number of open event streams. */
  count(streams: EventStreams): void;
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
  const { AggregatorRegistry, Gauge } = await import('prom-client');
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
