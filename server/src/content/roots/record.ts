import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { ScanCounts } from './examine.ts';
import { runScan, type ScanOutcome } from './scan.ts';

/** Progress is recorded at most this often. */
const RECORDED_EVERY_MS = 1000;

/** A later request has another id: its state is not overwritten by this scan. */
async function record(
  db: Database,
  rootId: string,
  scanId: string | null,
  state: 'running' | 'done' | 'unavailable' | 'failed',
  { counts, reason }: { counts: ScanCounts; reason: string | null },
): Promise<void> {
  await sql`update roots set scan_state = ${state}, scan_counts = ${JSON.stringify(counts)}::jsonb,
      scan_reason = ${reason}, scan_at = now()
    where id = ${rootId} and scan_id is not distinct from ${scanId}::uuid`.execute(db);
}

/** Scans a whole root and records how it goes, for the page of roots. */
export async function scanRecorded(
  deps: Deps,
  rootId: string,
  onProgress: (counts: ScanCounts) => void = () => {},
): Promise<ScanOutcome> {
  const { db } = deps;
  const row = await db.selectFrom('roots').select('scan_id').where('id', '=', rootId).executeTakeFirst();
  const scanId = row?.scan_id ?? null;
  let recordedAt = 0;
  const outcome = await runScan(deps, rootId, true, async (counts) => {
    onProgress(counts);
    if (performance.now() - recordedAt < RECORDED_EVERY_MS) return;
    recordedAt = performance.now();
    await record(db, rootId, scanId, 'running', { counts, reason: null });
  });
  if (outcome.state !== 'busy') {
    const reason = outcome.state === 'done' ? null : outcome.reason;
    await record(db, rootId, scanId, outcome.state, { counts: outcome.counts, reason });
  }
  return outcome;
}
