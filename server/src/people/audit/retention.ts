import { getAuditRetention, setAuditRetention } from '@vitrine/contract/audit';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { JobHandler } from '../../core/job-table.ts';
import { readSetting, writeSetting } from '../../core/settings.ts';
import type { Database } from '../../platform/database/pool.ts';
import { recordEvent } from './record.ts';

/** Returns for how many days events are kept; null, the default, for permanently. */
async function readRetention(db: Database): Promise<number | null> {
  const value = await readSetting(db, 'audit_retention_days');
  return typeof value === 'number' ? value : null;
}

export const showRetention = handle(getAuditRetention, async ({ db }) => ({
  status: 200,
  body: { retention_days: await readRetention(db) },
}));

export const changeRetention = handle(setAuditRetention, async ({ db }, { caller, body }) => {
  await db.transaction().execute(async (tx) => {
    await writeSetting(tx, 'audit_retention_days', body.retention_days);
    await recordEvent(tx, caller, {
      event: 'audit.retention.changed',
      metadata: { retention_days: body.retention_days },
    });
  });
  return { status: 200, body };
});

/** Removes events older than the retention, if there is one. Returns how many. */
export async function retainAudit(db: Database): Promise<number> {
  const days = await readRetention(db);
  if (days === null) return 0;
  return db.transaction().execute(async (tx) => {
    // The only way past the table's own guard (migration 0002).
    await sql`select set_config('vitrine.audit_retention', 'on', true)`.execute(tx);
    const { numDeletedRows } = await tx
      .deleteFrom('audit_events')
      .where('occurred_at', '<', sql<string>`now() - make_interval(days => ${days})`)
      .executeTakeFirst();
    return Number(numDeletedRows ?? 0n);
  });
}

export function retainAuditJob({ db }: Pick<Deps, 'db'>): JobHandler<'retain-audit'> {
  return async (_, { log }) => {
    const removed = await retainAudit(db);
    if (removed > 0) log.info({ removed }, 'removed audit events past their retention');
  };
}
