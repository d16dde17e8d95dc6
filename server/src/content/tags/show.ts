import { COUNTED_POSTS, type Tag } from '@vitrine/contract/tags';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { onShownAsset, possibleTags, taggedPosts } from '../../access/tags.ts';
import { storedTag } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';

function followedBy(caller: Caller): RawBuilder<boolean> {
  return caller.kind === 'anonymous'
    ? sql`false`
    : sql`exists (select from tag_follows g where g.user_ref = ${caller.ref} and g.key = t.key)`;
}

/**
 * Returns tags among those of `which` that the caller may know of, by name, in one statement that stops when the page
 * is full.
 */
export async function showTags(
  db: Database,
  caller: Caller,
  which: RawBuilder<boolean>,
  limit: number,
): Promise<Tag[]> {
  const { rows } = await sql<{ tag: string; n: number; followed: boolean }>`
    select t.name as tag, c.n, ${followedBy(caller)} as followed
    from tags t cross join lateral (select ${taggedPosts(caller, COUNTED_POSTS + 1)} as n offset 0) c
    where ${possibleTags(caller)} and ${which} and (c.n > 0 or ${onShownAsset(caller)})
    order by t.key limit ${limit}`.execute(db);
  return rows.map(({ tag, n, followed }) => ({
    tag,
    post_count: Math.min(n, COUNTED_POSTS),
    post_count_capped: n > COUNTED_POSTS,
    followed,
  }));
}

/** Returns one tag in its registered spelling (NAME-4), or null if the caller may not know of it. */
export async function showTag(db: Database, caller: Caller, name: string): Promise<Tag | null> {
  return (await showTags(db, caller, sql`t.name = ${await storedTag(db, name)}`, 1))[0] ?? null;
}
