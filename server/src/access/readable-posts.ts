import { sql } from 'kysely';
import type { Database } from '../platform/database/pool.ts';
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
