import { sql } from 'kysely';
import type { Database, Tx } from '../platform/database/pool.ts';
import { notFound } from '../platform/http/refuse.ts';
import type { Caller } from './caller.ts';
import { type Predicate, readablePosts } from './posts.ts';

/** Whether the caller may read this post. PostgreSQL evaluates it once per statement. */
export function isReadable(caller: Caller, postId: string): Predicate {
  return sql`exists (select from posts p where p.id = ${postId} and ${readablePosts(caller)})`;
}

/** Throws 404 unless the caller may read this post. */
export async function checkReadable(db: Database, caller: Caller, postId: string): Promise<void> {
  const { rows } = await sql`select from posts p where p.id = ${postId} and ${readablePosts(caller)}`.execute(
    db,
  );
  if (rows.length === 0) throw notFound();
}

/**
 * Locks a post against other writers of its counters; throws 404 unless the caller may read it. Every change of
 * comments takes this lock first, which prevents deadlocks.
 */
export async function lockReadable(
  tx: Tx,
  caller: Caller,
  postId: string,
): Promise<{ draft: boolean; comments_enabled: boolean }> {
  const { rows } = await sql<{ draft: boolean; comments_enabled: boolean }>`
    select p.draft, p.comments_enabled from posts p
    where p.id = ${postId} and ${readablePosts(caller)} for no key update of p`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}
