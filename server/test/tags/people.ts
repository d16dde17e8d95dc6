import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

/** Opens a library with an author of a picture, and an operator who may rename and merge tags. */
export async function openTags() {
  const library = await openLibrary();
  const root = await library.join('root', 'admin');
  const author = await library.join('author');
  const operator = await library.join('operator', 'viewer');
  await grant(library, operator, 'fields.vocabulary.merge');
  return { library, root, author, operator, picture: await upload(author, plainFile()) };
}

/** Returns the tags with this prefix that the visitor sees, each with its count. */
export async function told(visitor: Visitor, q: string): Promise<Record<string, number>> {
  const { items } = await visitor.ok('listTags', { query: { q, limit: 200 } });
  return Object.fromEntries(items.map(({ tag, post_count }) => [tag, post_count]));
}

/** Returns the tags of all pages in order. */
export const everyTag = (visitor: Visitor, q: string, limit: number) =>
  pagesOf((from) => visitor.ok('listTags', { query: { q, limit, ...from } }));
