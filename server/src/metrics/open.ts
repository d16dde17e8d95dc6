import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { type Collect, countRequests } from '../platform/http/metrics.ts';
import { openLibraryGauges } from './library.ts';
import { openProcessRegistry } from './process.ts';
import { collectOthers, reportToParent } from './siblings.ts';

/**
 * Counts the requests of a server, and returns what collects all metrics of this library on this machine; null, at no
 * cost, unless a token for them is configured. Call it before routes are added. `hasSiblings`: other processes serve the
 * same port, and their parent collects their figures.
 */
export async function openMetrics(
  server: FastifyInstance,
  deps: Deps,
  hasSiblings: boolean,
): Promise<Collect | null> {
  if (deps.config.metricsToken === null) return null;
  const { AggregatorRegistry } = await import('prom-client');
  const registry = await openProcessRegistry(deps);
  await countRequests(server, registry);
  const library = await openLibraryGauges(deps);
  if (hasSiblings) reportToParent(registry);
  return async () => {
    const [others] = await Promise.all([hasSiblings ? collectOthers() : [], library.read()]);
    const own = await Promise.all([registry.getMetricsAsJSON(), library.registry.getMetricsAsJSON()]);
    const all = AggregatorRegistry.aggregate([...own, ...others]);
    return { contentType: registry.contentType, text: await all.metrics() };
  };
}
