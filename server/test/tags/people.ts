import type { Tag } from '@vitrine/contract/tags';
import type { Visitor } from '../support/client.ts';

/** Returns the tags with this prefix that the visitor sees, each with its count. */
export async function told(visitor: Visitor, q: string): Promise<Record<string, number>> {
  const { items } = await visitor.ok('listTags', { query: { q, limit: 200 } });
  return Object.fromEntries(items.map(({ tag, post_count }) => [tag, post_count]));
}

/** Returns the tags of all pages in order. */
export async function everyTag(visitor: Visitor, q: string, limit: number): Promise<Tag[][]> {
  const pages: Tag[][] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Tag[]; next_cursor: string | null } = await visitor.ok('listTags', {
      query: { q, limit, ...(cursor === null ? {} : { cursor }) },
    });
    pages.push(page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return pages;
}
