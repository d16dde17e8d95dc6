import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ConfigError } from '../../core/config.ts';
import { sentence } from '../../platform/language/sentence.ts';

/** PostgreSQL notices the end of an earlier import's connection a moment later. */
const LOCK_ATTEMPTS = 50;
const LOCK_PAUSE_MS = 100;

/**
 * Takes the lock of an import, which ends with the connection: two at once would create everything twice. Throws a ConfigError
 * if another import holds it.
 */
export async function lockImport(client: pg.PoolClient, lock: number, source: string): Promise<void> {
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS; attempt += 1) {
    const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [lock]);
    if (rows[0]?.free === true) return;
    await sleep(LOCK_PAUSE_MS);
  }
  throw new ConfigError(sentence('another import from {source} is running', { source }));
}
