import type { Registry } from 'prom-client';
import type { Deps } from '../../core/deps.ts';
import { decoderKinds } from '../../media/decoding/kinds.ts';
import type { PoolActivity } from '../../platform/database/activity.ts';
import type { ObserveJob } from '../../platform/jobs/worker.ts';

/** The metrics of this process. */
export interface ProcessMetrics {
  registry: Registry;
  observeJob: ObserveJob;
}

/** Seconds; most statements take less than a millisecond. */
const STATEMENT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
/** Seconds; a notification takes milliseconds, the streams of a film an hour. */
const JOB_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200];

/** The first words of statements that are counted separately. */
const verbs = new Set(['select', 'with', 'insert', 'update', 'delete', 'begin', 'commit', 'rollback']);

/** Returns the kind of a statement as a label with few values. */
function verbOf(text: string): string {
  const word = /\w+/.exec(text)?.[0].toLowerCase() ?? '';
  return verbs.has(word) ? word : 'other';
}

/**
 * Opens the metrics of this process: memory, processor time, event loop, its decoders, connections, statements and
 * jobs. They carry its id, so that a counter never falls when one of several processes is replaced.
 */
export async function openProcessMetrics(
  { decoders }: Pick<Deps, 'decoders'>,
  activity: PoolActivity | null,
): Promise<ProcessMetrics> {
  const { collectDefaultMetrics, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  registry.setDefaultLabels({ process: String(process.pid) });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'vitrine_decoders',
    help: 'Running decoder processes by kind',
    labelNames: ['kind'],
    registers,
    collect() {
      // The keys of a constant object are its kinds.
      for (const kind of Object.keys(decoderKinds) as (keyof typeof decoderKinds)[])
        this.set({ kind }, decoders.pids(kind).length);
    },
  });
  const jobs = new Histogram({
    name: 'vitrine_job_duration_seconds',
    help: 'Duration of jobs by kind and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: JOB_BUCKETS,
    registers,
  });
  if (activity !== null) {
    new Gauge({
      name: 'vitrine_database_connections',
      help: 'Connections to the database by state: used, idle, or not opened yet',
      labelNames: ['state'],
      registers,
      collect() {
        const { open, idle, most } = activity.connections();
        this.set({ state: 'used' }, open - idle);
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'unopened' }, most - open);
      },
    });
    new Gauge({
      name: 'vitrine_database_waiting',
      help: 'Statements and transactions that wait for a connection',
      registers,
      collect() {
        this.set(activity.connections().waiting);
      },
    });
    const statements = new Histogram({
      name: 'vitrine_statement_duration_seconds',
      help: 'Duration of statements by what they do, without waiting for a connection',
      labelNames: ['statement'],
      buckets: STATEMENT_BUCKETS,
      registers,
    });
    activity.observe = (text, seconds) => statements.observe({ statement: verbOf(text) }, seconds);
  }
  return {
    registry,
    observeJob: (kind, seconds, failed) =>
      jobs.observe({ kind, outcome: failed ? 'failed' : 'done' }, seconds),
  };
}
