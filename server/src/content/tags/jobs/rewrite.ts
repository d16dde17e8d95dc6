import { sql } from 'kysely';
import type { Deps } from '../../../core/deps.ts';
import type { JobHandler } from '../../../core/job-table.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { rewriteStep, type Step, takeTurn } from '../rewrite.ts';

/** Posts or assets per transaction: about a second's work. */
const CHUNK = 1000;
/** Keys per search for the next ones, which reads the index entries of every post with the tag. */
const KEYS = 20_000;

interface Run {
  number: number;
  source: string;
  target: string;
}

/** Runs are finished in order, because a later one may concern the same tags (TAG-8). */
async function firstRun(db: Database): Promise<Run | undefined> {
  const { rows } = await sql<Run>`select number, source, target from tag_runs
    where finished_at is null order by number limit 1`.execute(db);
  return rows[0];
}

/**
 * What still has the tag, also if it was written meanwhile. A rewritten row has it no longer, so that a killed job
 * continues without a recorded position.
 */
async function findRemaining(db: Database, { source }: Run): Promise<Step | null> {
  const posts = await sql<{
    id: string;
  }>`select id from posts where tags @> array[${source}] limit ${KEYS}`.execute(db);
  if (posts.rows.length > 0) return { kind: 'posts', ids: posts.rows.map(({ id }) => id) };
  const assets = await sql<{ id: string }>`select asset_id as id from asset_tags where value = ${source}
    limit ${KEYS}`.execute(db);
  return assets.rows.length > 0 ? { kind: 'assets', ids: assets.rows.map(({ id }) => id) } : null;
}

/** Rewrites one chunk and counts it, in one transaction. */
async function rewriteChunk(db: Database, { number, source, target }: Run, step: Step): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await takeTurn(tx);
    // A second job waits here, and then finds the rows rewritten or the run finished.
    const { rows } = await sql`select from tag_runs where number = ${number} and finished_at is null
      for update`.execute(tx);
    if (rows.length === 0) return;
    const rewritten = await rewriteStep(tx, source, target, step);
    await sql`update tag_runs set done = done + ${rewritten}::bigint where number = ${number}`.execute(tx);
  });
}

/** Does the next chunk of keys of the first run, or ends it. Returns false when no run is left. */
async function rewriteSome(db: Database): Promise<boolean> {
  const run = await firstRun(db);
  if (run === undefined) return false;
  const remaining = await findRemaining(db, run);
  if (remaining === null) {
    await sql`update tag_runs set finished_at = now() where number = ${run.number} and finished_at is null`.execute(
      db,
    );
    return true;
  }
  const { kind } = remaining;
  const ids = remaining.ids.sort();
  for (let at = 0; at < ids.length; at += CHUNK)
    await rewriteChunk(db, run, { kind, ids: ids.slice(at, at + CHUNK) });
  return true;
}

/** Finishes changes of tags that concern many posts and assets. */
export function rewriteTagsJob({ db }: Pick<Deps, 'db'>): JobHandler<'rewrite-tags'> {
  return async () => {
    while (await rewriteSome(db)) {
      // Continues with the rest.
    }
  };
}
