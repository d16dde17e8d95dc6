import { type RawBuilder, sql } from 'kysely';
import { feedKeeps, servedAssets, shownAssets } from './assets.ts';
import type { Caller } from './caller.ts';
import { readableCollections } from './collections.ts';
import { disclosedIdentity } from './identities.ts';
import { listedPosts, readablePosts } from './posts.ts';

/**
 * What anonymous callers see in public mode, for surfaces that are the same for everyone: page heads, feeds, the
 * sitemap and the preview of public mode. Whether public mode is on is decided by the operation's door.
 */
type Predicate = RawBuilder<boolean>;

/** These surfaces are the same for every request: they show what this caller sees. */
export const visitor: Caller = { kind: 'anonymous' };

/** Posts `p` in an anonymous caller's feed. */
export const postsForVisitors: Predicate = sql`(${listedPosts(visitor)} and ${feedKeeps(visitor)})`;

/** Posts `p` whose page an anonymous caller can open. */
export const postPagesForVisitors: Predicate = readablePosts(visitor);

/** Posts `p` in the sitemap; does not depend on their members. */
export const mappedPosts: Predicate = listedPosts(visitor);

/** Assets `a` whose columns an anonymous caller sees. */
export const assetsForVisitors: Predicate = shownAssets(visitor);

/** Assets `a` whose bytes an anonymous caller is served. */
export const picturesForVisitors: Predicate = servedAssets(visitor);

/** Collections `c` that an anonymous caller can open. */
export const collectionsForVisitors: Predicate = readableCollections(visitor);

/** Accounts `u` whose profile an anonymous caller can open. */
export const peopleForVisitors: Predicate = disclosedIdentity(visitor, 'u');
