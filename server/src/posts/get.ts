import { getPost, type Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { readablePosts } from '../access/posts.ts';
import { handle } from '../handle.ts';
import type { Rung } from '../media/ladder.ts';
import type { Database } from '../platform/database/pool.ts';
import { notFound } from '../platform/http/refuse.ts';
import { showPosts } from './show.ts';

/** Returns one post under the read rule, with placeholders (POST-22); null when it is missing or not readable. */
export async function readPost(
  db: Database,
  caller: Caller,
  ladder: readonly Rung[],
  id: string,
): Promise<Post | null> {
  const { rows } = await sql<{ id: string }>`
    select p.id from posts p where p.id = ${id} and ${readablePosts(caller)}`.execute(db);
  const ids = rows.map((row) => row.id);
  return (await showPosts(db, caller, ids, { ladder, keepRestricted: true }))[0] ?? null;
}

/** `GET /posts/{id}`: unreadable and missing posts are the same 404 (POST-4). */
export const get = handle(getPost, async ({ db, ladder }, { caller, params }) => {
  const post = await readPost(db, caller, ladder, params.id);
  if (post === null) throw notFound();
  return { status: 200, body: post };
});
