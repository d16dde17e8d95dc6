import { type Comment, type CommentRoot, listComments, listReplies } from '@vitrine/contract/comments';
import type { QueryOf } from '@vitrine/contract/operation';
import { type RawBuilder, sql } from 'kysely';
import { checkDiscussed, commentsReadIn, readableComments } from '../../access/annotations.ts';
import type { Caller } from '../../access/caller.ts';
import { disclosedIdentity } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type NewestFirst, newestFirst } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { readGuestThread } from '../guest-comments/thread.ts';
import { type CommentRow, commentColumns, showComment } from './show.ts';

/** Replies returned with a root; `GET /comments/{id}/replies` returns the rest. */
const REPLIES_SHOWN = 20;

const keyOf = (row: { created_at: string; id: string }) => ({ at: row.created_at, id: row.id });

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
      where c.parent_id = root_id and ${commentsReadIn(caller, postId)}
      order by c.created_at, c.id limit ${REPLIES_SHOWN}) r
    order by r.created_at, r.id`.execute(db);
  const replies = new Map<string, Comment[]>();
  for (const { root_id, ...row } of rows) {
    replies.set(root_id, [...(replies.get(root_id) ?? []), showComment(row)]);
  }
  return replies;
}

/** Returns one more than a page of comments of a post, under its read rule (decision 371). */
async function rowsOf(
  db: Database,
  caller: Caller,
  postId: string,
  which: RawBuilder<boolean>,
  page: NewestFirst,
): Promise<CommentRow[]> {
  const { rows } = await sql<CommentRow>`
    select ${commentColumns(caller)} from comments c left join users cu on cu.ref = c.author_user_ref
    where ${which} and ${commentsReadIn(caller, postId)} and ${page.after} ${page.order}`.execute(db);
  return rows;
}

/** ANNOTATION-7: the conditions of a list on roots `c` with their authors `users cu`. */
function filtersOf(caller: Caller, query: QueryOf<typeof listComments>): RawBuilder<boolean> {
  const { asset_id, resolved, annotated, author_ref, assignee } = query;
  const file = asset_id === undefined ? sql`` : sql` and c.annotated_asset_id = ${asset_id}`;
  const state = resolved === undefined ? sql`` : sql` and (c.resolved_at is not null) = ${resolved}`;
  const kind =
    annotated === undefined
      ? sql``
      : annotated
        ? sql` and c.annotated_asset_id is not null`
        : sql` and c.annotated_asset_id is null`;
  // No filter tells who wrote what if the list does not.
  const author =
    author_ref === undefined
      ? sql``
      : sql` and c.author_user_ref = ${author_ref} and ${disclosedIdentity(caller, 'cu')}`;
  const assigned =
    assignee === undefined
      ? sql``
      : sql` and c.assignee_user_ref = ${assignee} and exists (
          select from users au where au.ref = c.assignee_user_ref and ${disclosedIdentity(caller, 'au')})`;
  return sql`c.parent_id is null${file}${state}${kind}${author}${assigned}`;
}

/** Returns the rows of two lists, newest first. Times are in UTC with three digits, so that their texts are in order. */
function merged(some: readonly CommentRoot[], others: readonly CommentRoot[]): CommentRoot[] {
  if (others.length === 0) return [...some];
  const place = (root: CommentRoot) => `${root.created_at} ${root.id}`;
  return [...some, ...others].sort((a, b) => (place(a) < place(b) ? 1 : -1));
}

/** COMMENT-1: returns the comments of a post: roots newest first, with their first replies. */
export const thread = handle(listComments, async ({ db }, { caller, params, query }) => {
  await checkDiscussed(db, caller, params.id);
  const which = sql<boolean>`c.post_id = ${params.id} and ${filtersOf(caller, query)}`;
  const page = newestFirst(query, 'c.created_at', 'c.id');
  const rows = await rowsOf(db, caller, params.id, which, page);
  const guests =
    caller.kind === 'anonymous'
      ? []
      : await readGuestThread(db, caller, params.id, query, newestFirst(query, 'gc.created_at', 'gc.id'));
  const replies = await firstReplies(
    db,
    caller,
    params.id,
    rows.filter((row) => row.reply_count > 0).map((row) => row.id),
  );
  const roots = rows.map((row): CommentRoot => ({ ...showComment(row), replies: replies.get(row.id) ?? [] }));
  const cut = page.cut(merged(roots, guests), keyOf);
  return { status: 200, body: { items: cut.rows, next_cursor: cut.next } };
});

export const replies = handle(listReplies, async ({ db }, { caller, params, query }) => {
  const { rows: roots } = await sql<{ post_id: string }>`
    select c.post_id from comments c join posts p on p.id = c.post_id
    where c.id = ${params.id} and ${readableComments(caller)}`.execute(db);
  const [root] = roots;
  if (root === undefined) throw notFound();
  const page = newestFirst(query, 'c.created_at', 'c.id');
  const cut = page.cut(await rowsOf(db, caller, root.post_id, sql`c.parent_id = ${params.id}`, page), keyOf);
  return { status: 200, body: { items: cut.rows.map(showComment), next_cursor: cut.next } };
});
