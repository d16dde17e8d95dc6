import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/platform/database/pool.ts';

/** Returns whether exactly this many statements of this database begin to wait for a lock within the time. */
export async function comeToWait(db: Database, count = 1, withinMs = 60_000): Promise<boolean> {
  const until = Date.now() + withinMs;
  do {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length === count) return true;
    await sleep(10);
  } while (Date.now() < until);
  return false;
}
