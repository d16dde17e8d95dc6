import type { AnnotationCount } from '@vitrine/contract/annotations';
import type { Legacy } from '@vitrine/contract/legacy';
import { getPost, type Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { legacyJson } from '../../access/legacy.ts';
import { readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import { noTexts } from '../../core/kept-texts.ts';
import type { Rung } from '../../media/ladder.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { JsonText } from '../../platform/http/answer.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { annotationCounts } from './annotation-counts.ts';
import { writePosts } from './write-page.ts';

/** What lists leave out. */
interface OwnRow {
  id: string;
  legacy: Legacy | null;
}

/** Returns the row in a list if the caller may read the post, otherwise an empty list. */
async function readableRows(db: Database, caller: Caller, id: string): Promise<OwnRow[]> {
  const { rows } = await sql<OwnRow>`
    select p.id, ${legacyJson(caller, 'post', 'p.id')} as legacy
    from posts p where p.id = ${id} and ${readablePosts(caller)}`.execute(db);
  return rows;
}

const idsOf = (rows: readonly OwnRow[]) => rows.map(({ id }) => id);

/** Adds what lists leave out: how many annotations of each file the caller reads, and the old id. */
function completed(
  post: string,
  [row]: readonly OwnRow[],
  annotation_counts: readonly AnnotationCount[],
): JsonText<Post> {
  const legacy = row?.legacy ?? null;
  const more = JSON.stringify({ annotation_counts, ...(legacy === null ? {} : { legacy }) });
  return new JsonText<Post>(`${post.slice(0, -1)},${more.slice(1)}`);
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
  const rows = await readableRows(tx, caller, id);
  const writing = { db: tx, ladder, texts: noTexts, postTexts: noTexts };
  const [post] = await writePosts(writing, caller, idsOf(rows), true);
  return post === undefined ? null : completed(post, rows, await annotationCounts(tx, caller, id));
}

/** `GET /posts/{id}`: unreadable and missing posts are the same 404 (POST-4). Written from texts, as in the feed. */
export const get = handle(getPost, async (deps, { caller, params }) => {
  const rows = await readableRows(deps.db, caller, params.id);
  const [[post], counts] = await Promise.all([
    writePosts(deps, caller, idsOf(rows), true),
    annotationCounts(deps.db, caller, params.id),
  ]);
  if (post === undefined) throw notFound();
  return { status: 200, body: completed(post, rows, counts) };
});
