import { type FeedQuery, listPosts } from '@vitrine/contract/posts';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { feedKeeps, hidesRestricted, listedDrafts, listedPosts } from '../access/posts.ts';
import type { Database } from '../platform/database/pool.ts';
import { handle } from '../platform/http/bind.ts';
import { cursorAfter, readCursor, type TimeKey } from '../platform/http/cursor.ts';
import { showPosts } from './show.ts';

/** choices, lists: the default page. */
const DEFAULT_LIMIT = 50;

interface FeedRow {
  id: string;
  posted_at: string;
}

/** What the query narrows the feed to; each line is answered by an index. */
function filters(caller: Caller, query: FeedQuery): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  if (query.author_ref !== undefined) found.push(sql`p.author_user_ref = ${query.author_ref}`);
  if (query.team_id !== undefined) found.push(sql`p.team_id = ${query.team_id}`);
  if (query.tag !== undefined) found.push(sql`p.tags @> ${query.tag}::text[]`);
  if (query.asset !== undefined) {
    found.push(sql`exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = p.id and m.asset_id = ${query.asset} and a.deleted_at is null)`);
  }
  if (query.feed === 'following') {
    found.push(
      caller.kind === 'anonymous'
        ? sql`false`
        : sql`p.author_user_ref in (select followed_user_ref from user_follows where follower_user_ref = ${caller.ref})`,
    );
  }
  return found;
}

function after(key: TimeKey | null, oldestFirst: boolean): RawBuilder<boolean> {
  if (key === null) return sql`true`;
  return oldestFirst
    ? sql`(p.posted_at, p.id) > (${key.at}::timestamptz, ${key.id}::uuid)`
    : sql`(p.posted_at, p.id) < (${key.at}::timestamptz, ${key.id}::uuid)`;
}

/** Which posts: one more than asked for, so that the caller knows whether there is a next page. */
async function feedRows(db: Database, caller: Caller, query: FeedQuery, limit: number): Promise<FeedRow[]> {
  const rule = query.draft === true ? listedDrafts(caller) : listedPosts(caller);
  const kept = hidesRestricted(caller) ? feedKeeps(caller) : sql<boolean>`true`;
  const oldestFirst = query.sort === 'oldest';
  const conditions = [rule, kept, after(readCursor(query.cursor), oldestFirst), ...filters(caller, query)];
  const order = oldestFirst ? sql`p.posted_at, p.id` : sql`p.posted_at desc, p.id desc`;
  const { rows } = await sql<FeedRow>`
    select p.id, p.posted_at from posts p where ${sql.join(conditions, sql` and `)}
    order by ${order} limit ${limit + 1}`.execute(db);
  return rows;
}

/** The feed (spec 2.2, 2.11): a full page as long as there are more, in three statements. */
export const feed = handle(listPosts, async ({ db, ladder }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await feedRows(db, caller, query, limit);
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  const items = await showPosts(
    db,
    caller,
    pageRows.map((row) => row.id),
    { ladder, keepRestricted: !hidesRestricted(caller) },
  );
  const more = rows.length > limit && last !== undefined;
  return {
    status: 200,
    body: { items, next_cursor: more ? cursorAfter({ at: last.posted_at, id: last.id }) : null },
  };
});
