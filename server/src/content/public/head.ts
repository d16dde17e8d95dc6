import type { Language } from '@vitrine/contract/languages';
import { escapeHtml } from '../../platform/escape-html.ts';
import { say } from '../../platform/language/say.ts';
import type { PublicPage } from './page.ts';
import type { PublicSite } from './site.ts';

/** Maximum length of a description in a preview, in characters. */
const DESCRIPTION_LENGTH = 300;

/** Returns a description as one line, cut at a code point boundary. */
function onOneLine(text: string): string {
  const characters = [...text.replaceAll(/\s+/gu, ' ').trim()];
  if (characters.length <= DESCRIPTION_LENGTH) return characters.join('');
  return `${characters
    .slice(0, DESCRIPTION_LENGTH - 1)
    .join('')
    .trimEnd()}…`;
}

/** Returns the description of a page that has none of its own (PUBLIC-10). */
function usualDescription(
  { name: site }: PublicSite,
  { path, title, author }: PublicPage,
  language: Language,
): string {
  if (path === '/') return say(language, 'Pictures and other files that {site} shows to everyone.', { site });
  if (path.startsWith('/tags/'))
    return say(language, 'Posts with the tag {tag} on {site}.', { tag: title, site });
  if (path.startsWith('/users/'))
    return say(language, 'Posts by {author} on {site}.', { author: title, site });
  if (path.startsWith('/collections/'))
    return author === null
      ? say(language, 'A collection on {site}.', { site })
      : say(language, 'A collection by {author} on {site}.', { author: author.name, site });
  return author === null
    ? say(language, 'A post on {site}.', { site })
    : say(language, 'A post by {author} on {site}.', { author: author.name, site });
}

/** Renders the elements of the head of every link's page, which is the same whatever the link leads to. */
export function renderLinkHead({ name: site }: Pick<PublicSite, 'name'>, language: Language): string {
  const description = say(language, 'Files that were shared on {site}.', { site });
  return [
    `<title>${escapeHtml(site)}</title>`,
    `<meta name="description" content="${escapeHtml(description)}" />`,
  ].join('\n    ');
}

/**
 * Renders the elements of a public page's head: title, description, Open Graph, and links to its feed and its embed.
 */
export function renderHead(site: PublicSite, base: string, page: PublicPage, language: Language): string {
  const url = base + page.path;
  const title = page.path === '/' ? site.name : `${page.title} · ${site.name}`;
  const description = onOneLine(page.description) || usualDescription(site, page, language);
  const picture = page.picture;
  const facts: [string, string | number | undefined][] = [
    ['og:site_name', site.name],
    ['og:type', page.kind],
    ['og:title', page.title],
    ['og:description', description === '' ? undefined : description],
    ['og:url', url],
    ['og:image', picture === null ? undefined : base + picture.path],
    ['og:image:type', picture?.type],
    ['og:image:width', picture?.width],
    ['og:image:height', picture?.height],
  ];
  const meta = facts.flatMap(([name, content]) =>
    content === undefined ? [] : [`<meta property="${name}" content="${escapeHtml(String(content))}" />`],
  );
  const embed = `${base}/oembed?url=${encodeURIComponent(url)}`;
  return [
    `<title>${escapeHtml(title)}</title>`,
    ...(description === '' ? [] : [`<meta name="description" content="${escapeHtml(description)}" />`]),
    `<link rel="canonical" href="${escapeHtml(url)}" />`,
    ...meta,
    `<meta name="twitter:card" content="${picture === null ? 'summary' : 'summary_large_image'}" />`,
    `<link rel="alternate" type="application/json+oembed" href="${escapeHtml(embed)}" />`,
    `<link rel="alternate" type="application/atom+xml" href="${escapeHtml(base + page.feed)}" />`,
  ].join('\n    ');
}
