import { type BatchPreview, batchAssets, batchPosts } from '@vitrine/contract/batches';
import { sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { checkScope } from '../../access/door.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { checkShape, pairOf, type SubjectAction } from './actions.ts';
import { type Selection, selectObjects } from './select.ts';
import type { Action, Outcome } from './step.ts';
import { createBatch, enqueueBatch } from './store.ts';

/** Reads in a transaction that is rolled back: an action may create terms or tags before it decides. */
async function withoutWriting<T>({ db }: Pick<Deps, 'db'>, read: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await db.startTransaction().execute();
  try {
    return await read(tx);
  } finally {
    await tx.rollback().execute();
  }
}

/** Objects per statement of a dry run. */
const PREVIEW_STEP = 5000;

/** The most ids that a preview names for each reason. */
const MOST_IDS = 20;

function summary(outcomes: readonly (readonly [string, Outcome])[]): BatchPreview {
  const reasons = new Map<string, { count: number; ids: string[] }>();
  let changes = 0;
  let unchanged = 0;
  for (const [id, outcome] of outcomes) {
    if (outcome.outcome === 'changed') changes += 1;
    else if (outcome.outcome === 'unchanged') unchanged += 1;
    else {
      const known = reasons.get(outcome.reason) ?? { count: 0, ids: [] };
      known.count += 1;
      if (known.ids.length < MOST_IDS) known.ids.push(id);
      reasons.set(outcome.reason, known);
    }
  }
  const refused = [...reasons].map(([reason, { count, ids }]) => ({ reason, count, ids }));
  return { matched: outcomes.length, changes, unchanged, refused };
}

/** Decides about every object without writing (BATCH-4). */
async function preview(
  deps: Pick<Deps, 'db'>,
  caller: SignedIn,
  selection: Selection,
  run: Action,
): Promise<BatchPreview> {
  const outcomes = await withoutWriting(deps, async (tx) => {
    const objects = await selectObjects(tx, caller, selection);
    const { rows } = await sql<{ id: string }>`${objects}`.execute(tx);
    const decided: [string, Outcome][] = [];
    for (let at = 0; at === 0 || at < rows.length; at += PREVIEW_STEP) {
      const items = rows
        .slice(at, at + PREVIEW_STEP)
        .map(({ id }, index) => ({ id, position: at + index + 1, record: null }));
      const step = await run({ tx, caller, items, isDryRun: true });
      decided.push(...step.outcomes);
    }
    return decided;
  });
  return summary(outcomes);
}

/** Stores a batch with its objects, and enqueues its job. */
async function store(tx: Tx, caller: SignedIn, selection: Selection, action: SubjectAction): Promise<string> {
  const id = await createBatch(tx, caller, action);
  const objects = await selectObjects(tx, caller, selection);
  await sql`with stored as (
      insert into batch_items (batch_id, position, object_id)
      select ${id}, row_number() over (), o.id from (${objects}) o returning 1)
    update batches set total = (select count(*) from stored) where id = ${id}`.execute(tx);
  await enqueueBatch(tx, id);
  return id;
}

/** Checks the action itself, then previews or starts the batch. */
async function begin(
  deps: Pick<Deps, 'db'>,
  caller: SignedIn,
  selection: Selection,
  given: SubjectAction,
  isDryRun: boolean,
) {
  checkShape(given);
  const { run } = pairOf(given);
  if (isDryRun) return { status: 200 as const, body: await preview(deps, caller, selection, run) };
  await withoutWriting(deps, (tx) => run({ tx, caller, items: [], isDryRun: true }));
  const id = await deps.db.transaction().execute((tx) => store(tx, caller, selection, given));
  return { status: 202 as const, body: { job_id: id } };
}

/** Returns the named ids or the query; exactly one must be given. */
function exactlyOne<Q>(
  ids: readonly string[] | undefined,
  query: Q | undefined,
): { ids: readonly string[] } | { query: Q } {
  if (ids !== undefined && query === undefined) return { ids };
  if (query !== undefined && ids === undefined) return { query };
  throw refuse('ids-or-query');
}

export const ofAssets = handle(batchAssets, async (deps, { caller, body }) => {
  if (body.action.kind === 'create_post') checkScope(caller, 'posts.write');
  const given = exactlyOne(body.ids, body.query);
  const selection: Selection = 'ids' in given ? given : { subject: 'asset', query: given.query };
  return begin(deps, caller, selection, { subject: 'asset', action: body.action }, body.dry_run === true);
});

export const ofPosts = handle(batchPosts, async (deps, { caller, body }) => {
  const given = exactlyOne(body.ids, body.query);
  const selection: Selection = 'ids' in given ? given : { subject: 'post', query: given.query };
  return begin(deps, caller, selection, { subject: 'post', action: body.action }, body.dry_run === true);
});
