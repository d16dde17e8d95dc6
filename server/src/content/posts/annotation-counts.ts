import type { AnnotationCount } from '@vitrine/contract/annotations';
import { sql } from 'kysely';
import { annotationsReadIn } from '../../access/annotations.ts';
import type { Caller } from '../../access/caller.ts';
import type { Database } from '../../platform/database/pool.ts';

/** Returns how many annotations of each file of a post are open and resolved, of those that the caller reads. */
export async function annotationCounts(
  db: Database,
  caller: Caller,
  postId: string,
): Promise<AnnotationCount[]> {
  const { rows } = await sql<AnnotationCount>`
    select c.annotated_asset_id as asset_id, count(*) filter (where c.resolved_at is null) as open,
      count(c.resolved_at) as resolved
    from comments c where ${annotationsReadIn(caller, postId)}
    group by c.annotated_asset_id order by c.annotated_asset_id`.execute(db);
  return rows;
}
