import { availableParallelism } from 'node:os';
import { resumeRerender } from '../content/assets/previews/rerender.ts';
import { watchRoots } from '../content/roots/watch.ts';
import { resumeRewriting } from '../content/search-index/jobs/rewrite.ts';
import type { Deps } from '../core/deps.ts';
import { decodingJobs, forbiddenTurns } from '../media/decoding/turns.ts';
import { countStorageOnce } from '../operate/storage/overview.ts';
import type { OpenDatabase } from '../platform/database/open.ts';
import type { Worker, WorkerOptions } from '../platform/jobs/worker.ts';
import { assignedJobs, jobHandlers } from './jobs.ts';

type Telemetry = Pick<WorkerOptions, 'tracing' | 'observe'>;

/**
 * Returns a function that starts a worker for these kinds of jobs, or for all if null: as many concurrent jobs as cores,
 * in addition to those that decode files. Throws a ConfigError for an unknown kind (RUN-21).
 */
export function prepareWorker(
  deps: Deps,
  database: OpenDatabase,
  kinds: readonly string[] | null,
  telemetry: Telemetry = {},
): () => Promise<Worker> {
  const assigned = assignedJobs(jobHandlers(deps), kinds);
  return async () => {
    await countStorageOnce(deps.db);
    await resumeRerender(deps.db);
    await resumeRewriting(deps.db);
    if (kinds?.length === 0) return { stop: async () => {} };
    // Loaded after the service listens, which does not need it.
    const { startWorker } = await import('../platform/jobs/worker.ts');
    const worker = await startWorker({
      pool: database.pool,
      onSilence: database.onSilence,
      ...assigned,
      kinds,
      concurrency: availableParallelism() + decodingJobs,
      forbidFlags: forbiddenTurns,
      ...telemetry,
      log: deps.log,
    });
    if (kinds?.includes('scan-root') === false) return worker;
    const watch = watchRoots(deps);
    return {
      async stop() {
        await Promise.all([watch.close(), worker.stop()]);
      },
    };
  };
}

/** Starts a worker for every kind of job. */
export async function startWorkerFor(deps: Deps, database: OpenDatabase): Promise<Worker> {
  return prepareWorker(deps, database, null)();
}
