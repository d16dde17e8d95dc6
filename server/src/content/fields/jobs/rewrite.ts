import type { SubjectKind } from '@vitrine/contract/fields';
import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import { notifyPeersOfValues } from '../../../core/outbox/enqueue.ts';
import type { Database, Tx } from '../../../platform/database/pool.ts';
import { writeNextDocuments } from '../../search-index/documents.ts';
import { type LockedField, lockField } from '../definitions/transaction.ts';
import { AT_ONCE } from '../run.ts';
import { findSubjects, type Merge, moveValues } from '../vocabulary/move.ts';

/** Subjects per search for the next ones, which reads the index entries of every value with the term. */
const KEYS = 20_000;

interface Run {
  number: number;
  field_id: string;
  actor_ref: number;
  source: string | null;
  target: string | null;
  subject_kind: SubjectKind;
  after: string;
}

const unfinished = (
  which: RawBuilder<unknown>,
) => sql<Run>`select number, field_id, actor_ref, source, target,
    subject_kind, after from field_runs where finished_at is null ${which}`;

/** Runs are finished in order, because a later one may concern the same term (TERM-20). */
async function firstRun(db: Database): Promise<Run | undefined> {
  const { rows } = await unfinished(sql`order by number limit 1`).execute(db);
  return rows[0];
}

const finish = (tx: Tx, number: number) =>
  sql`update field_runs set finished_at = now() where number = ${number}`.execute(tx);

/**
 * Does one step in a transaction that holds the field's lock, as writers of values do before they lock a value. A second
 * job waits for that lock, and then finds the step done. Returns undefined if the run is finished.
 */
async function inStep<T>(
  db: Database,
  { number, field_id }: Run,
  step: (tx: Tx, run: Run, field: LockedField) => Promise<T>,
): Promise<T | undefined> {
  return db.transaction().execute(async (tx) => {
    // Waits for writers however long they take; each step itself is short.
    await sql`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`.execute(
      tx,
    );
    const field = await lockField(tx, field_id);
    const { rows } = await unfinished(sql`and number = ${number} for update`).execute(tx);
    const [run] = rows;
    return run === undefined ? undefined : step(tx, run, field);
  });
}

async function moveStep(
  db: Database,
  run: Run,
  merge: Merge,
  kind: SubjectKind,
  ids: string[],
): Promise<void> {
  await inStep(db, run, async (tx, { number, actor_ref }) => {
    const moved = await moveValues(tx, actor_ref, merge, kind, ids);
    await sql`update field_runs set done = done + ${moved}::bigint where number = ${number}`.execute(tx);
  });
}

/**
 * Moves values, also those written meanwhile. A moved value no longer names the source, so that a killed job continues
 * without a recorded position.
 */
async function moveSome(db: Database, run: Run, source: string, target: string): Promise<void> {
  const field = await db
    .selectFrom('fields')
    .select(['id', 'type'])
    .where('id', '=', run.field_id)
    .executeTakeFirstOrThrow();
  const merge: Merge = { field, source, target };
  for (const kind of ['asset', 'collection'] as const) {
    const ids = await findSubjects(db, merge, kind, KEYS);
    for (let at = 0; at < ids.length; at += AT_ONCE)
      await moveStep(db, run, merge, kind, ids.slice(at, at + AT_ONCE));
    if (ids.length === KEYS) return;
  }
  await inStep(db, run, async (tx, { number, actor_ref }) => {
    const left = await findSubjects(tx, merge, 'asset', 1);
    if (left.length > 0 || (await findSubjects(tx, merge, 'collection', 1)).length > 0) return;
    await finish(tx, number);
    await notifyPeersOfValues(tx, field.id, actor_ref);
  });
}

/** Rewrites the next documents after the recorded position. */
async function rewriteSome(db: Database, run: Run): Promise<void> {
  await inStep(db, run, async (tx, { number, subject_kind, after, field_id }) => {
    const { last, count } = await writeNextDocuments(tx, {
      kind: subject_kind,
      fieldId: field_id,
      after,
      limit: AT_ONCE,
    });
    if (last !== undefined) {
      await sql`update field_runs set after = ${last}, done = done + ${count}::bigint where number = ${number}`.execute(
        tx,
      );
    } else if (subject_kind === 'asset') {
      await sql`update field_runs set subject_kind = 'collection', after = default where number = ${number}`.execute(
        tx,
      );
    } else await finish(tx, number);
  });
}

/** Finishes changes of fields that concern many values. */
export function rewriteFieldsJob({ db }: Pick<Deps, 'db'>): JobHandler<'rewrite-fields'> {
  return async () => {
    for (let run = await firstRun(db); run !== undefined; run = await firstRun(db)) {
      const { source, target } = run;
      if (source === null || target === null) await rewriteSome(db, run);
      else await moveSome(db, run, source, target);
    }
  };
}
