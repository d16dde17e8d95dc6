import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { type Collect, countRequests } from '../platform/http/metrics.ts';
import { addLibraryGauges } from './library.ts';
import { openProcessRegistry } from './process.ts';
import { collectOthers, reportToParent } from './siblings.ts';

/**
 * Counts the requests of a server, and returns what collects all metrics of this library on this machine; null, at no
 * cost, unless a token for them is configured. Call it before routes are added.
 */
export async function openMetrics(server: FastifyInstance, deps: Deps): Promise<Collect | null> {
  if (deps.config.metricsToken === null) return null;
  const { AggregatorRegistry } = await import('prom-client');
  const registry = await openProcessRegistry(deps);
  await countRequests(server, registry);
  const readFigures = await addLibraryGauges(registry, deps);
  reportToParent(registry);
  return async () => {
    const [others] = await Promise.all([collectOthers(), readFigures()]);
    const own = await registry.getMetricsAsJSON();
    const all = others.length === 0 ? registry : AggregatorRegistry.aggregate([own, ...others]);
    return { contentType: registry.contentType, text: await all.metrics() };
  };
}
