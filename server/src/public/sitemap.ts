import { type RawBuilder, sql } from 'kysely';
import { mappedPosts } from '../access/visitors.ts';
import type { Database } from '../platform/database/pool.ts';
import { cursorAfter, readCursor, type TimeKey } from '../platform/http/cursor.ts';
import { writeXml, type Xml } from './xml.ts';

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** Maximum number of addresses that the protocol allows in one sitemap. */
export const ENTRIES = 50_000;

/**
 * Returns the names of the sitemaps: `first`, then cursors. The oldest posts come first, so that full sitemaps no
 * longer change.
 */
async function partsOf(db: Database, entries: number): Promise<string[]> {
  const { rows } = await sql<TimeKey>`
    select at, id from (
      select p.posted_at as at, p.id, row_number() over (order by p.posted_at, p.id) as place
      from posts p where ${mappedPosts}) placed
    where place % ${entries} = 0 and exists (
      select from posts p where ${mappedPosts} and (p.posted_at, p.id) > (placed.at, placed.id))
    order by at, id`.execute(db);
  return ['first', ...rows.map(cursorAfter)];
}

async function writePart(db: Database, base: string, after: RawBuilder<boolean>, entries: number) {
  const { rows } = await sql<{ id: string; updated_at: string }>`
    select p.id, p.updated_at from posts p where ${mappedPosts} and ${after}
    order by p.posted_at, p.id limit ${entries}`.execute(db);
  const children = rows.map(
    ({ id, updated_at }): Xml => ({
      name: 'url',
      children: [
        { name: 'loc', text: `${base}/posts/${id}` },
        { name: 'lastmod', text: updated_at },
      ],
    }),
  );
  return writeXml(NAMESPACE, { name: 'urlset', children });
}

/**
 * Returns the sitemap of the posts that visitors may see, or a sitemap index if one sitemap cannot hold them. `part`
 * is a name from the index; a malformed name is a 400.
 */
export async function writeSitemap(
  db: Database,
  base: string,
  part: string | undefined,
  entries: number,
): Promise<string> {
  if (part !== undefined) {
    const from = part === 'first' ? null : readCursor(part);
    const after =
      from === null
        ? sql<boolean>`true`
        : sql<boolean>`(p.posted_at, p.id) > (${from.at}::timestamptz, ${from.id}::uuid)`;
    return writePart(db, base, after, entries);
  }
  const parts = await partsOf(db, entries);
  if (parts.length === 1) return writePart(db, base, sql`true`, entries);
  const children = parts.map(
    (name): Xml => ({
      name: 'sitemap',
      children: [{ name: 'loc', text: `${base}/sitemap.xml?part=${encodeURIComponent(name)}` }],
    }),
  );
  return writeXml(NAMESPACE, { name: 'sitemapindex', children });
}
