import type { Collection, CollectionQuery } from '@vitrine/contract/collections';
import { sql } from 'kysely';
import type { Visitor } from '../support/client.ts';
import type { Library } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';

/** Creates a collection of this account with these posts in this order. */
export async function collect(
  owner: Visitor,
  name: string,
  posts: readonly { id: string }[] = [],
  body: { visibility?: Collection['visibility']; description?: string; expires_at?: string } = {},
): Promise<Collection> {
  const collection = await owner.ok('createCollection', { body: { name, ...body } });
  for (const post of posts) await put(owner, collection.id, post.id);
  return posts.length === 0 ? collection : owner.ok('getCollection', { params: { id: collection.id } });
}

export const put = (who: Visitor, id: string, post_id: string) =>
  who.ok('addToCollection', { params: { id, post_id } });

export const takeOut = (who: Visitor, id: string, post_id: string) =>
  who.ok('removeFromCollection', { params: { id, post_id } });

export const move = (who: Visitor, id: string, post_id: string, before: string | null) =>
  who.ok('orderCollection', { params: { id }, body: { post_id, before } });

/** Returns all posts of a collection for this visitor, read in pages of this size. */
export async function idsIn(who: Visitor, id: string, limit = 50): Promise<string[]> {
  const read = (query: object) => who.ok('listCollectionPosts', { params: { id }, query });
  return (await pagesOf((from) => read({ limit, ...from }))).flat().map((post) => post.id);
}

/** Returns every collection that a visitor receives for this query, over all pages. */
export async function everyCollection(who: Visitor, query: CollectionQuery = {}): Promise<Collection[]> {
  return (await pagesOf((from) => who.ok('listCollections', { query: { ...query, ...from } }))).flat();
}

/** Makes a collection expire. */
export async function expire({ deps: { db } }: Library, id: string): Promise<void> {
  await sql`update collections set expires_at = now() - interval '1 second' where id = ${id}`.execute(db);
}

/** Inserts many posts into a collection, in this order. */
export async function placeAll(
  { deps: { db } }: Library,
  id: string,
  postIds: readonly string[],
  addedBy: number,
): Promise<void> {
  await sql`insert into collection_posts (collection_id, post_id, position, added_by)
    select ${id}, post.id, post.n * 4294967296, ${addedBy}
    from unnest(${[...postIds]}::uuid[]) with ordinality post (id, n)`.execute(db);
}
