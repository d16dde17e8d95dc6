import { escapeHtml } from '../../../platform/escape-html.ts';
import type { ExportedComment, ExportedMember, ExportedPerson } from './post-rows.ts';

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}' +
  'img{max-width:100%;height:auto}figure{margin:1rem 0}.about{color:#666}.reply{margin-left:2rem}' +
  'p,dd{white-space:pre-wrap;overflow-wrap:anywhere}';

/** Returns the address of a file relative to a page, both as paths below the export. */
export function linkTo(path: string, page: string): string {
  const up = '../'.repeat(page.split('/').length - 1);
  return up + path.split('/').map(encodeURIComponent).join('/');
}

/** Returns the first part of a page that runs no scripts and loads nothing from elsewhere. */
export function pageHead(title: string): string {
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'">`,
    `<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>`,
    `<h1 dir="auto">${escapeHtml(title)}</h1>`,
    '',
  ].join('\n');
}

export const pageEnd = '</body></html>\n';

export function nameOf(person: ExportedPerson | null): string {
  return person?.name ?? 'a former member';
}

export function paragraph(text: string): string {
  return text === '' ? '' : `<p dir="auto">${escapeHtml(text)}</p>\n`;
}

export function aboutLine(parts: readonly string[]): string {
  return `<p class="about">${parts
    .filter((part) => part !== '')
    .map((part) => `<bdi>${escapeHtml(part)}</bdi>`)
    .join(' · ')}</p>\n`;
}

/** A file as a picture or a link. */
export function memberHtml({ title, path, is_picture: isPicture }: ExportedMember, page: string): string {
  if (path === null) return '<p class="about">A file that is not part of this export.</p>\n';
  const address = escapeHtml(linkTo(path, page));
  const name = escapeHtml(title ?? '');
  const shown = isPicture ? `<img src="${address}" alt="" loading="lazy">` : '';
  return `<figure>${shown}<figcaption><a href="${address}"><bdi>${name}</bdi></a></figcaption></figure>\n`;
}

function commentHtml({
  author,
  body,
  created_at: at,
  parent_id: parent,
  annotation,
}: ExportedComment): string {
  const place = annotation === null ? '' : ' on a part of a file';
  const about = `<strong><bdi>${escapeHtml(nameOf(author))}</bdi></strong>${place}, ${escapeHtml(at)}`;
  return `<div${parent === null ? '' : ' class="reply"'}><p class="about">${about}</p>${paragraph(body)}</div>\n`;
}

/** The comments of a post, each thread together. */
export function commentsHtml(comments: readonly ExportedComment[]): string {
  if (comments.length === 0) return '';
  const replies = Map.groupBy(comments, ({ parent_id }) => parent_id);
  const ids = new Set(comments.map(({ id }) => id));
  const roots = comments.filter(({ parent_id }) => parent_id === null || !ids.has(parent_id));
  const threads = roots.flatMap((root) => [root, ...(replies.get(root.id) ?? [])]);
  return `<h2>Comments</h2>\n${threads.map(commentHtml).join('')}`;
}
