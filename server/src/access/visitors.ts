import { type RawBuilder, sql } from 'kysely';
import { servedAssets, shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';
import { readableCollections } from './collections.ts';
import { feedKeeps } from './feed.ts';
import { disclosedIdentity } from './identities.ts';
import { listedPosts, readablePosts } from './posts.ts';

/**
 * What the library gives to people without an account in public mode, for surfaces that are the same for everybody:
 * page heads, feeds, the sitemap and the preview of public mode. Whether public mode is on is the door's to decide.
 */
type Predicate = RawBuilder<boolean>;

/** These surfaces are the same for every request: they show what this caller is given. */
export const visitor: Caller = { kind: 'anonymous' };

/** Posts `p` in a visitor's feed. */
export const postsForVisitors: Predicate = sql`(${listedPosts(visitor)} and ${feedKeeps(visitor)})`;

/** Posts `p` whose page a visitor can open. */
export const postPagesForVisitors: Predicate = readablePosts(visitor);

/** Posts `p` in the sitemap, which needs no look at their members. */
export const mappedPosts: Predicate = listedPosts(visitor);

/** Assets `a` whose columns a visitor is given. */
export const assetsForVisitors: Predicate = shownAssets(visitor);

/** Assets `a` whose bytes a visitor is given. */
export const picturesForVisitors: Predicate = servedAssets(visitor);

/** Collections `c` that a visitor can open. */
export const collectionsForVisitors: Predicate = readableCollections(visitor);

/** Accounts `u` whose profile a visitor can open. */
export const peopleForVisitors: Predicate = disclosedIdentity(visitor, 'u');
