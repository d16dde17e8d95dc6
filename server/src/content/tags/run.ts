import type { TagRun } from '@vitrine/contract/tags';
import { sql } from 'kysely';
import { enqueue } from '../../core/job-table.ts';
import type { Tx } from '../../platform/database/pool.ts';

interface Change {
  source: string;
  target: string;
  total: number;
}

/** Whether an unfinished run concerns one of the tags: a later change then waits for its turn (TAG-8). */
export async function isInRun(tx: Tx, tags: readonly string[]): Promise<boolean> {
  const { rows } = await sql`select from tag_runs
    where finished_at is null and (source = any(${tags}) or target = any(${tags})) limit 1`.execute(tx);
  return rows.length > 0;
}

/** Leaves the posts and assets to the job (TAG-7). */
export async function startRun(tx: Tx, { source, target, total }: Change): Promise<TagRun> {
  const { rows } = await sql<{ id: string }>`insert into tag_runs (source, target, total)
    values (${source}, ${target}, ${total}) returning id`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('insert returned no row');
  await enqueue(tx, 'rewrite-tags', {}, { key: 'rewrite-tags' });
  return { id: row.id, done: 0, total };
}
