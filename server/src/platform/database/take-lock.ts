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

/** Waits for the locks of several things, in the order of their keys, and holds them until the transaction ends. */
export async function takeKeyedLocks(
  tx: Tx,
  kind: keyof typeof keyedLocks,
  keys: Iterable<string>,
): Promise<void> {
  const sorted = [...new Set(keys)].sort();
  await sql`select pg_advisory_xact_lock(hashtextextended(k.key, ${keyedLocks[kind]}))
    from unnest(${sorted}::text[]) k (key)`.execute(tx);
}
