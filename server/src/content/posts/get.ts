import type { AnnotationCount } from '@vitrine/contract/annotations';
import { getPost, type Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { noTexts } from '../../core/kept-texts.ts';
import type { Rung } from '../../media/ladder.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { annotationCounts } from './annotation-counts.ts';
import { writePosts } from './write-page.ts';

/** Returns the id in a list if the caller may read the post, otherwise an empty list. */
async function readableIds(db: Database, caller: Caller, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from posts p where p.id = ${id} and ${readablePosts(caller)}`.execute(db);
  return rows.map((row) => row.id);
}

/** Adds what lists leave out: how many annotations of each file the caller reads. */
function withCounts(post: string, counts: readonly AnnotationCount[]): JsonText<Post> {
  return new JsonText<Post>(`${post.slice(0, -1)},"annotation_counts":${JSON.stringify(counts)}}`);
}

/**
 * Returns one post under the read rule, with placeholders (POST-22), in the transaction that has changed it; null when it
 * is missing or not readable.
 */
export async function readChanged(
  tx: Tx,
  caller: Caller,
  ladder: readonly Rung[],
  id: string,
): Promise<JsonText<Post> | null> {
  const ids = await readableIds(tx, caller, id);
  const writing = { db: tx, ladder, texts: noTexts, postTexts: noTexts };
  const [post] = await writePosts(writing, caller, ids, true);
  return post === undefined ? null : withCounts(post, await annotationCounts(tx, caller, id));
}

/** `GET /posts/{id}`: unreadable and missing posts are the same 404 (POST-4). Written from texts, as in the feed. */
export const get = handle(getPost, async (deps, { caller, params }) => {
  const ids = await readableIds(deps.db, caller, params.id);
  const [[post], counts] = await Promise.all([
    writePosts(deps, caller, ids, true),
    annotationCounts(deps.db, caller, params.id),
  ]);
  if (post === undefined) throw notFound();
  return { status: 200, body: withCounts(post, counts) };
});
