import {
  assetActions,
  type BatchPreview,
  batchAssets,
  batchPosts,
  postActions,
} from '@vitrine/contract/batches';
import type { Language } from '@vitrine/contract/languages';
import { type RawBuilder, sql } from 'kysely';
import type { SignedIn } from '../../access/caller.ts';
import { checkScope } from '../../access/door.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { readerLanguage } from '../../core/reader-language.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { sayStored, storedForm } from '../../platform/language/sentence.ts';
import { checkShape, pairOf, type SubjectAction } from './actions.ts';
import { type Selection, selectObjects } from './select.ts';
import type { Action, Outcome, StoredAction } from './step.ts';
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

function summary(outcomes: readonly (readonly [string, Outcome])[], language: Language): BatchPreview {
  const reasons = new Map<string, { count: number; ids: string[] }>();
  let changes = 0;
  let unchanged = 0;
  for (const [id, outcome] of outcomes) {
    if (outcome.outcome === 'changed') changes += 1;
    else if (outcome.outcome === 'unchanged') unchanged += 1;
    else {
      const reason = storedForm(outcome.reason);
      const known = reasons.get(reason) ?? { count: 0, ids: [] };
      known.count += 1;
      if (known.ids.length < MOST_IDS) known.ids.push(id);
      reasons.set(reason, known);
    }
  }
  const refused = [...reasons].map(([reason, { count, ids }]) => ({
    reason: sayStored(language, reason),
    count,
    ids,
  }));
  return { matched: outcomes.length, changes, unchanged, refused };
}

/** A batch that is asked for. */
export interface Asked {
  readonly stored: StoredAction;
  readonly run: Action;
  /** Returns a query with the column `id`, in the order in which the batch takes its objects; each once. */
  objects(db: Database): Promise<RawBuilder<unknown>>;
}

/** Decides about every object without writing (BATCH-4). */
async function preview(
  deps: Pick<Deps, 'db'>,
  caller: SignedIn,
  { objects, run }: Asked,
  language: Language,
): Promise<BatchPreview> {
  const outcomes = await withoutWriting(deps, async (tx) => {
    const { rows } = await sql<{ id: string | number }>`${await objects(tx)}`.execute(tx);
    run.checkCount?.(rows.length);
    const decided: [string, Outcome][] = [];
    const most = run.together === true ? Math.max(1, rows.length) : PREVIEW_STEP;
    for (let at = 0; at === 0 || at < rows.length; at += most) {
      const items = rows
        .slice(at, at + most)
        .map(({ id }, index) => ({ id: String(id), position: at + index + 1, record: null }));
      const step = await run({ tx, caller, items, isDryRun: true });
      decided.push(...step.outcomes);
    }
    return decided;
  });
  return summary(outcomes, language);
}

/** Stores a batch with its objects, and enqueues its job. */
async function store(tx: Tx, caller: SignedIn, { stored, run, objects }: Asked): Promise<string> {
  const id = await createBatch(tx, caller, stored);
  const column = sql.ref(stored.subject === 'user' ? 'object_ref' : 'object_id');
  const { rows } = await sql<{ total: number }>`with stored as (
      insert into batch_items (batch_id, position, ${column})
      select ${id}, row_number() over (), o.id from (${await objects(tx)}) o returning 1)
    update batches set total = (select count(*) from stored) where id = ${id} returning total`.execute(tx);
  run.checkCount?.(rows[0]?.total ?? 0);
  await enqueueBatch(tx, id);
  return id;
}

/** Checks the action itself, then previews or starts the batch. */
export async function begin(
  deps: Pick<Deps, 'db'>,
  caller: SignedIn,
  asked: Asked,
  { isDryRun, language }: { isDryRun: boolean; language: Language },
) {
  if (isDryRun) return { status: 200 as const, body: await preview(deps, caller, asked, language) };
  await withoutWriting(deps, (tx) => asked.run({ tx, caller, items: [], isDryRun: true }));
  const id = await deps.db.transaction().execute((tx) => store(tx, caller, asked));
  return { status: 202 as const, body: { job_id: id } };
}

function askedOf(caller: SignedIn, selection: Selection, stored: SubjectAction): Asked {
  return { stored, run: pairOf(stored).run, objects: (db) => selectObjects(db, caller, selection) };
}

/** Returns the named ids or the query; exactly one must be given. */
export function exactlyOne<I, Q>(
  ids: readonly I[] | undefined,
  query: Q | undefined,
): { ids: readonly I[] } | { query: Q } {
  if (ids !== undefined && query === undefined) return { ids };
  if (query !== undefined && ids === undefined) return { query };
  throw refuse('ids-or-query');
}

export const ofAssets = handle(batchAssets, async (deps, { caller, body, http }) => {
  if (body.action.kind === 'create_post') checkScope(caller, 'posts.write');
  checkShape(assetActions, body.action);
  const given = exactlyOne(body.ids, body.query);
  const selection: Selection = 'ids' in given ? given : { subject: 'asset', query: given.query };
  const asked = askedOf(caller, selection, { subject: 'asset', action: body.action });
  return begin(deps, caller, asked, {
    isDryRun: body.dry_run === true,
    language: readerLanguage(caller, http),
  });
});

export const ofPosts = handle(batchPosts, async (deps, { caller, body, http }) => {
  checkShape(postActions, body.action);
  const given = exactlyOne(body.ids, body.query);
  const selection: Selection = 'ids' in given ? given : { subject: 'post', query: given.query };
  const asked = askedOf(caller, selection, { subject: 'post', action: body.action });
  return begin(deps, caller, asked, {
    isDryRun: body.dry_run === true,
    language: readerLanguage(caller, http),
  });
});
