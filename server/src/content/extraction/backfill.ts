import { cancelBackfill, type Extraction, getExtraction, startBackfill } from '@vitrine/contract/extraction';
import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { enqueue, type JobHandler } from '../../core/job-table.ts';
import { recordEvent } from '../../people/audit/record.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { DatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { type ExtractDeps, extractFile } from './extract.ts';
import { readWiring } from './wiring.ts';

/** Files per job: what a crash repeats, and how often progress is recorded. */
const STEP = 40;
/** Files read concurrently within a step. */
const AT_ONCE = 2;

interface Run {
  id: string;
  state: Exclude<Extraction['state'], 'none'>;
  field_id: string | null;
  only_failed: boolean;
  passed: string;
  total: number;
  done: number;
  failed: number;
  started_at: string;
  finished_at: string | null;
  started_by_user_ref: number | null;
}

/** The files of a pass: all whose originals are here, or those that could not be read. */
function filesOf({ only_failed }: Pick<Run, 'only_failed'>) {
  return only_failed
    ? sql`file_metadata f where f.error is not null`
    : sql`files f where f.origin_peer_id is null`;
}

async function progress({ db, metadata }: Deps): Promise<Extraction> {
  const { rows } = await sql<Run>`
    select * from extraction_runs order by started_at desc, id desc limit 1`.execute(db);
  const [run] = rows;
  const inUse = await metadata.inUse();
  return {
    running: run?.state === 'running',
    state: run?.state ?? 'none',
    done: run?.done ?? 0,
    total: run?.total ?? 0,
    failed: run?.failed ?? 0,
    field_id: run?.field_id ?? null,
    only_failed: run?.only_failed ?? false,
    started_at: run?.started_at ?? null,
    finished_at: run?.finished_at ?? null,
    reader: {
      name: inUse.name,
      version: inUse.version,
      reason: inUse.name === 'fallback' ? inUse.reason : null,
    },
  };
}

export const show = handle(getExtraction, async (deps) => ({ status: 200, body: await progress(deps) }));

/** Only a wired field can be filled by itself. */
async function checkField(tx: Tx, id: string): Promise<void> {
  const row = await tx.selectFrom('fields').select('code').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound();
  if ((await readWiring(tx, id)).length === 0) throw refuse('field-not-wired', { field: row.code });
}

/** `POST /admin/system/extraction/backfill`: one pass at a time. */
export const start = handle(startBackfill, async (deps, { caller, body }) => {
  const field_id = body?.field_id ?? null;
  const only_failed = body?.only_failed ?? false;
  await deps.db.transaction().execute(async (tx) => {
    if (field_id !== null) await checkField(tx, field_id);
    const { rows } = await sql<{ id: string }>`
      insert into extraction_runs (field_id, only_failed, started_by_user_ref, total)
      select ${field_id}::uuid, ${only_failed}, ${caller.ref}, count(*) from ${filesOf({ only_failed })}
      on conflict ((true)) where state = 'running' do nothing returning id`.execute(tx);
    const [run] = rows;
    if (run === undefined) throw refuse('backfill-in-progress');
    await enqueue(tx, 'extract-stored', { run: run.id }, { key: `extract-stored:${run.id}` });
    await recordEvent(tx, caller, {
      event: 'extraction.backfill.started',
      metadata: { run: run.id, field_id, only_failed },
    });
  });
  return { status: 201, body: await progress(deps) };
});

/** Idempotent; the current step is completed and is the last. */
export const cancel = handle(cancelBackfill, async ({ db }, { caller }) => {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      update extraction_runs set state = 'cancelled', finished_at = now() where state = 'running'
      returning id`.execute(tx);
    for (const { id } of rows) {
      await recordEvent(tx, caller, { event: 'extraction.backfill.cancelled', metadata: { run: id } });
    }
  });
  return { status: 204 };
});

/** Processes the next files and returns their hashes, and how many of them could not be read. */
async function dealWithNext(deps: ExtractDeps, run: Run): Promise<{ hashes: string[]; failed: number }> {
  const { rows } = await sql<{ hash: string }>`
    select f.hash from ${filesOf(run)} and f.hash > ${run.passed} order by f.hash limit ${STEP}`.execute(
    deps.db,
  );
  const wiring = await readWiring(deps.db, run.field_id);
  const limit = pLimit(AT_ONCE);
  const reuse = run.only_failed ? 'none' : 'sound';
  const outcomes = await Promise.all(
    rows.map(({ hash }) => limit(() => extractFile(deps, hash, { wiring, reuse }))),
  );
  return {
    hashes: rows.map(({ hash }) => hash),
    failed: outcomes.filter((outcome) => outcome === 'failed').length,
  };
}

/**
 * Counts a step and enqueues the next; a step that was counted before, or belongs to a pass that ended, changes
 * nothing.
 */
async function countStep(tx: Tx, run: Run, hashes: readonly string[], failed: number): Promise<void> {
  const isLast = hashes.length < STEP;
  const { numAffectedRows } = await sql`
    update extraction_runs set done = done + ${hashes.length}, failed = failed + ${failed},
      passed = ${hashes.at(-1) ?? run.passed}, state = ${isLast ? 'finished' : 'running'},
      finished_at = case when ${isLast} then now() end
    where id = ${run.id} and state = 'running' and passed = ${run.passed}`.execute(tx);
  if (numAffectedRows === 0n || isLast) return;
  await enqueue(
    tx,
    'extract-stored',
    { run: run.id },
    { key: `extract-stored:${run.id}:${hashes.at(-1) ?? ''}` },
  );
}

/** Runs one step of a pass. After a crash, another worker repeats it from where the last step was counted. */
export function backfillJob(deps: ExtractDeps): JobHandler<'extract-stored'> {
  return async ({ run: id }, { lastAttempt, log }) => {
    const { rows } = await sql<Run>`
      select * from extraction_runs where id = ${id} and state = 'running'`.execute(deps.db);
    const [run] = rows;
    if (run === undefined) return;
    try {
      const { hashes, failed } = await dealWithNext(deps, run);
      await deps.db.transaction().execute((tx) => countStep(tx, run, hashes, failed));
      log.debug({ run: id, files: hashes.length, failed }, 'filled fields of stored files');
    } catch (error) {
      if (lastAttempt && !(error instanceof DatabaseUnavailable)) {
        await sql`update extraction_runs set state = 'failed', finished_at = now()
          where id = ${id} and state = 'running'`.execute(deps.db);
      }
      throw error;
    }
  };
}
