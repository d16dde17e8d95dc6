import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';
import { listedPosts } from './posts.ts';

/**
 * Who may know of which tag: readers of a published post, and callers who are shown an asset, with the tag. Predicates
 * refer to a row of `tags` with the alias `t`, a list of names that reveals nothing by itself.
 */
type Predicate = RawBuilder<boolean>;

/** The name in the form used by posts and assets, so that their indexes apply. */
const name = sql<string>`t.name collate "default"`;

/**
 * A superset of the caller's tags, which saves time and decides nothing. Anonymous callers see only public things, so
 * names never used on one can be skipped.
 */
export function possibleTags(caller: Caller): Predicate {
  return caller.kind === 'anonymous' ? sql`t.seen_in_public` : sql`true`;
}

/** How many listed posts of the caller have the tag, counted up to `most`. */
export function taggedPosts(caller: Caller, most: number): RawBuilder<number> {
  return sql`(select count(*) from (
    select from posts p where p.tags @> array[${name}] and ${listedPosts(caller)} limit ${most}) counted)`;
}

/** How many of the newest posts are scanned for tags. */
const NEWEST = 1000;

/**
 * Whether one of the caller's newest listed posts has the tag. Computed once per statement; answers for frequent tags,
 * which are expensive to check one by one. The others are checked by `taggedPosts`.
 */
export function isOnNewestPost(caller: Caller): Predicate {
  return sql`(${name} in (select unnest(p.tags) from (
    select p.tags from posts p where ${listedPosts(caller)} order by p.posted_at desc, p.id desc limit ${NEWEST}) p))`;
}

/** Whether the caller is shown an asset with the tag. One scalar subquery, so that it is never planned as a hash. */
export function onShownAsset(caller: Caller): Predicate {
  return sql`coalesce((select true from asset_tags x join assets a on a.id = x.asset_id
    where x.value = ${name} and ${shownAssets(caller)} limit 1), false)`;
}
