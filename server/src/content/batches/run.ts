import { sql } from 'kysely';
import { actorOf, type Origin, originColumns } from '../../access/deferred.ts';
import type { Deps } from '../../core/deps.ts';
import type { JobHandler } from '../../core/job-table.ts';
import type { Columns, Database, Tx } from '../../platform/database/pool.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import { type Sentence, sentence, storedForm } from '../../platform/language/sentence.ts';
import {
  type Action,
  type Item,
  type Outcome,
  type Pair,
  refused,
  type StepResult,
  type StoredAction,
} from './step.ts';

/** Objects per transaction, which takes a fraction of a second. At least the most assets of a new post. */
const STEP = 500;

interface LockedBatch extends Origin {
  user_ref: number;
}

/** Locks a batch that has not ended; a second job for it waits here. */
async function lockBatch(tx: Tx, id: string): Promise<LockedBatch | undefined> {
  const { rows } = await sql<LockedBatch>`select ${originColumns('b')} from batches b
    where b.id = ${id} and b.state in ('queued', 'running') for no key update of b`.execute(tx);
  return rows[0];
}

/** Returns what a stored action does and what undoes it. */
export type PairOf = (stored: StoredAction) => Pair;

interface ActionRow extends Columns<'batches', 'undoes'> {
  subject: StoredAction['subject'];
  /** Its own action, or that of the batch that it undoes. */
  action: StoredAction['action'];
}

/** Returns the action of a batch, or what undoes it; null for a batch that does not exist any more. */
async function readAction(db: Database, id: string, pairOf: PairOf): Promise<Action | null> {
  const { rows } = await sql<ActionRow>`
    select b.subject, coalesce(b.action, u.action) as action, b.undoes
    from batches b left join batches u on u.id = b.undoes where b.id = ${id}`.execute(db);
  const [batch] = rows;
  if (batch === undefined) return null;
  const { run, undo } = pairOf(batch);
  const wanted = batch.undoes === null ? run : undo;
  if (wanted === null) throw new Error(`nothing undoes ${batch.action.kind}`);
  return wanted;
}

/** What a job works on. */
interface Running {
  readonly db: Database;
  readonly batchId: string;
  readonly action: Action;
}

const allRefused = (items: readonly Item[], reason: Sentence): StepResult => ({
  outcomes: new Map(items.map(({ id }) => [id, refused(reason)])),
});

interface NextItem extends Item {
  given: NonNullable<Item['given']> | null;
}

/** Returns the next items that have no result, as many as the action takes at a time. */
async function nextItems(tx: Tx, batchId: string, { oneByOne }: Action): Promise<readonly Item[]> {
  const most = oneByOne === true ? 1 : STEP;
  const { rows } = await sql<NextItem>`
    select coalesce(object_id::text, object_ref::text) as id, position, record, given from batch_items
    where batch_id = ${batchId} and outcome is null order by position limit ${most}`.execute(tx);
  return rows;
}

/** What the action refuses as a whole is refused for each of these items; the transaction is rolled back. */
class StepRefused extends Error {
  readonly items: readonly Item[];
  readonly reason: Sentence;
  constructor(items: readonly Item[], { message, sentence: reason }: Refusal) {
    super(message);
    this.items = items;
    this.reason = reason;
  }
}

async function perform(tx: Tx, origin: Origin, action: Action, items: readonly Item[]): Promise<StepResult> {
  const caller = await actorOf(tx, origin);
  if (caller === null) return allRefused(items, sentence('the account that started this may no longer act'));
  try {
    return await action({ tx, caller, items, isDryRun: false });
  } catch (error) {
    throw error instanceof Refusal ? new StepRefused(items, error) : error;
  }
}

/** Returns the result of an item as it is stored. */
function resultOf({ id, position }: Item, outcomes: StepResult['outcomes']) {
  const outcome = outcomes.get(id);
  if (outcome === undefined) throw new Error(`the action did not decide about ${id}`);
  return {
    position,
    outcome: outcome.outcome,
    reason: outcome.outcome === 'refused' ? storedForm(outcome.reason) : null,
    record: outcome.outcome === 'changed' ? outcome.record : null,
  };
}

/** A step that was done: its items and their results. */
interface Done extends StepResult {
  readonly items: readonly Item[];
}

/** Records the results of a step, in the transaction of its changes. */
async function recordStep(tx: Tx, batchId: string, { items, outcomes, postId }: Done): Promise<void> {
  const rows = items.map((item) => resultOf(item, outcomes));
  const count = (kind: Outcome['outcome']) => rows.filter(({ outcome }) => outcome === kind).length;
  await sql`update batch_items i set outcome = r.outcome, reason = r.reason, record = r.record
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (position int, outcome text, reason text, record jsonb)
    where i.batch_id = ${batchId} and i.position = r.position`.execute(tx);
  await sql`update batches set state = 'running', changed = changed + ${count('changed')}::int,
      unchanged = unchanged + ${count('unchanged')}::int, refused = refused + ${count('refused')}::int,
      post_id = coalesce(${postId ?? null}::uuid, post_id)
    where id = ${batchId}`.execute(tx);
}

/** Does the next step of a batch, or ends it. Returns false when nothing is left to do. */
async function runStep(
  { db, batchId, action }: Running,
  step: (tx: Tx, origin: Origin) => Promise<Done | null>,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await action.before?.(tx);
    const origin = await lockBatch(tx, batchId);
    if (origin === undefined) return false;
    const result = await step(tx, origin);
    if (result !== null) await recordStep(tx, batchId, result);
    else await sql`update batches set state = 'done', finished_at = now() where id = ${batchId}`.execute(tx);
    return result !== null;
  });
}

/** Deals with the next items. Returns false when the batch has ended. */
async function runNext(running: Running): Promise<boolean> {
  const { batchId, action } = running;
  try {
    return await runStep(running, async (tx, origin) => {
      const items = await nextItems(tx, batchId, action);
      return items.length === 0 ? null : { items, ...(await perform(tx, origin, action, items)) };
    });
  } catch (error) {
    if (!(error instanceof StepRefused)) throw error;
    const { items, reason } = error;
    return runStep(running, async () => ({ items, ...allRefused(items, reason) }));
  }
}

/** Changes many objects in steps. A killed job continues with the items that have no result. */
export function runBatchJob({ db }: Pick<Deps, 'db'>, pairOf: PairOf): JobHandler<'run-batch'> {
  return async ({ batch }, { lastAttempt }) => {
    try {
      const action = await readAction(db, batch, pairOf);
      while (action !== null && (await runNext({ db, batchId: batch, action }))) {
        // Continues with the next items.
      }
    } catch (error) {
      if (lastAttempt)
        await sql`update batches set state = 'failed', finished_at = now()
          where id = ${batch} and state in ('queued', 'running')`.execute(db);
      throw error;
    }
  };
}
