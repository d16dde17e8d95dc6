import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';
import type { StoredAction } from './step.ts';

/** Stores a batch without objects, with the credential that started it. */
export async function createBatch(
  tx: Tx,
  caller: SignedIn,
  { subject, action }: StoredAction,
): Promise<string> {
  const { id } = await tx
    .insertInto('batches')
    .values({
      subject,
      action: JSON.stringify(action),
      user_ref: caller.ref,
      token_id: caller.token?.id ?? null,
      impersonator_user_ref: caller.impersonator?.ref ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Enqueues the job of a batch whose objects are stored. */
export async function enqueueBatch(tx: Tx, id: string): Promise<void> {
  await enqueue(tx, 'run-batch', { batch: id }, { key: `run-batch:${id}` });
}

/** An object of a batch. What is already decided is not taken by the job. */
export interface NewItem {
  readonly position: number;
  readonly object_id: string;
  readonly given: Readonly<Record<string, unknown>> | null;
  readonly outcome: 'unchanged' | 'refused' | null;
  readonly reason: string | null;
}

/** Adds objects to a batch, and counts those that are already decided. */
export async function addItems(tx: Tx, batchId: string, items: readonly NewItem[]): Promise<void> {
  await sql`insert into batch_items (batch_id, position, object_id, given, outcome, reason)
    select ${batchId}, i.position, i.object_id, i.given, i.outcome, i.reason
    from jsonb_to_recordset(${JSON.stringify(items)}::jsonb)
      as i (position int, object_id uuid, given jsonb, outcome text, reason text)`.execute(tx);
  const decided = (outcome: NewItem['outcome']) => items.filter((item) => item.outcome === outcome).length;
  await sql`update batches set total = total + ${items.length}::int,
      unchanged = unchanged + ${decided('unchanged')}::int, refused = refused + ${decided('refused')}::int
    where id = ${batchId}`.execute(tx);
}
