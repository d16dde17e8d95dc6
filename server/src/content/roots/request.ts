import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { enqueue } from '../../core/job-table.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** Requests a scan of a whole root. Returns its id; while one waits, its id, and null if there is no such root. */
export async function requestScan(tx: Tx, rootId: string): Promise<string | null> {
  const { rows } = await sql<{ scan_id: string }>`
    update roots set scan_state = 'waiting', scan_reason = null,
      scan_id = case when scan_state = 'waiting' then scan_id else ${randomUUID()}::uuid end,
      scan_at = case when scan_state = 'waiting' then scan_at else now() end
    where id = ${rootId} returning scan_id`.execute(tx);
  const id = rows[0]?.scan_id ?? null;
  if (id !== null) await enqueueScan(tx, rootId, true);
  return id;
}

/** Enqueues a scan of a root, or of what has changed in it. */
export async function enqueueScan(
  db: Database,
  rootId: string,
  whole: boolean,
  runAt?: string,
): Promise<void> {
  const key = whole ? `scan-root:${rootId}` : `scan-root-changes:${rootId}`;
  await enqueue(db, 'scan-root', { root: rootId, whole }, { key, ...(runAt === undefined ? {} : { runAt }) });
}
