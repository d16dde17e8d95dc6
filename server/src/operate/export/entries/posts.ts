import type { Extent } from '../../../access/exports.ts';
import type { Database } from '../../../platform/database/pool.ts';
import type { Entry } from '../bag/entry.ts';
import { pagePath } from '../bag/names.ts';
import { aboutLine, commentsHtml, memberHtml, nameOf, pageEnd, pageHead, paragraph } from './html.ts';
import { type PostRow, readPosts } from './post-rows.ts';

const titleOf = ({ title }: { title: string }) => (title === '' ? 'Untitled' : title);

/** Writes an object for programs, in a stable form. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function postHtml(post: PostRow, page: string): string {
  const { author, posted_at: at, draft, tags, team, deleted_at: deletedAt, visibility } = post;
  const about = aboutLine([
    nameOf(author),
    at,
    draft ? 'draft' : visibility,
    team ?? '',
    deletedAt === null ? '' : 'in the trash',
    tags.map((tag) => `#${tag}`).join(' '),
  ]);
  const members = post.members.map((member) => memberHtml(member, page)).join('');
  return `${pageHead(titleOf(post))}${about}${paragraph(post.description)}${members}${commentsHtml(post.comments)}${pageEnd}`;
}

/** Yields each post as JSON and as a page. */
export async function* postEntries(db: Database, extent: Extent): AsyncGenerator<Entry> {
  for await (const post of readPosts(db, extent)) {
    const path = pagePath('posts', post);
    const { is_alike: _, members, ...row } = post;
    const shown = { ...row, members: members.map(({ is_picture: _, ...member }) => member) };
    yield {
      key: `5 posts/${post.id}/1`,
      path: `${path}.json`,
      content: { kind: 'text', text: jsonText(shown) },
    };
    const text = postHtml(post, `${path}.html`);
    yield { key: `5 posts/${post.id}/2`, path: `${path}.html`, content: { kind: 'text', text } };
  }
}
