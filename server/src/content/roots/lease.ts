import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Tx } from '../../platform/database/pool.ts';

/** How long a scan whose process was killed keeps others waiting. */
const LEASE_SECONDS = 20;
const RENEWED_EVERY_MS = 5000;

/** Another process scans the root by now. */
export class LeaseLost extends Error {}

/** The right to scan a root, which one process has at a time (ROOT-9). */
export interface Lease {
  /** Throws LeaseLost unless this process still has it when the transaction commits. */
  hold(tx: Tx): Promise<void>;
  end(): Promise<void>;
}

/** Takes the right to scan a root; null while another process has it. */
export async function takeLease(db: Database, rootId: string): Promise<Lease | null> {
  const id = randomUUID();
  const until = sql`now() + make_interval(secs => ${LEASE_SECONDS})`;
  const { numAffectedRows = 0n } = await sql`
    update roots set lease = ${id}, lease_until = ${until}
    where id = ${rootId} and (lease is null or lease_until < now())`.execute(db);
  if (numAffectedRows === 0n) return null;
  const renew = () =>
    sql`update roots set lease_until = ${until} where id = ${rootId} and lease = ${id}`.execute(db);
  // A failure shows when the lease is held next.
  const timer = setInterval(() => void renew().catch(() => {}), RENEWED_EVERY_MS);
  timer.unref();
  return {
    async hold(tx) {
      const { rows } = await sql`
        select from roots where id = ${rootId} and lease = ${id} for share`.execute(tx);
      if (rows.length === 0) throw new LeaseLost();
    },
    async end() {
      clearInterval(timer);
      await sql`update roots set lease = null, lease_until = null where id = ${rootId} and lease = ${id}`.execute(
        db,
      );
    },
  };
}
