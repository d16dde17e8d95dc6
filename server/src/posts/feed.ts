import { type FeedQuery, listPosts } from '@vitrine/contract/posts';
import { type RawBuilder, sql } from 'kysely';
import { liveAsset } from '../access/assets.ts';
import type { Caller, SignedIn } from '../access/caller.ts';
import { postsInCollection } from '../access/collections.ts';
import { feedKeeps, hidesRestricted } from '../access/feed.ts';
import { listedDrafts, listedPosts, listedPostsAndTrash, postsLikedBy } from '../access/posts.ts';
import { liveTeam } from '../access/teams.ts';
import { handle } from '../handle.ts';
import type { Database } from '../platform/database/pool.ts';
import { cursorAfter, readCursor, readNumberCursor } from '../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../platform/http/page.ts';
import { matchingRows } from '../search-index/matching.ts';
import { type Lists, mergedFeed } from './feed-merged.ts';
import { showPosts } from './show.ts';

interface FeedRow {
  id: string;
  /** What the page is ordered by, as the cursor names it. */
  key: string;
}

/** FEED-8, the feed segments `team` and `following`: the lists of posts they are made of. */
function listsOf(caller: SignedIn, feed: 'team' | 'following'): Lists {
  if (feed === 'following') {
    return {
      column: sql`p.author_user_ref`,
      keys: sql`select followed_user_ref as key from user_follows where follower_user_ref = ${caller.ref}`,
    };
  }
  // The live teams one belongs to or follows.
  return {
    column: sql`p.team_id`,
    keys: sql`select t.id as key from teams t where ${liveTeam} and t.id in (
      select team_id from team_members where user_ref = ${caller.ref}
      union select team_id from team_follows where user_ref = ${caller.ref})`,
  };
}

/** What the query narrows the feed to; each line is answered by an index. */
function filters(caller: Caller, query: FeedQuery): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  if (query.author_ref !== undefined) found.push(sql`p.author_user_ref = ${query.author_ref}`);
  if (query.team_id !== undefined) found.push(sql`p.team_id = ${query.team_id}`);
  if (query.tag !== undefined) found.push(sql`p.tags @> ${query.tag}::text[]`);
  if (query.asset !== undefined) {
    found.push(sql`exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = p.id and m.asset_id = ${query.asset} and ${liveAsset})`);
  }
  if (query.collection !== undefined) {
    // A draft is in no collection (POST-7).
    found.push(query.draft === true ? sql`false` : postsInCollection(caller, query.collection));
  }
  if (query.liked_by !== undefined) found.push(postsLikedBy(caller, query.liked_by));
  if (query.feed === 'team' || query.feed === 'following') {
    if (caller.kind === 'anonymous') return [...found, sql`false`];
    const { column, keys } = listsOf(caller, query.feed);
    found.push(sql`${column} = any(array(${keys}))`);
  }
  return found;
}

/** How the feed is ordered, and where a page begins. */
interface Order {
  key: RawBuilder<string>;
  after: RawBuilder<boolean>;
  by: RawBuilder<unknown>;
}

function orderOf(query: FeedQuery): Order {
  if (query.feed === 'trending') {
    const from = readNumberCursor(query.cursor);
    return {
      key: sql`p.trend::text`,
      after:
        from === null ? sql`true` : sql`(p.trend, p.id) < (${from.at}::double precision, ${from.id}::uuid)`,
      by: sql`p.trend desc, p.id desc`,
    };
  }
  const from = readCursor(query.cursor);
  const key: RawBuilder<string> = sql`p.posted_at`;
  if (query.sort === 'oldest') {
    return {
      key,
      after:
        from === null ? sql`true` : sql`(p.posted_at, p.id) > (${from.at}::timestamptz, ${from.id}::uuid)`,
      by: sql`p.posted_at, p.id`,
    };
  }
  return {
    key,
    after: from === null ? sql`true` : sql`(p.posted_at, p.id) < (${from.at}::timestamptz, ${from.id}::uuid)`,
    by: sql`p.posted_at desc, p.id desc`,
  };
}

/** Which posts there are at all for this question. */
function ruleOf(caller: Caller, query: FeedQuery): RawBuilder<boolean> {
  if (query.draft === true) return listedDrafts(caller);
  return query.include_deleted === true ? listedPostsAndTrash(caller) : listedPosts(caller);
}

/** Whether a search or a filter narrows the feed, besides its segment. */
function isNarrowed({ feed, limit, cursor, sort, q, ...filters }: FeedQuery): boolean {
  return (
    (q ?? '').trim() !== '' || Object.values(filters).some((value) => value !== undefined && value !== false)
  );
}

/** The lists a feed is merged from when nothing else narrows it; null where it is read like any other. */
function mergedFrom(caller: Caller, query: FeedQuery): Lists | null {
  const { feed } = query;
  if (caller.kind === 'anonymous' || (feed !== 'team' && feed !== 'following')) return null;
  return isNarrowed(query) ? null : listsOf(caller, feed);
}

/** How many rows a page of the plain feed reads: a page of 24, of the default 50, of 100 or of 200, and one more. */
const PLAIN_READS = [25, 51, 101, 201];

/**
 * How many rows to read for a page of `limit`; at least one more than it has. For the plain feed it is one of a few constants in
 * the statement, so that PostgreSQL keeps its plan: given a parameter, PostgreSQL expects a tenth of the table and plans every
 * page again, which takes three times as long as reading it. The best plan of a narrowed feed depends on the filter's value,
 * so PostgreSQL plans that one each time.
 */
function rowsRead(query: FeedQuery, limit: number): RawBuilder<number> {
  const constant = isNarrowed(query) ? undefined : PLAIN_READS.find((rows) => rows > limit);
  return constant === undefined ? sql`${limit + 1}` : sql.lit(constant);
}

/** Which posts: one more than asked for, so that the caller knows whether there is a next page. */
async function feedRows(db: Database, caller: Caller, query: FeedQuery, limit: number): Promise<FeedRow[]> {
  // A listing of drafts never leaves one out (FEED-12).
  const kept = hidesRestricted(caller) && query.draft !== true ? feedKeeps(caller) : sql<boolean>`true`;
  const order = orderOf(query);
  const lists = mergedFrom(caller, query);
  if (lists !== null) {
    const rule = sql<boolean>`(${listedPosts(caller)} and ${kept})`;
    const way = query.sort === 'oldest' ? 'oldest' : 'newest';
    const merged = mergedFeed({ lists, rule, way, after: order.after, most: limit + 1 });
    return (await sql<FeedRow>`${merged}`.execute(db)).rows;
  }
  const matching = await matchingRows(db, caller, 'post', query.q);
  const searched = matching === null ? [] : [matching];
  const conditions = [ruleOf(caller, query), kept, order.after, ...filters(caller, query), ...searched];
  const { rows } = await sql<FeedRow>`
    select p.id, ${order.key} as key from posts p where ${sql.join(conditions, sql` and `)}
    order by ${order.by} limit ${rowsRead(query, limit)}`.execute(db);
  return rows;
}

/** The feed (FEED-1, FEED-6): a full page as long as there are more, in three statements. */
export const feed = handle(listPosts, async ({ db, ladder }, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await feedRows(db, caller, query, limit);
  const page = cutPage(rows, limit, (last) => cursorAfter({ at: last.key, id: last.id }));
  const items = await showPosts(
    db,
    caller,
    page.items.map((row) => row.id),
    { ladder, keepRestricted: !hidesRestricted(caller) },
  );
  return { status: 200, body: { items, next_cursor: page.next_cursor } };
});
