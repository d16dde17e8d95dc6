import { type Comment, listComments, listReplies } from '@vitrine/contract/comments';
import { sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { liveComment } from '../../access/comments.ts';
import { readablePosts } from '../../access/posts.ts';
import { checkReadable, isReadable } from '../../access/readable-posts.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { newestFirst, type PageQuery } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { type CommentRow, commentColumns, showComment } from './show.ts';

/** Replies returned with a root; `GET /comments/{id}/replies` returns the rest. */
const REPLIES_SHOWN = 20;

const keyOf = (row: CommentRow) => ({ at: row.created_at, id: row.id });

/** Returns the first replies of these roots of a post, oldest first, in one statement. */
async function firstReplies(
  db: Database,
  caller: Caller,
  postId: string,
  roots: readonly string[],
): Promise<Map<string, Comment[]>> {
  const { rows } = await sql<CommentRow & { root_id: string }>`
    select root_id, r.* from unnest(${[...roots]}::uuid[]) root_id, lateral (
      select ${commentColumns(caller)} from comments c left join users cu on cu.ref = c.author_user_ref
      where c.parent_id = root_id and ${liveComment} order by c.created_at, c.id limit ${REPLIES_SHOWN}) r
    where ${isReadable(caller, postId)}
    order by r.created_at, r.id`.execute(db);
  const replies = new Map<string, Comment[]>();
  for (const { root_id, ...row } of rows) {
    replies.set(root_id, [...(replies.get(root_id) ?? []), showComment(row)]);
  }
  return replies;
}

/** Returns a page of comments of a post, under its read rule (decision 371). */
async function pageOf(
  db: Database,
  caller: Caller,
  postId: string,
  which: ReturnType<typeof sql<boolean>>,
  query: PageQuery,
): Promise<{ rows: CommentRow[]; next: string | null }> {
  const page = newestFirst(query, 'c.created_at', 'c.id');
  const { rows } = await sql<CommentRow>`
    select ${commentColumns(caller)} from comments c left join users cu on cu.ref = c.author_user_ref
    where ${which} and ${liveComment} and ${isReadable(caller, postId)} and ${page.after} ${page.order}`.execute(
    db,
  );
  return page.cut(rows, keyOf);
}

/** COMMENT-1: returns the comments of a post: roots newest first, with their first replies. */
export const thread = handle(listComments, async ({ db }, { caller, params, query }) => {
  await checkReadable(db, caller, params.id);
  const { rows, next } = await pageOf(
    db,
    caller,
    params.id,
    sql`c.post_id = ${params.id} and c.parent_id is null`,
    query,
  );
  const replies = await firstReplies(
    db,
    caller,
    params.id,
    rows.filter((row) => row.reply_count > 0).map((row) => row.id),
  );
  const items = rows.map((row) => ({ ...showComment(row), replies: replies.get(row.id) ?? [] }));
  return { status: 200, body: { items, next_cursor: next } };
});

export const replies = handle(listReplies, async ({ db }, { caller, params, query }) => {
  const { rows: roots } = await sql<{ post_id: string }>`
    select c.post_id from comments c join posts p on p.id = c.post_id
    where c.id = ${params.id} and ${liveComment} and ${readablePosts(caller)}`.execute(db);
  const [root] = roots;
  if (root === undefined) throw notFound();
  const { rows, next } = await pageOf(db, caller, root.post_id, sql`c.parent_id = ${params.id}`, query);
  return { status: 200, body: { items: rows.map(showComment), next_cursor: next } };
});
