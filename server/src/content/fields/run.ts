import type { MergeRun } from '@vitrine/contract/vocabulary';
import { sql } from 'kysely';
import { enqueue } from '../../core/job-table.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { writeDocumentsOfField } from '../search-index/documents.ts';

/** The most values that the transaction of a request changes (FIELD-44, TERM-19). */
export const AT_ONCE = 1000;

const wakeJob = (tx: Tx) => enqueue(tx, 'rewrite-fields', {}, { key: 'rewrite-fields' });

/** Counts the values of a field. */
async function countValues(tx: Tx, fieldId: string): Promise<number> {
  const { rows } = await sql<{ values: number }>`select
    (select count(*) from asset_field_values where field_id = ${fieldId})
    + (select count(*) from collection_field_values where field_id = ${fieldId}) as values`.execute(tx);
  return rows[0]?.values ?? 0;
}

/** Whether the field has at most `AT_ONCE` values. Counts no further. */
async function hasFewValues(tx: Tx, fieldId: string): Promise<boolean> {
  const { rows } = await sql`select from (
      select from asset_field_values where field_id = ${fieldId} limit ${AT_ONCE + 1}) a
    full join (select from collection_field_values where field_id = ${fieldId} limit ${AT_ONCE + 1}) c on false
    limit ${AT_ONCE + 1}`.execute(tx);
  return rows.length <= AT_ONCE;
}

/**
 * Rewrites the field's words in the search index, or leaves many of them to the job (FIELD-44). A change meanwhile
 * starts the job's work again from the first value.
 */
export async function rewriteWords(tx: Tx, fieldId: string, actorRef: number): Promise<void> {
  if (await hasFewValues(tx, fieldId)) {
    await writeDocumentsOfField(tx, fieldId);
    return;
  }
  await sql`insert into field_runs (field_id, kind, actor_ref, total)
    values (${fieldId}, 'words', ${actorRef}, ${await countValues(tx, fieldId)})
    on conflict (field_id) where finished_at is null and kind = 'words'
    do update set subject_kind = default, after = default, done = 0, total = excluded.total, actor_ref = excluded.actor_ref`.execute(
    tx,
  );
  await wakeJob(tx);
}

/** Whether values of the field are still being moved: later merges then wait for their turn (TERM-20). */
export async function isMerging(tx: Tx, fieldId: string): Promise<boolean> {
  const { rows } = await sql`select from field_runs
    where field_id = ${fieldId} and kind = 'merge' and finished_at is null limit 1`.execute(tx);
  return rows.length > 0;
}

/** Leaves moving the values to the job (TERM-19). */
export async function startMerge(
  tx: Tx,
  merge: { fieldId: string; source: string; target: string; total: number; actorRef: number },
): Promise<MergeRun> {
  const { fieldId, source, target, total, actorRef } = merge;
  const { rows } = await sql<{
    id: string;
  }>`insert into field_runs (field_id, kind, source, target, actor_ref, total)
    values (${fieldId}, 'merge', ${source}, ${target}, ${actorRef}, ${total}) returning id`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('insert returned no row');
  await wakeJob(tx);
  return { id: row.id, done: 0, total };
}

/**
 * Throws a 409 when values of one of these terms are still being moved: the term must remain a tombstone until then
 * (TERM-20). Null checks all terms of the field.
 */
export async function checkNotMerging(db: Database, fieldId: string, term: string | null): Promise<void> {
  const { rows } = await sql<{ source: string; target: string }>`select source, target from field_runs
    where field_id = ${fieldId} and kind = 'merge' and target is not null and finished_at is null and source = coalesce(${term}, source)
    order by number limit 1`.execute(db);
  const [run] = rows;
  if (run === undefined) return;
  throw refuse('merge-in-progress', { source: run.source, target: run.target });
}
