import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { removeOrphans } from './orphans.ts';
import { sweepUploads } from './uploads.ts';

type SweepDeps = Pick<Deps, 'db' | 'storage'>;

/** Younger files may belong to an upload or a rendering in progress. */
const SWEEP_AFTER_MS = 24 * 3600 * 1000;

/** Incomplete incoming files. */
async function sweepIncoming(incomingDir: string, olderThan: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(incomingDir)) {
    const path = join(incomingDir, name);
    const found = await stat(path).catch(() => null);
    if (found === null || found.mtimeMs >= olderThan) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

/** Removes files that a crash or a broken connection left behind and that no row refers to. Returns their number. */
export async function sweep(deps: SweepDeps, now: number, afterMs = SWEEP_AFTER_MS): Promise<number> {
  const olderThan = now - afterMs;
  return (
    (await sweepIncoming(deps.storage.incomingDir, olderThan)) +
    (await sweepUploads(deps, olderThan)) +
    (await removeOrphans(deps, olderThan)) +
    (await deps.storage.removeUnfinished(olderThan))
  );
}

export function sweepJob(deps: SweepDeps): JobHandler<'sweep'> {
  return async (_, { log }) => {
    const removed = await sweep(deps, Date.now());
    if (removed > 0) log.info({ removed }, 'removed unreferenced files');
  };
}
