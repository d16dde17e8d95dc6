import type { SearchKind } from '@vitrine/contract/search';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { expectedBehindGates, SIMILARITY_THRESHOLD } from '../search-index/matching.ts';
import type { ParsedQuery } from '../search-index/parsed-query.ts';

/** With more gated documents than this, the way to those that match depends on which of the words is rare. */
const MANY_GATED = 1000;

/**
 * Returns whether a plan for the given words is cheaper than a cached one for any words (decisions 328 and 361).
 * Planning usually costs more than running. When a signed-in caller searches assets for several words, each word may be in a
 * part of the asset that only some callers may read, which matters once many assets have one of them there.
 */
export async function dependsOnWords(
  tx: Tx,
  caller: Caller,
  kinds: readonly SearchKind[],
  parsed: ParsedQuery | null,
): Promise<boolean> {
  if (caller.kind === 'anonymous' || !kinds.includes('asset')) return false;
  if (parsed === null || parsed.each.length < 2) return false;
  return (await expectedBehindGates(tx, parsed)) > MANY_GATED;
}

/** Runs a search in a transaction with cached plans and the similarity threshold. */
export function runSearch<T>(db: Database, run: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('plan_cache_mode', 'force_generic_plan', true),
      set_config('pg_trgm.word_similarity_threshold', ${SIMILARITY_THRESHOLD}, true)`.execute(tx);
    return run(tx);
  });
}

/** Makes PostgreSQL plan the later statements of the transaction for their parameters. */
export async function planForWords(tx: Tx): Promise<void> {
  await sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(tx);
}
