import type { Registry } from 'prom-client';
import type { Deps } from '../deps.ts';
import { decoderKinds } from '../media/decoding/kinds.ts';

/**
 * Opens the metrics of this process: memory, processor time, event loop, and the decoders that it runs. They carry its id,
 * so that a counter never falls when one of several processes is replaced.
 */
export async function openProcessRegistry({ decoders }: Pick<Deps, 'decoders'>): Promise<Registry> {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  registry.setDefaultLabels({ process: String(process.pid) });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'vitrine_decoders',
    help: 'Running decoder processes by kind',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      // The keys of a constant object are its kinds.
      for (const kind of Object.keys(decoderKinds) as (keyof typeof decoderKinds)[])
        this.set({ kind }, decoders.pids(kind).length);
    },
  });
  return registry;
}
