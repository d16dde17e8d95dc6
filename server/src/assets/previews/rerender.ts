import { sql } from 'kysely';
import { readSetting } from '../../admin/settings.ts';
import type { Deps } from '../../deps.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { enqueue } from '../../platform/jobs/enqueue.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { enqueueRerenders } from '../decoding-jobs.ts';
import { readLadder } from './ladder.ts';

/** Files that wait in the queue at once: few, so that a pause takes effect soon and uploads do not wait behind them. */
const BATCH = 50;
const NEXT_BATCH_MS = 5000;

/** Has stored files rendered with the configured ladder. Part of the transaction that changes it. */
export async function enqueueRerender(tx: Tx, runAt?: string): Promise<void> {
  await enqueue(tx, 'render-again', {}, { key: 'render-again', ...(runAt === undefined ? {} : { runAt }) });
}

/**
 * Enqueues the next files whose previews are of an earlier ladder, and itself while there are any. Jobs carry the key of
 * their file, so a step that runs again adds nothing twice; a pause ends the chain, and resuming begins it again.
 */
export function rerenderJob({ db }: Pick<Deps, 'db'>): JobHandler<'render-again'> {
  return async () => {
    if ((await readSetting(db, 'previews_paused')) === true) return;
    await db.transaction().execute(async (tx) => {
      const { version } = await readLadder(tx);
      const { rows } = await sql<{ hash: string; mime: string }>`
        select hash, mime from files where renditions ? 'col' and ladder_version < ${version} order by ladder_version, hash limit ${BATCH}`.execute(
        tx,
      );
      await enqueueRerenders(tx, rows);
      if (rows.length > 0) await enqueueRerender(tx, new Date(Date.now() + NEXT_BATCH_MS).toISOString());
    });
  };
}
