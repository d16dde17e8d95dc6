import { type FeedQuery, listPosts } from '@vitrine/contract/posts';
import { type RawBuilder, sql } from 'kysely';
import { feedKeeps, hidesRestricted, liveAsset } from '../../access/assets.ts';
import type { Caller, SignedIn } from '../../access/caller.ts';
import { postsInCollection } from '../../access/collections.ts';
import { fromOrigin } from '../../access/federation.ts';
import {
  listedDrafts,
  listedPosts,
  listedPostsAndTrash,
  pinnedPosts,
  postsLikedBy,
  publishedPost,
} from '../../access/posts.ts';
import { liveTeam } from '../../access/teams.ts';
import { handle } from '../../core/handle.ts';
import { storedTags } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';
import { numberCursor, timeCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT, rowsOfPage } from '../../platform/http/page.ts';
import { matchingRows } from '../search-index/matching.ts';
import { type Lists, mergedFeed } from './feed-merged.ts';
import { writePosts, writtenPage } from './write-page.ts';

interface FeedRow {
  id: string;
  /** The sort key of the page, as encoded in the cursor. */
  key: string;
}

/** FEED-8: the lists of posts that make up the feed segments `team` and `following`. */
function listsOf(caller: SignedIn, feed: 'team' | 'following'): Lists {
  if (feed === 'following') {
    return {
      column: sql`p.author_user_ref`,
      keys: sql`select followed_user_ref as key from user_follows where follower_user_ref = ${caller.ref}`,
    };
  }
  // The caller's live teams: joined or followed.
  return {
    column: sql`p.team_id`,
    keys: sql`select t.id as key from teams t where ${liveTeam} and t.id in (
      select team_id from team_members where user_ref = ${caller.ref}
      union select team_id from team_follows where user_ref = ${caller.ref})`,
  };
}

/** The filters of the query; an index supports each one. */
function filters(caller: Caller, query: FeedQuery): RawBuilder<boolean>[] {
  const found: RawBuilder<boolean>[] = [];
  if (query.author_ref !== undefined) found.push(sql`p.author_user_ref = ${query.author_ref}`);
  if (query.team_id !== undefined) found.push(sql`p.team_id = ${query.team_id}`);
  if (query.origin !== undefined) found.push(fromOrigin('p', query.origin));
  if (query.tag !== undefined) found.push(sql`p.tags @> ${query.tag}::text[]`);
  if (query.asset !== undefined) {
    found.push(sql`exists (select from post_members m join assets a on a.id = m.asset_id
      where m.post_id = p.id and m.asset_id = ${query.asset} and ${liveAsset})`);
  }
  if (query.collection !== undefined) {
    // No collection shows a draft (POST-7).
    found.push(query.draft === true ? sql`false` : postsInCollection(caller, query.collection));
  }
  if (query.liked_by !== undefined) found.push(postsLikedBy(caller, query.liked_by));
  if (query.pinned_by !== undefined) found.push(pinnedPosts(query.pinned_by));
  if (query.feed === 'team' || query.feed === 'following') {
    if (caller.kind === 'anonymous') return [...found, sql`false`];
    const { column, keys } = listsOf(caller, query.feed);
    found.push(sql`${column} = any(array(${keys}))`);
  }
  return found;
}

/** The order of the feed and the start of a page. */
interface Order {
  key: RawBuilder<string>;
  after: RawBuilder<boolean>;
  by: RawBuilder<unknown>;
}

function orderOf(query: FeedQuery): Order {
  if (query.feed === 'trending') {
    const from = numberCursor.read(query.cursor);
    return {
      key: sql`p.trend::text`,
      after:
        from === null ? sql`true` : sql`(p.trend, p.id) < (${from.at}::double precision, ${from.id}::uuid)`,
      by: sql`p.trend desc, p.id desc`,
    };
  }
  const from = timeCursor.read(query.cursor);
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

/** The access rule of this query. */
function ruleOf(caller: Caller, query: FeedQuery): RawBuilder<boolean> {
  if (query.draft === true) return listedDrafts(caller);
  return query.include_deleted === true ? listedPostsAndTrash(caller) : listedPosts(caller);
}

/** Returns whether a search or a filter narrows the feed, besides its segment. */
function isNarrowed({ feed, limit, cursor, sort, q, ...filters }: FeedQuery): boolean {
  return (
    (q ?? '').trim() !== '' || Object.values(filters).some((value) => value !== undefined && value !== false)
  );
}

/** Returns the lists to merge when nothing else narrows the feed; null when it is read without merging. */
function mergedFrom(caller: Caller, query: FeedQuery): Lists | null {
  const { feed } = query;
  if (caller.kind === 'anonymous' || (feed !== 'team' && feed !== 'following')) return null;
  return isNarrowed(query) ? null : listsOf(caller, feed);
}

/** Selects the posts: one more than requested, to know whether there is a next page. */
async function feedRows(db: Database, caller: Caller, query: FeedQuery, limit: number): Promise<FeedRow[]> {
  // FEED-12: a list of drafts includes all of them.
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
  const conditions = sql.join([order.after, ...filters(caller, query), ...searched], sql` and `);
  const rule = sql<boolean>`${ruleOf(caller, query)} and ${kept}`;
  // The best plan of a narrowed feed depends on the filter's value.
  const most = isNarrowed(query) ? sql`${limit + 1}` : sql.lit(rowsOfPage(limit));
  const isShared = query.draft !== true && query.include_deleted !== true;
  const read =
    query.tag !== undefined && isShared
      ? taggedRows(order, conditions, rule, most)
      : sql<FeedRow>`select p.id, ${order.key} as key from posts p
          where ${rule} and ${conditions} order by ${order.by} limit ${most}`;
  return (await read.execute(db)).rows;
}

/**
 * Sorts the posts that meet the conditions before it decides which the caller reads, so that it stops at a full page
 * (decision 359). `offset 0` keeps the planner from deciding about all of them first.
 */
function taggedRows(
  order: Order,
  conditions: RawBuilder<unknown>,
  rule: RawBuilder<boolean>,
  most: RawBuilder<unknown>,
): RawBuilder<FeedRow> {
  const sorted = sql`select p.* from posts p where ${publishedPost} and ${conditions} order by ${order.by} offset 0`;
  const read = sql`select p.id, ${order.key} as key, p.posted_at, p.trend from (${sorted}) p where ${rule} limit ${most}`;
  return sql`select id, key from (${read}) p order by ${order.by}`;
}

/**
 * Reads the feed in three statements besides that of the session, and one more for a tag: a full page as long as there are
 * more posts (FEED-1, FEED-6).
 */
export const feed = handle(listPosts, async (deps, { caller, query }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const asked = query.tag === undefined ? query : { ...query, tag: await storedTags(deps.db, query.tag) };
  const rows = await feedRows(deps.db, caller, asked, limit);
  const cursor = query.feed === 'trending' ? numberCursor : timeCursor;
  const page = cutPage(rows, limit, (last) => cursor.after({ at: last.key, id: last.id }));
  const ids = page.items.map((row) => row.id);
  const items = await writePosts(deps, caller, ids, !hidesRestricted(caller));
  return { status: 200, body: writtenPage(items, page.next_cursor) };
});
