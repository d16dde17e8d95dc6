import { sql } from 'kysely';
import { advisoryLocks, keyedLocks } from './advisory-locks.ts';
import type { Tx } from './pool.ts';

/** Waits for a lock and holds it until the transaction ends. */
export async function takeLock(tx: Tx, lock: keyof typeof advisoryLocks): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks[lock]})`.execute(tx);
}

/** Waits for the lock of one thing and holds it until the transaction ends. */
export async function takeKeyedLock(tx: Tx, kind: keyof typeof keyedLocks, key: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, ${keyedLocks[kind]}))`.execute(tx);
}
