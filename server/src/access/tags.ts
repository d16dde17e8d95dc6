import { type RawBuilder, sql } from 'kysely';
import { shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';
import { listedPosts } from './posts.ts';

/**
 * Who may know of which tag: whoever may read a published post or is shown an asset that has it. Predicates speak of
 * a row of `tags` under the alias `t`, a list of names that says nothing by itself.
 */
type Predicate = RawBuilder<boolean>;

/** The name as posts and assets have it, so that their indexes answer for it. */
const name = sql<string>`t.name collate "default"`;

/**
 * Which names may be the caller's at all. Visitors are given public things alone, so that names never seen on one
 * need no asking; it spares time and decides nothing.
 */
export function worthAsking(caller: Caller): Predicate {
  return caller.kind === 'anonymous' ? sql`t.seen_in_public` : sql`true`;
}

/** How many listed posts of the caller have the tag, counted up to `most`. */
export function taggedPosts(caller: Caller, most: number): RawBuilder<number> {
  return sql`(select count(*) from (
    select from posts p where p.tags @> array[${name}] and ${listedPosts(caller)} limit ${most}) counted)`;
}

/** Of the newest posts so many are looked through for tags. */
const NEWEST = 1000;

/**
 * Whether one of the newest listed posts of the caller has the tag: read once a statement, it answers for the tags that
 * many posts have, which are dear to ask for one by one. Others are to be asked for by `taggedPosts`.
 */
export function onNewestPost(caller: Caller): Predicate {
  return sql`(${name} in (select unnest(p.tags) from (
    select p.tags from posts p where ${listedPosts(caller)} order by p.posted_at desc, p.id desc limit ${NEWEST}) p))`;
}

/** Whether the caller is shown an asset that has the tag. One scalar subquery, so that it is never planned as a hash. */
export function onShownAsset(caller: Caller): Predicate {
  return sql`coalesce((select true from asset_tags x join assets a on a.id = x.asset_id
    where x.value = ${name} and ${shownAssets(caller)} limit 1), false)`;
}
