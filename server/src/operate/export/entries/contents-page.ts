import { sql } from 'kysely';
import { type Extent, exportedCollections, exportedPosts } from '../../../access/exports.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { escapeHtml } from '../../../platform/escape-html.ts';
import type { Entry } from '../bag/entry.ts';
import { type Named, pagePath } from '../bag/names.ts';
import { isAlike } from './asset-rows.ts';
import { linkTo, pageEnd, pageHead } from './html.ts';

/** Lines read at a time. */
const PAGE = 500;
const PATH = 'data/index.html';

type Line = Named & { title: string };

async function* lines(
  folder: 'posts' | 'collections',
  read: (after: { at: string; id: string } | null) => Promise<Line[]>,
): AsyncGenerator<string> {
  for (let after: { at: string; id: string } | null = null; ; ) {
    const rows = await read(after);
    for (const row of rows) {
      const address = escapeHtml(linkTo(`${pagePath(folder, row)}.html`, PATH));
      const title = escapeHtml(row.title === '' ? 'Untitled' : row.title);
      yield `<li><a href="${address}">${title}</a> <span class="about">${row.created_at.slice(0, 10)}</span></li>\n`;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = { at: last.created_at, id: last.id };
  }
}

async function* contents(db: Database, extent: Extent, title: string): AsyncGenerator<string> {
  yield pageHead(title);
  yield '<p>The folder <a href="originals/">originals</a> has the files, each with its XMP sidecar.</p>\n<h2>Posts</h2>\n<ul>\n';
  yield* lines('posts', async (after) => {
    const { rows } = await sql<Line>`
      select p.id, ${isAlike('posts', 'p')} as is_alike, p.created_at, p.title from posts p
      where ${exportedPosts(extent)} and p.deleted_at is null
        and ${after === null ? sql`true` : sql`(p.created_at, p.id) > (${after.at}::timestamptz, ${after.id}::uuid)`}
      order by p.created_at, p.id limit ${PAGE}`.execute(db);
    return rows;
  });
  yield '</ul>\n<h2>Collections</h2>\n<ul>\n';
  yield* lines('collections', async (after) => {
    const { rows } = await sql<Line>`
      select c.id, ${isAlike('collections', 'c')} as is_alike, c.created_at, c.name as title from collections c
      where ${exportedCollections(extent)} and c.deleted_at is null
        and ${after === null ? sql`true` : sql`(c.created_at, c.id) > (${after.at}::timestamptz, ${after.id}::uuid)`}
      order by c.created_at, c.id limit ${PAGE}`.execute(db);
    return rows;
  });
  yield `</ul>\n${pageEnd}`;
}

/** The page that lists posts and collections. */
export function contentsEntry(db: Database, extent: Extent, title: string): Entry {
  return {
    key: '9 contents',
    path: PATH,
    content: { kind: 'stream', open: () => contents(db, extent, title) },
  };
}
