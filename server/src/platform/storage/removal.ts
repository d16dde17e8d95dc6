import { sql } from 'kysely';
import type pg from 'pg';
import { advisoryLocks } from '../database/advisory-locks.ts';
import type { Tx } from '../database/pool.ts';

/**
 * Returns whether stored files may be removed in this transaction. A backup that is running copies files of rows that
 * may be gone by now, so it forbids it; the next sweep removes what remains (RUN-13).
 */
export async function mayRemoveFiles(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select pg_try_advisory_xact_lock_shared(${advisoryLocks.fileRemoval}) as may`.execute(tx);
  return rows[0]?.may === true;
}

/**
 * Forbids removing files for as long as this connection lives, after removals in progress have ended. Returns false
 * when another backup holds the lock for more than five seconds.
 */
export async function forbidRemoval(client: pg.ClientBase): Promise<boolean> {
  await client.query("set lock_timeout = '5s'");
  try {
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.fileRemoval]);
    return true;
  } catch (error) {
    // lock_not_available
    if (error instanceof Error && 'code' in error && error.code === '55P03') return false;
    throw error;
  }
}

/** Allows removing files again. */
export async function allowRemoval(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [advisoryLocks.fileRemoval]);
}
