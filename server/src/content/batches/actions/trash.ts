import { sql } from 'kysely';
import type { SignedIn } from '../../../access/caller.ts';
import { trashed } from '../../../access/live.ts';
import { knowsOfTrashed, mayRestore } from '../../../access/trash.ts';
import { notifyPeersOfCollectionsWith } from '../../../core/outbox/enqueue.ts';
import { recordEvents } from '../../../people/audit/record.ts';
import type { Tx } from '../../../platform/database/pool.ts';
import { notFound, refuse } from '../../../platform/http/refuse.ts';
import { followContent, postsWith } from '../../approvals/post-content.ts';
import { restoreAsked } from '../../trash/restore.ts';
import { changeRows, type ReadRow, type RowAction, type SubjectKind } from '../rows.ts';
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

/** When, by whom and why an object was deleted. */
interface Deletion {
  readonly deleted_at: string;
  readonly deleted_by_user_ref: number | null;
  readonly deleted_reason: string | null;
}

/** Only this module writes records of its actions. */
const deletionOf = (record: UndoRecord) => record as unknown as Deletion;

type LiveRow = ReadRow & { now: string };

/** Moves objects to the trash as their records say. */
function trashing(
  subject: SubjectKind,
  { judge, prepare }: Pick<RowAction<LiveRow>, 'judge' | 'prepare'>,
): Action {
  return (step) => {
    const { tx, caller } = step;
    return changeRows<LiveRow>(step, {
      subject,
      columns: sql`now() as now`,
      ...(prepare === undefined ? {} : { prepare }),
      judge,
      async write(changed) {
        const ids = changed.map(({ row }) => row.id);
        const deletions = changed.map(({ row, record }) => ({ ...deletionOf(record), id: row.id }));
        // The account of the deleter may have been removed since.
        await sql`update ${tableOf(subject)} x set deleted_at = r.deleted_at, deleted_reason = r.deleted_reason,
            deleted_by_user_ref = (select u.ref from users u where u.ref = r.deleted_by_user_ref)
          from jsonb_to_recordset(${JSON.stringify(deletions)}::jsonb)
            as r (id uuid, deleted_at timestamptz, deleted_by_user_ref bigint, deleted_reason text)
          where x.id = r.id`.execute(tx);
        if (subject === 'asset') await followContent(tx, caller, postsWith(ids));
        else await notifyPeersOfCollectionsWith(tx, ids, caller.ref);
        const events = deletions.map((deletion) => ({
          event: `${subject}.deleted`,
          target: { kind: subject, id: deletion.id },
          metadata: { reason: deletion.deleted_reason },
        }));
        await recordEvents(tx, caller, events);
      },
      edited: null,
    });
  };
}

/** Moves objects to the trash. */
export function deleteObjects(subject: SubjectKind, reason: string | null): Action {
  return (step) => {
    const deletion = { deleted_by_user_ref: step.caller.ref, deleted_reason: reason };
    return trashing(subject, {
      judge: ({ now }) => ({ outcome: 'changed', record: { ...deletion, deleted_at: now } }),
    })(step);
  };
}

/** Returns when each of these objects was last restored, within the days for which batches are kept. */
async function lastRestored(
  tx: Tx,
  subject: SubjectKind,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; restored_at: string }>`
    select target_id as id, max(occurred_at) as restored_at from audit_events
    where event = ${`admin.${subject}.restored`} and target_kind = ${subject} and target_id = any(${ids}::uuid[])
      and occurred_at > now() - interval '30 days' group by target_id`.execute(tx);
  return new Map(rows.map(({ id, restored_at }) => [id, restored_at]));
}

/** Returns what the batch restored to the trash, as it was there, unless it was restored again since. */
export function undoRestore(subject: SubjectKind): Action {
  return async (step) => {
    let restored = new Map<string, string>();
    return trashing(subject, {
      async prepare(rows) {
        const ids = rows.map(({ id }) => id);
        restored = await lastRestored(step.tx, subject, ids);
      },
      judge: ({ id }, record) =>
        record === null || restored.get(id) !== record.restored_at
          ? changedSince
          : { outcome: 'changed', record },
    })(step);
  };
}

interface TrashRow extends Deletion {
  id: string;
  owner: number | null;
  now: string;
}

/** Decides whether an object in the trash may be restored; others learn nothing of it. */
function judgeRestore(caller: SignedIn, row: TrashRow | undefined): Outcome {
  if (row === undefined) return refused(notFound().sentence);
  const { owner: ownerRef, now, deleted_at, deleted_by_user_ref: deletedByRef, deleted_reason } = row;
  if (!knowsOfTrashed(caller, { ownerRef, deletedByRef })) return refused(notFound().sentence);
  return mayRestore(caller, deletedByRef)
    ? {
        outcome: 'changed',
        record: { restored_at: now, deleted_at, deleted_by_user_ref: deletedByRef, deleted_reason },
      }
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
      select x.id, ${owner} as owner, x.deleted_at, x.deleted_by_user_ref, x.deleted_reason,
        now()::timestamptz(3) as now
      from ${tableOf(subject)} x
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
