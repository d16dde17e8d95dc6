import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { JobHandler } from '../../core/job-table.ts';
import { readRoots } from '../root-files/root.ts';
import { scanRecorded } from './record.ts';
import { enqueueScan, requestScan } from './request.ts';
import { runScan } from './scan.ts';

/** When a scan that had to wait is tried again. */
const BUSY_FOR_MS = 10_000;

/** Enqueues the scan of folders that are due later: files in them were being written. */
async function scanLater({ db }: Pick<Deps, 'db'>, rootId: string): Promise<void> {
  const { rows } = await sql<{ at: string | null }>`
    select min(due_at) as at from root_changes where root_id = ${rootId}`.execute(db);
  const at = rows[0]?.at ?? null;
  if (at !== null) await enqueueScan(db, rootId, false, at);
}

/** Scans a root, or what has changed in it. */
export function scanRootJob(deps: Deps): JobHandler<'scan-root'> {
  return async ({ root, whole }, { log }) => {
    const outcome = whole ? await scanRecorded(deps, root) : await runScan(deps, root, false);
    if (outcome.state === 'busy')
      return enqueueScan(deps.db, root, whole, new Date(Date.now() + BUSY_FOR_MS).toISOString());
    if (outcome.state !== 'done') log.warn({ root, reason: outcome.reason }, 'a root was not scanned');
    await scanLater(deps, root);
  };
}

/** Scans every root: changes on network mounts are not announced, and none while no service ran. */
export function rescanRootsJob({ db }: Pick<Deps, 'db'>): JobHandler<'rescan-roots'> {
  return async () => {
    for (const { id } of await readRoots(db, sql`r.owner_user_ref is not null`))
      await db.transaction().execute((tx) => requestScan(tx, id));
  };
}
