import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { trashed } from '../../../access/live.ts';
import { knowsOfTrashed, mayRestore } from '../../../access/trash.ts';
import { notifyPeersOfCollectionsWith } from '../../../core/outbox/enqueue.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { followContent, postsWith } from '../../approvals/post-content.ts';
import { restoreAsked } from '../../trash/restore.ts';
import { changeRows, type ReadRow, type SubjectKind } from '../rows.ts';
import {
  type Action,
  changedSince,
  type Outcome,
  refused,
  type Step,
  type StepResult,
  type UndoRecord,
} from '../step.ts';

const tableOf = (subject: SubjectKind) => sql.table(subject === 'asset' ? 'assets' : 'posts');

/** Moves objects to the trash. */
export function deleteObjects(subject: SubjectKind, reason: string | null): Action {
  return (step) => {
    const { tx, caller } = step;
    return changeRows<ReadRow & { now: string }>(step, {
      subject,
      columns: sql`now() as now`,
      judge: ({ now }) => ({ outcome: 'changed', record: { deleted_at: now } }),
      async write(changed) {
        const ids = changed.map(({ row }) => row.id);
        await sql`update ${tableOf(subject)} set deleted_at = now(), deleted_reason = ${reason},
          deleted_by_user_ref = ${caller.ref} where id = any(${ids}::uuid[])`.execute(tx);
        if (subject === 'asset') await followContent(tx, caller, postsWith(ids));
        else await notifyPeersOfCollectionsWith(tx, ids, caller.ref);
        const events = ids.map((id) => ({
          event: `${subject}.deleted`,
          target: { kind: subject, id },
          metadata: { reason },
        }));
        await recordEvents(tx, caller, events);
      },
      edited: null,
    });
  };
}

interface TrashRow {
  id: string;
  owner: number | null;
  deleted_at: string;
  deleted_by_user_ref: number | null;
}

/** Decides whether an object in the trash may be restored; others learn nothing of it. */
function judgeRestore(caller: SignedIn, row: TrashRow | undefined): Outcome {
  if (row === undefined) return refused(notFound().sentence);
  const { owner: ownerRef, deleted_by_user_ref: deletedByRef, deleted_at } = row;
  if (!knowsOfTrashed(caller, { ownerRef, deletedByRef })) return refused(notFound().sentence);
  return mayRestore(caller, deletedByRef)
    ? { outcome: 'changed', record: { deleted_at } }
    : refused(refuse('restore-not-yours').sentence);
}

type Judge = (caller: SignedIn, row: TrashRow | undefined, record: UndoRecord | null) => Outcome;

/**
 * Restores objects, each in a step of its own with all effects of restoring one. A Refusal, such as an exceeded quota,
 * leaves the object in the trash.
 */
const restoring = (subject: SubjectKind, judge: Judge): Action => {
  const owner = sql.ref(subject === 'asset' ? 'x.owner_user_ref' : 'x.author_user_ref');
  const action = async ({ tx, caller, items, isDryRun }: Step): Promise<StepResult> => {
    // Restoring locks the row and checks again.
    const { rows } = await sql<TrashRow>`
      select x.id, ${owner} as owner, x.deleted_at, x.deleted_by_user_ref from ${tableOf(subject)} x
      where x.id = any(${items.map(({ id }) => id)}::uuid[]) and ${trashed('x')}`.execute(tx);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const outcomes = new Map<string, Outcome>();
    for (const { id, record } of items) {
      const outcome = judge(caller, byId.get(id), record);
      if (outcome.outcome === 'changed' && !isDryRun) await restoreAsked(tx, caller, subject, id);
      outcomes.set(id, outcome);
    }
    return { outcomes };
  };
  return Object.assign(action, { oneByOne: true as const });
};

/** Restores objects from the trash (TRASH-2). */
export function restoreObjects(subject: SubjectKind): Action {
  return restoring(subject, judgeRestore);
}

/** Restores what the batch deleted, unless it was restored or deleted again since. */
export function undoDelete(subject: SubjectKind): Action {
  return restoring(subject, (caller, row, record) => {
    const deletedAt = Date.parse(String(record?.deleted_at));
    // The database rounds times to milliseconds.
    if (row === undefined || Math.abs(Date.parse(row.deleted_at) - deletedAt) > 1) return changedSince;
    return judgeRestore(caller, row);
  });
}
