import type { Collection, CollectionQuery } from '@vitrine/contract/collections';
import type { Post } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import type { Visitor } from '../support/client.ts';
import type { Library } from '../support/library.ts';

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
async function contents(who: Visitor, id: string, limit = 50): Promise<Post[]> {
  const items: Post[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Post[]; next_cursor: string | null } = await who.ok('listCollectionPosts', {
      params: { id },
      query: { limit, ...(cursor === null ? {} : { cursor }) },
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}

export const idsIn = async (who: Visitor, id: string, limit = 50) =>
  (await contents(who, id, limit)).map((post) => post.id);

/** Returns every collection that a visitor receives for this query, over all pages. */
export async function everyCollection(who: Visitor, query: CollectionQuery = {}): Promise<Collection[]> {
  const items: Collection[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Collection[]; next_cursor: string | null } = await who.ok('listCollections', {
      query: { ...query, ...(cursor === null ? {} : { cursor }) },
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
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
